"""Coordinates of new points on a finished map.

A placer chooses the fitted points that new points are compared with (all, the nearest, or a random
draw) and computes similarities; `layout.placement` computes the coordinates.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._checks import check_for_metric, check_points
from isosne._numba import threads
from isosne._types import Array, Masses, Points
from isosne.affinities.dense import conditional_rows
from isosne.affinities.sampled import PLACE_DRAWS, SampledAffinities
from isosne.errors import ParameterError
from isosne.kernels.base import KernelCosts, MetricKernel
from isosne.kernels.given import PrecomputedKernel
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.views import ViewsKernel
from isosne.layout.objectives import dof_of
from isosne.layout.placement import ListedPlacement, Placement
from isosne.neighbors.search import Search, has_approximate_search, make_search
from isosne.rows.rows import Rows
from isosne.tsne.fit import sample_affinities
from isosne.tsne.input import opened_rows
from isosne.tsne.plan import LONGEST_LIST
from isosne.tsne.run import Run

PLACE_BYTES = 2**26
"""Bytes of rows per block in `TSNE.place`: 64 MB (chosen; not measured)."""
BLOCK_BYTES = 2**27
"""Bytes of new points and their similarities per block: 128 MB (chosen; not measured)."""
EXACT_LANDMARKS = 4000
"""Largest number of landmarks that are searched exactly for new rows (docs/decisions/0014)."""
WIDEST = 10_000
"""Largest number of columns that is counted: wider data are sparse, and are not copied (chosen)."""


class MapSettings(NamedTuple):
    """A map, and the settings of the forces on it."""

    embedding: NDArray[np.float32]
    dof: float
    exaggeration: float
    """Exaggeration of the last phase."""
    masses: Masses | None = None


class MapPlacer(ABC):
    """Base class: computes coordinates of new points, each independently of the others."""

    width: int
    """Number of fitted points that a new point is compared with."""

    def __init__(self, kernel: MetricKernel, settings: MapSettings) -> None:
        self._metric, self.embedding = kernel.metric_.name, settings.embedding

    def place(self, points: Points) -> NDArray[np.float32]:
        """Return the coordinates of new points; a copy of a fitted point gets its coordinates."""
        check_for_metric(points, self._metric)
        coordinates = np.empty((points.shape[0], self.embedding.shape[1]), np.float32)
        # Bytes per point: indices, distances, similarities; float64 values with a working copy.
        step = max(1, BLOCK_BYTES // (16 * self.width + 16 * min(points.shape[1], WIDEST)))
        for s in range(0, len(coordinates), step):
            block = slice(s, min(s + step, len(coordinates)))
            coordinates[block] = self._place_block(points[block])
        return coordinates

    @abstractmethod
    def _place_block(self, points: Points) -> NDArray[np.float32]: ...


class AllPairsPlacer(MapPlacer):
    """Compares new points with all fitted points."""

    def __init__(self, kernel: MetricKernel, settings: MapSettings) -> None:
        super().__init__(kernel, settings)
        self.width = len(self.embedding)
        self._kernel, self._placement = kernel, Placement(*settings[:3])
        self._similarity = kernel.toward_fitted()

    def _place_block(self, points: Points) -> NDArray[np.float32]:
        originals = self._kernel.find_copies(points)
        new = np.flatnonzero(originals < 0)
        coordinates: NDArray[np.float32] = self.embedding[originals]
        if len(new):
            coordinates[new] = self._placement.place(self._probabilities(points[new]))
        return coordinates

    def _probabilities(self, points: Points) -> NDArray[np.float32]:
        """Return p_{j|i} (m, n) of new points; 1 for the nearest point where all are zero."""
        rows = conditional_rows(self._similarity(points))
        empty = np.flatnonzero(~rows.any(axis=1))
        if len(empty):
            nearest, _ = _search(self._kernel, "exact").nearest(points[empty], 1)
            rows[empty, nearest[:, 0]] = 1
        return rows


class Nearest:
    """The ``width`` fitted points nearest to each new point, and their probabilities."""

    def __init__(self, kernel: MetricKernel, method: str | None) -> None:
        n_listed, costs = kernel.n_listed(), _costs(kernel)
        n_known = kernel.X_fit_.shape[0] - 1 if n_listed is None else n_listed
        self.width = min(costs.n_placed or costs.n_partners, n_known)
        self._search = _search(kernel, method)
        lists = self._search.neighbors(self.width) if kernel.uses_fitted_lists else None
        self._similarity = kernel.toward_neighbors(lists)

    def compare(self, points: Points) -> tuple[Array, NDArray[np.float32], NDArray[np.bool_]]:
        """Return indices and probabilities (m, width), and whether each point is a copy."""
        ids, distances = self._search.nearest(points, self.width)
        rows = conditional_rows(self._similarity(points, ids, distances))
        rows[~rows.any(axis=1), 0] = 1
        return ids, rows, distances[:, 0] == 0


class ListPlacer(MapPlacer):
    """Compares new points with the fitted points nearest to them."""

    def __init__(self, kernel: MetricKernel, method: str | None, settings: MapSettings) -> None:
        super().__init__(kernel, settings)
        self._nearest, self._placement = Nearest(kernel, method), ListedPlacement(*settings)
        self.width = self._nearest.width

    def _place_block(self, points: Points) -> NDArray[np.float32]:
        ids, rows, is_copy = self._nearest.compare(points)
        coordinates = self._placement.place(ids, rows)
        coordinates[is_copy] = self.embedding[ids[is_copy, 0]]
        return coordinates


class ViewsPlacer(MapPlacer):
    """Compares new points with the fitted points nearest to them in each view."""

    def __init__(self, kernel: ViewsKernel, method: str | None, settings: MapSettings) -> None:
        super().__init__(kernel, settings)
        self._kernel, self._placement = kernel, ListedPlacement(*settings)
        self._views = [Nearest(view, method) for view in kernel.views_]
        self.width = sum(view.width for view in self._views)

    def _place_block(self, points: Points) -> NDArray[np.float32]:
        kernel, n, first = self._kernel, points.shape[0], 0
        parts = kernel.parts(points)
        shares = kernel.weigh([rows for _, rows in parts], n)
        ids, weights = np.zeros((n, self.width), np.int32), np.zeros((n, self.width), np.float32)
        originals, is_copy = np.full(n, -1), np.ones(n, bool)
        for view, members, (part, rows), share in zip(
            self._views, kernel.members_, parts, shares, strict=True
        ):
            if len(rows):
                columns = slice(first, first + view.width)
                nearest, near, are_copies = view.compare(part)
                lists = members[nearest]
                ids[rows, columns], weights[rows, columns] = lists, near * share[rows, None]
                known = originals[rows]
                is_copy[rows] &= are_copies & ((known < 0) | (known == lists[:, 0]))
                originals[rows] = lists[:, 0]
            first += view.width
        coordinates = self._placement.place(ids, weights)
        coordinates[is_copy] = self.embedding[originals[is_copy]]
        return coordinates


class DrawPlacer(MapPlacer):
    """Compares new points with fitted points drawn from shared cells."""

    width = PLACE_DRAWS

    def __init__(
        self, kernel: MetricKernel, source: SampledAffinities, settings: MapSettings
    ) -> None:
        super().__init__(kernel, settings)
        assert isinstance(kernel, IsolationKernel)  # no other kernel has cells
        self._kernel, self._source = kernel, source
        self._placement, self._search = ListedPlacement(*settings), _search(kernel, None)

    def _place_block(self, points: Points) -> NDArray[np.float32]:
        nearest, distances = self._search.nearest(points, 1)
        partners = self._source.draw_toward(self._kernel.cells_at_scales(points))
        partners[:, 0] = nearest[:, 0]  # `settle_listed` starts at the first of equal weights
        coordinates = self._placement.place(partners, np.ones(partners.shape, np.float32))
        is_copy = distances[:, 0] == 0
        coordinates[is_copy] = self.embedding[nearest[is_copy, 0]]
        return coordinates


def _costs(kernel: MetricKernel) -> KernelCosts:
    return kernel.costs(kernel.X_fit_.shape[0])


def _search(kernel: MetricKernel, method: str | None) -> Search:
    is_sparse = isinstance(kernel.X_fit_, csr_array)
    can = has_approximate_search(kernel.metric_.name, is_sparse=is_sparse)
    return make_search(kernel.X_fit_, kernel.metric_, method or ("approximate" if can else "exact"))


def fitted_search(model: Any) -> Search:
    """Return a search among the fitted points of an estimator."""
    return _search(model.kernel_, model.plan_.neighbors or "exact")


@dataclass
class Finished:
    """State of a fitted estimator: seed of sampled affinities, run, and placer.

    The run is None after loading from a file; the placer is None until it is first used.
    """

    draws: int
    run: Run | None = None
    placer: MapPlacer | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"placer": None}  # cannot be pickled; it is made again when needed


def ready_placer(model: Any) -> MapPlacer:
    """Return the placer of a fitted estimator, which keeps it."""
    finished: Finished = model._finished
    if finished.placer is None:
        finished.placer = _make_placer(model)
    return finished.placer


def _make_placer(model: Any) -> MapPlacer:
    """Return the placer for the map of a model: new points are compared as the fitted points were.

    With landmarks, which are followed by many new points, they are compared with the nearest
    landmarks instead, found approximately if there are many; if these lists would be too long, with
    landmarks drawn from shared cells, or with all landmarks if the kernel has no cells.
    """
    kernel, plan = model.kernel_, model.plan_
    exaggeration = plan.parameters["schedule"].phases[-1].exaggeration
    weights = getattr(kernel, "weights_", None)
    masses = None if weights is None else Masses.of(weights)
    dof = dof_of(plan.parameters["objective"])
    settings = MapSettings(model.embedding_, dof, exaggeration, masses)
    if isinstance(kernel, PrecomputedKernel):
        return AllPairsPlacer(kernel, settings)
    if plan.affinities == "sampled":
        source = getattr(model, "affinities_", None)
        source = source or sample_affinities(kernel, model._finished.draws)
        return DrawPlacer(kernel, source, settings)
    are_landmarks = plan.n_rows is not None
    has_many = are_landmarks and plan.n_points > EXACT_LANDMARKS
    method = None if has_many else plan.neighbors
    if isinstance(kernel, ViewsKernel):
        return ViewsPlacer(kernel, method, settings)
    if plan.affinities == "sparse":
        return ListPlacer(kernel, method, settings)
    listed = kernel.in_closed_form() if are_landmarks else None
    if listed is not None and 0 < _costs(listed).n_relevant <= LONGEST_LIST:
        return ListPlacer(listed, method, settings)
    if are_landmarks and _costs(kernel).n_partitions:
        return DrawPlacer(kernel, sample_affinities(kernel), settings)
    return AllPairsPlacer(kernel, settings)


def placed_blocks(model: Any, rows: Rows) -> Iterator[NDArray[np.float32]]:
    """Yield the coordinates of opened rows in blocks; Dask workers place the blocks they hold."""
    with threads(model.n_jobs):
        placer = ready_placer(model)
    return rows.apply(partial(_place_checked, placer, model.n_jobs), PLACE_BYTES)


def _place_checked(placer: MapPlacer, n_jobs: int | None, points: Any) -> NDArray[np.float32]:
    with threads(n_jobs):
        return placer.place(check_points(points))


def place_rows(model: Any, X: Any, out: Any) -> NDArray[np.float32]:
    """Return the coordinates of all rows of an input, in `out` if it is not None."""
    rows = opened_rows(model, X)
    shape = rows.shape[0], model.embedding_.shape[1]
    placed: NDArray[np.float32] = np.empty(shape, np.float32) if out is None else out
    _check_out(placed, shape)
    start = 0
    for block in placed_blocks(model, rows):
        placed[start : start + len(block)] = block
        start += len(block)
    return placed


def _check_out(out: Any, shape: tuple[int, int]) -> None:
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
