"""Measures of a map: neighborhoods it keeps, classes it separates, and a report of all.

Neighborhoods are compared by ranks: a point is not its own neighbor, and equal distances go to
the lower index.
"""

from isosne.quality.clusters import calinski_harabasz, davies_bouldin, knn_accuracy
from isosne.quality.inputs import draw_rows
from isosne.quality.neighborhoods import (
    Curve,
    Trust,
    auc_rnx,
    continuity,
    rnx_curve,
    trust,
    trustworthiness,
)
from isosne.quality.reports import ClassReport, Report, report
from isosne.quality.sampling import Estimate

__all__ = [
    "ClassReport",
    "Curve",
    "Estimate",
    "Report",
    "Trust",
    "auc_rnx",
    "calinski_harabasz",
    "continuity",
    "davies_bouldin",
    "draw_rows",
    "knn_accuracy",
    "report",
    "rnx_curve",
    "trust",
    "trustworthiness",
]
