"""Nearest-neighbor search, exact or approximate, for steps 1 and 2 of the paper.

* ``metric``: the metrics, what they learn from points, and the type of coordinates
* ``distances``: sets of points, with keys that order points by distance
* ``pairs``: compiled loops over pairs of points
* ``exact``: exact search in blocks
* ``approximate``: search in clusters of points
* ``search``: the public function, and the choice of a search
"""

from isosne.neighbors.search import nearest_neighbors

__all__ = ["nearest_neighbors"]
