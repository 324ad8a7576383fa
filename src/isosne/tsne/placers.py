"""Further points on a finished map: who is compared with whom, for each form of the affinities."""

from abc import ABC, abstractmethod
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_for_metric, check_points
from isosne._numba import threads
from isosne._types import Points
from isosne.affinities.conditional import conditional_rows
from isosne.affinities.sampled import PLACE_DRAWS, SampledAffinities
from isosne.errors import ParameterError
from isosne.layout.placement import ListedPlacement, Placement
from isosne.neighbors.distances import Metric
from isosne.neighbors.search import make_search
from isosne.tsne.plan import LONGEST_LIST, Plan

BLOCK_BYTES = 2**27
"""What is held of new points, and of their similarity, at a time."""
MapSettings = tuple[NDArray[np.float32], Any, float]
"""The map (n, d), degrees of freedom, and exaggeration of the last phase."""
_one_at_a_time = Lock()  # each uses all threads; not every pool of threads can be shared


def make_placer(
    kernel: Any, plan: Plan, source: SampledAffinities | None, map_settings: MapSettings
) -> "Placer":
    """Return what gives further points their place on a map.

    kernel: the fitted one; plan: how the map was made; source: what its partners were drawn from,
    if they were. A map of landmarks is for many points to come: these are compared with the
    landmarks near to them; where too many are near, with some that are drawn, or with all if the
    kernel has no cells to draw from.
    """
    if plan.affinities == "dense":
        listed = kernel.in_closed_form() if plan.n_rows is not None else None
        if listed is not None and listed.n_relevant(plan.n_points) <= LONGEST_LIST:
            return ListPlacer(listed, plan.neighbors, map_settings)
        if plan.n_rows is None or not kernel.cell_bytes(plan.n_points):
            return AllPairsPlacer(kernel, map_settings)
        source = SampledAffinities(kernel)
    if source is not None:
        return DrawPlacer(kernel, source, map_settings)
    return ListPlacer(kernel, plan.neighbors, map_settings)


class Placer(ABC):
    """Gives further points their place on a map, each independently of the others.

    Parameters
    ----------
    metric : Metric
        The distance that the kernel was fitted with.
    map_settings : tuple
        The map (n, d), degrees of freedom, and exaggeration of the last phase.
    """

    width: int
    """Fitted points that a new one is compared with."""

    def __init__(self, metric: Metric, map_settings: MapSettings) -> None:
        self.metric = metric
        self.embedding = map_settings[0]

    def place(self, points: Points) -> NDArray[np.float32]:
        """Return a place for each point, in blocks; a copy of a fitted point gets its place."""
        check_for_metric(points, self.metric.name)
        places = np.empty((points.shape[0], self.embedding.shape[1]), np.float32)
        step = max(1, BLOCK_BYTES // (16 * self.width + 16 * min(points.shape[1], 10_000)))
        with _one_at_a_time:
            for s in range(0, len(places), step):
                block = slice(s, min(s + step, len(places)))
                places[block] = self.place_block(points[block])
        return places

    @abstractmethod
    def place_block(self, points: Points) -> NDArray[np.float32]:
        """Return a place for each of a few points."""


class AllPairsPlacer(Placer):
    """Compares further points with all fitted ones."""

    def __init__(self, kernel: Any, map_settings: MapSettings) -> None:
        super().__init__(kernel.metric_, map_settings)
        self.width = len(self.embedding)
        self._kernel = kernel
        self._placement = Placement(*map_settings)
        self._similarity = kernel.toward_fitted()

    def place_block(self, points: Points) -> NDArray[np.float32]:
        """Return a place for each of a few points."""
        originals = self._kernel.find_copies(points)
        new = np.flatnonzero(originals < 0)
        places: NDArray[np.float32] = self.embedding[originals]
        if len(new):
            places[new] = self._placement.place(self._similarity(points[new]))
        return places


class ListPlacer(Placer):
    """Compares further points with the fitted ones nearest to them."""

    def __init__(self, kernel: Any, method: str | None, map_settings: MapSettings) -> None:
        super().__init__(kernel.metric_, map_settings)
        n = len(self.embedding)
        self.width = min(kernel.n_partners(n), n - 1)
        self._placement = ListedPlacement(*map_settings)
        self._search = _search(kernel, method)
        self._similarity = kernel.toward_neighbors(self._search.neighbors(self.width))

    def place_block(self, points: Points) -> NDArray[np.float32]:
        """Return a place for each of a few points."""
        ids, distances = self._search.nearest(points, self.width)
        rows = conditional_rows(self._similarity(points, ids, distances))
        rows[~rows.any(axis=1), 0] = 1
        places = self._placement.place(ids, rows)
        is_copy = distances[:, 0] == 0
        places[is_copy] = self.embedding[ids[is_copy, 0]]
        return places


class DrawPlacer(Placer):
    """Compares further points with fitted ones drawn from the cells that they share."""

    width = PLACE_DRAWS

    def __init__(self, kernel: Any, source: SampledAffinities, map_settings: MapSettings) -> None:
        super().__init__(kernel.metric_, map_settings)
        self._kernel, self._source = kernel, source
        self._placement = ListedPlacement(*map_settings)
        self._search = _search(kernel, None)

    def place_block(self, points: Points) -> NDArray[np.float32]:
        """Return a place for each of a few points."""
        nearest, distances = self._search.nearest(points, 1)
        partners = self._source.draw_toward(self._kernel.cells_at_scales(points))
        partners[:, 0] = nearest[:, 0]  # where a point starts from; the others are drawn
        places = self._placement.place(partners, np.ones(partners.shape, np.float32))
        is_copy = distances[:, 0] == 0
        places[is_copy] = self.embedding[nearest[is_copy, 0]]
        return places


def place_checked(placer: Placer, n_jobs: int | None, points: Any) -> NDArray[np.float32]:
    """Check a block of rows and place it with a number of threads, here or on a worker."""
    with threads(n_jobs):
        return placer.place(check_points(points))


def check_out(out: Any, shape: tuple[int, int]) -> None:
    """Refuse what cannot take places of float32."""
    kind = getattr(out, "dtype", type(out).__name__)
    can_write = getattr(getattr(out, "flags", None), "writeable", True)
    if kind != np.float32 or out.shape != shape or not can_write:
        access = "" if can_write else ", which cannot be written to"
        raise ParameterError(
            f"out must be an array of float32 of shape {shape}; "
            f"got {kind} of shape {getattr(out, 'shape', None)}{access}. "
            "Leave it out for a new array."
        )


def _search(kernel: Any, method: str | None) -> Any:
    can = kernel.has_approximate_neighbors()
    return make_search(kernel.X_fit_, kernel.metric_, method or ("approximate" if can else "exact"))
