"""isosne: t-SNE with isolation kernels (Zhu and Ting, JAIR 2021).

Makes low-dimensional maps of high-dimensional data and measures their quality. Names are imported
at first use, so ``import isosne`` is fast and compiles nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from isosne import _moved
from isosne._version import __version__ as __version__

if TYPE_CHECKING:
    from isosne.affinities.sparse import Sparse
    from isosne.clusters.estimator import LeidenClustering
    from isosne.explorer.explorer import explore
    from isosne.jobs.job import PlacedFiles
    from isosne.jobs.place_files import place_files
    from isosne.jobs.placer import Placer
    from isosne.jobs.tile_job import Tiles
    from isosne.kernels.adaptive import AdaptiveGaussianKernel
    from isosne.kernels.gaussian import GaussianKernel
    from isosne.kernels.isolation import IsolationKernel
    from isosne.kernels.knn import KNNKernel
    from isosne.kernels.owner import OwnerKernel
    from isosne.kernels.precomputed import PrecomputedKernel
    from isosne.layout.descent import State
    from isosne.layout.force_methods import Mesh, Tree
    from isosne.layout.objectives import JSE, KL, NeRV
    from isosne.layout.procrustes import align_map
    from isosne.layout.schedules import Phase, Schedule
    from isosne.neighbors.search import nearest_neighbors
    from isosne.outliers.estimator import IsolationOutliers
    from isosne.tables.forest import TableForest
    from isosne.tsne.alignment import Alignment
    from isosne.tsne.estimator import TSNE
    from isosne.tsne.landmarks import Landmarks
    from isosne.tsne.plan import Plan

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
    "Tiles",
    "Tree",
    "align_map",
    "explore",
    "nearest_neighbors",
    "place_files",
]

_HOME = {
    "AdaptiveGaussianKernel": "isosne.kernels.adaptive",
    "Alignment": "isosne.tsne.alignment",
    "GaussianKernel": "isosne.kernels.gaussian",
    "IsolationKernel": "isosne.kernels.isolation",
    "IsolationOutliers": "isosne.outliers.estimator",
    "JSE": "isosne.layout.objectives",
    "KL": "isosne.layout.objectives",
    "KNNKernel": "isosne.kernels.knn",
    "Landmarks": "isosne.tsne.landmarks",
    "LeidenClustering": "isosne.clusters.estimator",
    "Mesh": "isosne.layout.force_methods",
    "NeRV": "isosne.layout.objectives",
    "OwnerKernel": "isosne.kernels.owner",
    "Phase": "isosne.layout.schedules",
    "PlacedFiles": "isosne.jobs.job",
    "Placer": "isosne.jobs.placer",
    "Plan": "isosne.tsne.plan",
    "PrecomputedKernel": "isosne.kernels.precomputed",
    "Schedule": "isosne.layout.schedules",
    "Sparse": "isosne.affinities.sparse",
    "State": "isosne.layout.descent",
    "TSNE": "isosne.tsne.estimator",
    "TableForest": "isosne.tables.forest",
    "Tiles": "isosne.jobs.tile_job",
    "Tree": "isosne.layout.force_methods",
    "align_map": "isosne.layout.procrustes",
    "explore": "isosne.explorer",
    "nearest_neighbors": "isosne.neighbors.search",
    "place_files": "isosne.jobs.place_files",
}
_moved.announce()


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'isosne' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
