"""Data sets of the paper: simulated clusters, 21 real data sets, and deformed digits; examples."""

from isosne.datasets.catalog import describe, load, names, record
from isosne.datasets.digits import deformed_digits, write_deformed_digits
from isosne.datasets.export import export
from isosne.datasets.folder import DataSet
from isosne.datasets.records import Record, Scores
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
    "export",
    "load",
    "make_five_clusters",
    "make_growing_clusters",
    "make_shared_clusters",
    "make_two_clusters",
    "names",
    "record",
    "write_deformed_digits",
]
