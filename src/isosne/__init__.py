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
    from isosne.kernels.groups import GroupFeatures
    from isosne.kernels.isolation import IsolationKernel
    from isosne.kernels.knn import AdaptiveGaussianKernel, KNNKernel
    from isosne.kernels.owner import OwnerKernel
    from isosne.kernels.views import ViewsKernel
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
    from isosne.tsne.alignment import Alignment
    from isosne.tsne.estimator import TSNE
    from isosne.tsne.fit import descend, joint_probabilities
    from isosne.tsne.input import Landmarks
    from isosne.tsne.plan import Plan

__all__ = ["TSNE", "Alignment", "Landmarks", "Plan", "align_map", "explore", "nearest_neighbors"]
__all__ += ["AdaptiveGaussianKernel", "GaussianKernel", "IsolationKernel", "KNNKernel"]
__all__ += ["GroupFeatures", "OwnerKernel", "PrecomputedKernel", "TableForest", "ViewsKernel"]
__all__ += ["JSE", "KL", "Mesh", "NeRV", "Phase", "Schedule", "Sparse", "State", "Tree"]
__all__ += ["descend", "joint_probabilities"]
__all__ += ["IsolationOutliers", "LeidenClustering", "PlacedFiles", "Placer", "place_files"]

_NAMES = {
    "isosne.affinities.sparse": "Sparse",
    "isosne.explorer": "explore",
    "isosne.kernels.gaussian": "GaussianKernel",
    "isosne.kernels.given": "PrecomputedKernel",
    "isosne.kernels.groups": "GroupFeatures",
    "isosne.kernels.isolation": "IsolationKernel",
    "isosne.kernels.knn": "AdaptiveGaussianKernel KNNKernel",
    "isosne.kernels.owner": "OwnerKernel",
    "isosne.kernels.views": "ViewsKernel",
    "isosne.layout.descent": "State",
    "isosne.layout.forces": "Mesh Tree",
    "isosne.layout.objectives": "JSE KL NeRV",
    "isosne.layout.schedules": "Phase Schedule",
    "isosne.neighbors.search": "nearest_neighbors",
    "isosne.place.job": "PlacedFiles place_files",
    "isosne.place.placer": "Placer",
    "isosne.quality.procrustes": "align_map",
    "isosne.structure.clusters": "LeidenClustering",
    "isosne.structure.outliers": "IsolationOutliers",
    "isosne.tables.trees": "TableForest",
    "isosne.tsne.estimator": "TSNE",
    "isosne.tsne.fit": "descend joint_probabilities",
    "isosne.tsne.input": "Landmarks",
    "isosne.tsne.plan": "Plan",
    "isosne.tsne.alignment": "Alignment",
}
"""Public names by the module that has them."""
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'isosne' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
