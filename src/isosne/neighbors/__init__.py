"""Nearest neighbors, exact or approximate: the search that steps 1 and 2 share."""

from isosne.neighbors.search import nearest_neighbors

__all__ = ["nearest_neighbors"]
