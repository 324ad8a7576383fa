"""Examples of scikit-learn by name, and the paper's simulations."""

from isosne.datasets.examples import DataSet, export, load, names
from isosne.datasets.synthetic import (
    make_five_clusters,
    make_shared_clusters,
    make_two_clusters,
)

__all__ = [
    "DataSet",
    "export",
    "load",
    "make_five_clusters",
    "make_shared_clusters",
    "make_two_clusters",
    "names",
]
