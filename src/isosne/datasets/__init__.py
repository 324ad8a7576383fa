"""Data sets by name (the paper's 21, and examples of scikit-learn), and the paper's simulations."""

from isosne.datasets.catalog import DataSet, describe, export, load, names
from isosne.datasets.synthetic import (
    make_five_clusters,
    make_shared_clusters,
    make_two_clusters,
)

__all__ = [
    "DataSet",
    "describe",
    "export",
    "load",
    "make_five_clusters",
    "make_shared_clusters",
    "make_two_clusters",
    "names",
]
