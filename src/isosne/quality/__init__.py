"""Quality measures of an embedding: neighborhood preservation and class separation.

Neighborhoods are compared by rank. A point is not its own neighbor; ties in distance go to the
lower index. `compare` ranks the neighbors once and gives every neighborhood measure; `report`
computes all measures at once.
"""

from isosne.quality.clusters import calinski_harabasz, davies_bouldin, knn_accuracy
from isosne.quality.comparison import Comparison, Curve, Trust, compare
from isosne.quality.inputs import draw_rows
from isosne.quality.measures import ClassReport, Report, report
from isosne.quality.neighborhoods import (
    auc_rnx,
    continuity,
    rnx_curve,
    trust,
    trustworthiness,
)
from isosne.quality.sampling import Estimate

__all__ = [
    "ClassReport",
    "Comparison",
    "Curve",
    "Estimate",
    "Report",
    "Trust",
    "auc_rnx",
    "calinski_harabasz",
    "compare",
    "continuity",
    "davies_bouldin",
    "draw_rows",
    "knn_accuracy",
    "report",
    "rnx_curve",
    "trust",
    "trustworthiness",
]
