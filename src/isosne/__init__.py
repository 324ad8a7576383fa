"""isosne: t-SNE with isolation kernels (Zhu and Ting, JAIR 2021).

Makes low-dimensional maps of high-dimensional data and measures their quality. Names are imported
at first use, so ``import isosne`` is fast and compiles nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from isosne._version import __version__ as __version__

if TYPE_CHECKING:
    from isosne.affinities.sparse import Sparse
    from isosne.explorer.explorer import explore
    from isosne.kernels.gaussian import GaussianKernel
    from isosne.kernels.given import PrecomputedKernel
    from isosne.kernels.isolation import IsolationKernel
    from isosne.kernels.knn import AdaptiveGaussianKernel, KNNKernel
    from isosne.kernels.owner import OwnerKernel
    from isosne.layout.descent import State
    from isosne.layout.forces import Mesh, Tree
    from isosne.layout.objectives import JSE, KL, NeRV
    from isosne.layout.schedules import Phase, Schedule
    from isosne.neighbors.search import nearest_neighbors
    from isosne.place.job import PlacedFiles, place_files
    from isosne.place.placer import Placer
    from isosne.quality.procrustes import align_map
    from isosne.structure.clusters import LeidenClustering
    from isosne.structure.outliers import IsolationOutliers
    from isosne.tables.trees import TableForest
    from isosne.tsne.estimator import TSNE
    from isosne.tsne.fit import descend, joint_probabilities
    from isosne.tsne.input import Landmarks
    from isosne.tsne.plan import Plan
    from isosne.tsne.series import Alignment

__all__ = [
    "JSE",
    "KL",
    "TSNE",
    "AdaptiveGaussianKernel",
    "Alignment",
    "GaussianKernel",
    "IsolationKernel",
    "IsolationOutliers",
    "KNNKernel",
    "Landmarks",
    "LeidenClustering",
    "Mesh",
    "NeRV",
    "OwnerKernel",
    "Phase",
    "PlacedFiles",
    "Placer",
    "Plan",
    "PrecomputedKernel",
    "Schedule",
    "Sparse",
    "State",
    "TableForest",
    "Tree",
    "align_map",
    "descend",
    "explore",
    "joint_probabilities",
    "nearest_neighbors",
    "place_files",
]

_HOME = {
    "AdaptiveGaussianKernel": "isosne.kernels.knn",
    "Alignment": "isosne.tsne.series",
    "GaussianKernel": "isosne.kernels.gaussian",
    "IsolationKernel": "isosne.kernels.isolation",
    "IsolationOutliers": "isosne.structure.outliers",
    "JSE": "isosne.layout.objectives",
    "KL": "isosne.layout.objectives",
    "KNNKernel": "isosne.kernels.knn",
    "Landmarks": "isosne.tsne.input",
    "LeidenClustering": "isosne.structure.clusters",
    "Mesh": "isosne.layout.forces",
    "NeRV": "isosne.layout.objectives",
    "OwnerKernel": "isosne.kernels.owner",
    "Phase": "isosne.layout.schedules",
    "PlacedFiles": "isosne.place.job",
    "Placer": "isosne.place.placer",
    "Plan": "isosne.tsne.plan",
    "PrecomputedKernel": "isosne.kernels.given",
    "Schedule": "isosne.layout.schedules",
    "Sparse": "isosne.affinities.sparse",
    "State": "isosne.layout.descent",
    "TSNE": "isosne.tsne.estimator",
    "TableForest": "isosne.tables.trees",
    "Tree": "isosne.layout.forces",
    "align_map": "isosne.quality.procrustes",
    "descend": "isosne.tsne.fit",
    "explore": "isosne.explorer",
    "joint_probabilities": "isosne.tsne.fit",
    "nearest_neighbors": "isosne.neighbors.search",
    "place_files": "isosne.place.job",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'isosne' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
