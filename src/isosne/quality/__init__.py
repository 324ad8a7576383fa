"""Quality measures of an embedding: neighborhood preservation and class separation.

Neighborhoods are compared by rank. A point is not its own neighbor; ties in distance go to the
lower index. `compare` ranks the neighbors once and gives every neighborhood measure; `report`
computes all measures at once.
"""

from isosne.quality.classes import calinski_harabasz, davies_bouldin, knn_accuracy
from isosne.quality.comparison import Comparison, Curve, Trust, compare
from isosne.quality.inputs import Estimate
from isosne.quality.measures import Report, report

__all__ = ["Comparison", "Curve", "Estimate", "Report", "Trust"]
__all__ += ["calinski_harabasz", "compare", "davies_bouldin", "knn_accuracy", "report"]
