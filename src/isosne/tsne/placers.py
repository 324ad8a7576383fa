"""Coordinates for new points on a finished map: which fitted points they are compared with."""

from abc import ABC, abstractmethod
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._checks import check_for_metric, check_points
from isosne._numba import threads
from isosne._types import Points
from isosne.affinities.conditional import conditional_rows
from isosne.affinities.sampled import PLACE_DRAWS, SampledAffinities
from isosne.errors import ParameterError
from isosne.kernels.base import MetricKernel
from isosne.kernels.costs import KernelCosts
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.precomputed import PrecomputedKernel
from isosne.layout.placement import ListedPlacement, Placement
from isosne.neighbors.distances import Metric
from isosne.neighbors.search import Search, has_approximate_search, make_search
from isosne.tsne.plan import LONGEST_LIST, Plan

BLOCK_BYTES = 2**27
"""Bytes of new points, and of their similarity, that are held at a time (chosen)."""
_one_at_a_time = Lock()  # each uses all threads; not every pool of threads can be shared


class MapSettings(NamedTuple):
    """A map, and what the positions on it depend on."""

    embedding: NDArray[np.float32]
    dof: float
    exaggeration: float
    """Of the last phase."""


def make_placer(
    kernel: MetricKernel, plan: Plan, source: SampledAffinities | None, settings: MapSettings
) -> "Placer":
    """Return what gives new points their coordinates on a map.

    source: what the partners of the map were drawn from, if they were. A map of landmarks is for
    many points to come: they are compared with the landmarks nearest to them; where too many are
    near, with some that are drawn, or with all if the kernel has no cells to draw from.
    """
    if isinstance(kernel, PrecomputedKernel):
        return AllPairsPlacer(kernel, settings)
    if plan.affinities == "dense":
        listed = kernel._in_closed_form() if plan.n_rows is not None else None
        if listed is not None and 0 < _costs(listed).n_relevant <= LONGEST_LIST:
            return ListPlacer(listed, plan.neighbors, settings)
        if plan.n_rows is None or not _costs(kernel).cell_bytes:
            return AllPairsPlacer(kernel, settings)
        assert isinstance(kernel, IsolationKernel)  # no other kernel has cells
        source = SampledAffinities(kernel)
    if source is not None:
        assert isinstance(kernel, IsolationKernel)
        return DrawPlacer(kernel, source, settings)
    return ListPlacer(kernel, plan.neighbors, settings)


def _costs(kernel: MetricKernel) -> KernelCosts:
    return kernel.costs(*kernel.X_fit_.shape)


