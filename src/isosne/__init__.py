"""isosne: maps of high-dimensional data that can be trusted.

t-SNE with the isolation kernel (Zhu and Ting, JAIR 2021). Names are imported when first used, so
``import isosne`` costs nothing and compiles nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from isosne import _moved
from isosne._version import __version__ as __version__

if TYPE_CHECKING:
    from isosne.kernels.gaussian import GaussianKernel
    from isosne.kernels.isolation import IsolationKernel
    from isosne.kernels.knn import AdaptiveGaussianKernel, KNNKernel
    from isosne.neighbors import nearest_neighbors
    from isosne.tsne.estimator import TSNE

__all__ = [
    "TSNE",
    "AdaptiveGaussianKernel",
    "GaussianKernel",
    "IsolationKernel",
    "KNNKernel",
    "nearest_neighbors",
]

_HOME = {
    "AdaptiveGaussianKernel": "isosne.kernels.knn",
    "GaussianKernel": "isosne.kernels.gaussian",
    "IsolationKernel": "isosne.kernels.isolation",
    "KNNKernel": "isosne.kernels.knn",
    "TSNE": "isosne.tsne.estimator",
    "nearest_neighbors": "isosne.neighbors.search",
}

_moved.announce()


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'isosne' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
