"""Nearest-neighbor search, exact or approximate, for steps 1 and 2 of the paper.

* ``coordinates``: type and scale of the coordinates
* ``distances``: metrics, and keys that order points by distance
* ``exact``: exact search in blocks
* ``clustered``: approximate search in clusters of points
* ``search``: the public function, and the choice of a search
"""

from isosne.neighbors.search import nearest_neighbors

__all__ = ["nearest_neighbors"]
