"""Data sets of the paper: its simulations."""

from isosne.datasets.synthetic import (
    make_five_clusters,
    make_growing_clusters,
    make_shared_clusters,
    make_two_clusters,
)

__all__ = [
    "make_five_clusters",
    "make_growing_clusters",
    "make_shared_clusters",
    "make_two_clusters",
]
