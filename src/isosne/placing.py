"""Further points on a finished map: who is compared with whom, for each form of the affinities."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._types import Points
from isosne.affinities.conditional import conditional_rows
from isosne.affinities.sampled import PLACE_DRAWS, SampledAffinities
from isosne.layout.placement import ListedPlacement, Placement
from isosne.neighbors import make_search
from isosne.plan import Plan

BLOCK_BYTES = 2**28
"""What is held of the similarity of new points at a time."""


class Placer:
    """Gives further points their place on a map.

    Parameters
    ----------
    kernel : kernel
        The fitted kernel.
    plan : Plan
        How the map was made.
    source : SampledAffinities or None
        What partners are drawn from, if they are.
    map_settings : tuple
        The map (n, d), degrees of freedom, and exaggeration of the last phase.
    """

    def __init__(
        self,
        kernel: Any,
        plan: Plan,
        source: SampledAffinities | None,
        map_settings: tuple[NDArray[np.float32], Any, float],
    ) -> None:
        self._kernel, self._plan, self._source = kernel, plan, source
        self._embedding = map_settings[0]
        if plan.affinities == "dense":
            self._placement: Any = Placement(*map_settings)
            self._similarity = kernel.toward_fitted()
            return
        self._placement = ListedPlacement(*map_settings)
        method = plan.neighbors or (
            "approximate" if kernel.has_approximate_neighbors() else "exact"
        )
        self._search = make_search(kernel.X_fit_, kernel.metric_, method)
        self._n_partners = min(kernel.n_partners(len(self._embedding)), len(self._embedding) - 1)
        if source is None:
            neighbors = self._search.neighbors(self._n_partners)
            self._similarity = kernel.toward_neighbors(neighbors)

    def place(self, points: Points) -> NDArray[np.float32]:
        """Return a place for each point, in blocks; a copy of a fitted point gets its place."""
        places = np.empty((points.shape[0], self._embedding.shape[1]), np.float32)
        width = self._plan.n_neighbors or (PLACE_DRAWS if self._source else len(self._embedding))
        step = max(1, BLOCK_BYTES // (16 * width))
        for s in range(0, len(places), step):
            block = slice(s, min(s + step, len(places)))
            places[block] = self._place_block(points[block])
        return places

    def _place_block(self, points: Points) -> NDArray[np.float32]:
        if self._plan.affinities == "dense":
            originals = self._kernel.find_copies(points)
            new = np.flatnonzero(originals < 0)
            places: NDArray[np.float32] = self._embedding[originals]
            if len(new):
                places[new] = self._placement.place(self._similarity(points[new]))
            return places
        if self._source is not None:
            nearest, distances = self._search.nearest(points, 1)
            partners = self._source.draw_toward(self._kernel.cells_at_scales(points))
            partners[:, 0] = nearest[:, 0]  # where a point starts from; the others are drawn
            rows = np.ones(partners.shape, np.float32)
        else:
            partners, distances = self._search.nearest(points, self._n_partners)
            rows = conditional_rows(self._similarity(points, partners, distances))
            rows[~rows.any(axis=1), 0] = 1
        places = self._placement.place(partners, rows)
        is_copy = distances[:, 0] == 0
        places[is_copy] = self._embedding[partners[is_copy, 0]]
        return places
