"""Data sets of the paper: its simulations, its 21 real sets, and digits in any number."""

from isosne.datasets.digits import deformed_digits, write_deformed_digits
from isosne.datasets.folder import DataSet
from isosne.datasets.records import Record, Scores
from isosne.datasets.registry import describe, load, names, record
from isosne.datasets.synthetic import (
    make_five_clusters,
    make_growing_clusters,
    make_shared_clusters,
    make_two_clusters,
)

__all__ = [
    "DataSet",
    "Record",
    "Scores",
    "deformed_digits",
    "describe",
    "load",
    "make_five_clusters",
    "make_growing_clusters",
    "make_shared_clusters",
    "make_two_clusters",
    "names",
    "record",
    "write_deformed_digits",
]