class Placer(ABC):
    """Gives new points their coordinates on a map, each independently of the others.

    Parameters
    ----------
    metric : Metric
        The distance that the kernel was fitted with.
    settings : MapSettings
        The map.
    """

    width: int
    """Fitted points that a new one is compared with."""

    def __init__(self, metric: Metric, settings: MapSettings) -> None:
        self.metric = metric
        self.embedding = settings.embedding

    def place(self, points: Points) -> NDArray[np.float32]:
        """Return coordinates in blocks; a copy of a fitted point gets that point's."""
        check_for_metric(points, self.metric.name)
        coordinates = np.empty((points.shape[0], self.embedding.shape[1]), np.float32)
        step = max(1, BLOCK_BYTES // (16 * self.width + 16 * min(points.shape[1], 10_000)))
        with _one_at_a_time:
            for s in range(0, len(coordinates), step):
                block = slice(s, min(s + step, len(coordinates)))
                coordinates[block] = self.place_block(points[block])
        return coordinates

    @abstractmethod
    def place_block(self, points: Points) -> NDArray[np.float32]:
        """Return the coordinates of a few points."""


class AllPairsPlacer(Placer):
    """Compares new points with all fitted ones."""

    def __init__(self, kernel: MetricKernel, settings: MapSettings) -> None:
        super().__init__(kernel.metric_, settings)
        self.width = len(self.embedding)
        self._kernel = kernel
        self._placement = Placement(*settings)
        self._similarity = kernel._toward_fitted()

    def place_block(self, points: Points) -> NDArray[np.float32]:
        """Return the coordinates of a few points."""
        originals = self._kernel._find_copies(points)
        new = np.flatnonzero(originals < 0)
        coordinates: NDArray[np.float32] = self.embedding[originals]
        if len(new):
            coordinates[new] = self._placement.place(self._probabilities(points[new]))
        return coordinates

    def _probabilities(self, points: Points) -> NDArray[np.float32]:
        """Return p_{j|i} (m, n) of new points; the nearest point gets it all where K vanishes."""
        rows = conditional_rows(self._similarity(points))
        empty = np.flatnonzero(~rows.any(axis=1))
        if len(empty):
            search = _search(self._kernel, "exact")
            nearest, _ = search.nearest(points[empty], 1)
            rows[empty, nearest[:, 0]] = 1
        return rows


class ListPlacer(Placer):
    """Compares new points with the fitted ones nearest to them."""

    def __init__(self, kernel: MetricKernel, method: str | None, settings: MapSettings) -> None:
        super().__init__(kernel.metric_, settings)
        self.width = min(_costs(kernel).n_partners, len(self.embedding) - 1)
        self._placement = ListedPlacement(*settings)
        self._search = _search(kernel, method)
        self._similarity = kernel.toward_neighbors(self._search.neighbors(self.width))

    def place_block(self, points: Points) -> NDArray[np.float32]:
        """Return the coordinates of a few points."""
        ids, distances = self._search.nearest(points, self.width)
        rows = conditional_rows(self._similarity(points, ids, distances))
        rows[~rows.any(axis=1), 0] = 1
        coordinates = self._placement.place(ids, rows)
        is_copy = distances[:, 0] == 0
        coordinates[is_copy] = self.embedding[ids[is_copy, 0]]
        return coordinates


class DrawPlacer(Placer):
    """Compares new points with fitted ones drawn from the cells that they share."""

    width = PLACE_DRAWS

    def __init__(
        self, kernel: IsolationKernel, source: SampledAffinities, settings: MapSettings
    ) -> None:
        super().__init__(kernel.metric_, settings)
        self._kernel, self._source = kernel, source
        self._placement = ListedPlacement(*settings)
        self._search = _search(kernel, None)

    def place_block(self, points: Points) -> NDArray[np.float32]:
        """Return the coordinates of a few points."""
        nearest, distances = self._search.nearest(points, 1)
        partners = self._source.draw_toward(self._kernel.cells_at_scales(points))
        partners[:, 0] = nearest[:, 0]  # where a point starts from; the others are drawn
        coordinates = self._placement.place(partners, np.ones(partners.shape, np.float32))
        is_copy = distances[:, 0] == 0
        coordinates[is_copy] = self.embedding[nearest[is_copy, 0]]
        return coordinates


def place_checked(placer: Placer, n_jobs: int | None, points: Any) -> NDArray[np.float32]:
    """Check a block of rows and place it with a number of threads, here or on a worker."""
    with threads(n_jobs):
        return placer.place(check_points(points))


def check_out(out: Any, shape: tuple[int, int]) -> None:
    """Refuse what cannot take coordinates in float32."""
    kind = getattr(out, "dtype", type(out).__name__)
    is_writable = getattr(getattr(out, "flags", None), "writeable", True)
    if kind != np.float32 or out.shape != shape or not is_writable:
        received = f"{kind} of shape {getattr(out, 'shape', None)}"
        raise ParameterError(
            "out",
            f"be a writable float32 array of shape {shape}; received "
            f"{received if is_writable else f'a read-only array, {received}'}",
            hint="Leave it out for a new array.",
        )


def _search(kernel: MetricKernel, method: str | None) -> Search:
    is_sparse = isinstance(kernel.X_fit_, csr_array)
    can = has_approximate_search(kernel.metric_.name, is_sparse=is_sparse)
    return make_search(kernel.X_fit_, kernel.metric_, method or ("approximate" if can else "exact"))
