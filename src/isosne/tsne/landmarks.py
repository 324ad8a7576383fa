"""Landmarks: step 1 on all rows, steps 2 and 3 on m < n of them (Algorithms 1 and 2).

A pool of rows is drawn from the whole input; an isolation kernel draws its samples from the pool.
Landmarks, the rows that are mapped, are a subset of the pool. The size of the pool does not depend
on n, so neither do time and memory (docs/decisions/0008).
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._checks import check_count, check_for_metric, check_points, is_one_of
from isosne._types import Array, Points
from isosne.errors import ParameterError, suggest
from isosne.neighbors.coordinates import Query, working_dtype
from isosne.neighbors.distances import exact_set
from isosne.neighbors.metric import Metric
from isosne.sources import Rows

POOL = 2**16
"""Rows in the pool; more if there are more landmarks (docs/decisions/0008)."""
CELL_SIZE = 8
"""Landmarks per cell with choice="spread" (chosen; not measured). Costs m / 8 passes over the pool
(docs/decisions/0008)."""
CHOICES = ("uniform", "spread")


@dataclass(frozen=True)
class Landmarks:
    """Map a sample of m rows; `TSNE.place` gives the other rows coordinates on that map.

    Parameters
    ----------
    n : int
        Number of landmarks, from 2 to the number of rows.
    choice : {"uniform", "spread"}, default="uniform"
        "uniform": sampled uniformly. "spread": half uniformly, half evenly over the space, so that
        rare populations are represented.

    Notes
    -----
    Algorithms 1 and 2 of the paper with m < n. Departure: samples of an isolation kernel are drawn
    from a pool of 65 536 rows instead of all rows (docs/decisions/0008). Other kernels, and the
    closed forms, compare landmarks only.

    Examples
    --------
    >>> from isosne import TSNE, Landmarks
    >>> TSNE(landmarks=Landmarks(5000, choice="spread"))
    TSNE(landmarks=Landmarks(n=5000, choice='spread'))
    """

    n: int
    choice: str = "uniform"

    def __post_init__(self) -> None:
        if not is_one_of(self.choice, CHOICES):
            raise ParameterError(
                "choice",
                f"be one of {', '.join(map(repr, CHOICES))}",
                self.choice,
                suggest(self.choice, CHOICES, "'spread' takes more landmarks from sparse regions."),
            )

    def check(self, n_rows: int, metric: str) -> None:
        """Raise an error if there are more landmarks than rows, or if there are no points."""
        hint = "Leave landmarks out to map every row."
        check_count(self.n, "landmarks", low=2, high=n_rows, hint=hint)
        if is_one_of(metric, ("precomputed",)):
            raise ParameterError(
                "landmarks",
                "be None with precomputed distances or affinities: landmarks are rows of points",
                self.n,
                "Pass points, or leave landmarks out.",
            )


def as_landmarks(landmarks: object) -> Landmarks | None:
    """Return Landmarks for an integer; None and Landmarks are returned unchanged."""
    if landmarks is None or isinstance(landmarks, Landmarks):
        return landmarks
    count = check_count(landmarks, "landmarks", low=2, hint="Leave it out to map every row.")
    return Landmarks(count)


class DrawnLandmarks(NamedTuple):
    """The pool, the landmarks, and the row indices of the landmarks in the input."""

    pool: Points
    points: Points
    indices: NDArray[np.int64]


def pool_size(n_rows: int, n_landmarks: int) -> int:
    """Return the number of rows in the pool."""
    return min(n_rows, max(POOL, n_landmarks))


def draw_landmarks(
    rows: Rows, landmarks: Landmarks, metric: Metric, rng: np.random.Generator
) -> DrawnLandmarks:
    """Draw a pool from all rows, and landmarks from the pool; both in the order of the input.

    With choice="spread", half of the landmarks are drawn uniformly, so that dense clusters keep at
    least half of their landmarks.
    """
    n_rows, n_landmarks = rows.shape[0], int(landmarks.n)
    drawn = rng.choice(n_rows, pool_size(n_rows, n_landmarks), replace=False)
    numbers = np.argsort(drawn)  # of the draws, in the order of the input
    ids = drawn[numbers]
    pool = check_points(rows.take(ids))
    check_for_metric(pool, metric.name)
    turns = np.zeros_like(numbers)
    if landmarks.choice == "spread":
        turns = _turns(pool, max(2, n_landmarks // CELL_SIZE), numbers, metric)
        turns[numbers < n_landmarks // 2] = 0
    first = np.lexsort((numbers, turns))[:n_landmarks]
    first.sort()
    return DrawnLandmarks(pool, pool[first], ids[first])


def _turns(pool: Points, n_cells: int, numbers: Array, metric: Metric) -> Array:
    """Return the rank of each row within its cell; landmarks are taken in order of rank."""
    cells = even_cells(pool, n_cells, int(np.argmin(numbers)), metric)
    order = np.lexsort((numbers, cells))
    starts = np.r_[0, np.flatnonzero(np.diff(cells[order])) + 1]
    sizes = np.diff(np.r_[starts, len(cells)])
    turns = np.empty(len(cells), np.int64)
    turns[order] = np.arange(len(cells)) - np.repeat(starts, sizes)
    return turns


def even_cells(pool: Points, n_cells: int, first: int, metric: Metric) -> NDArray[np.int64]:
    """Return the cell of each row, for cells of about equal width (farthest-point sampling).

    Each center is the row farthest from the previous centers. Cells around random rows would
    instead hold about equally many rows, and be wide where rows are rare. O(n_cells n d) time.
    """
    search = exact_set(pool, metric, precision=working_dtype(pool))
    nearest, cells = np.full(search.n_points, np.inf), np.zeros(search.n_points, np.int64)
    center = first

    def visit(query: Query, c: int, rows: slice) -> None:
        keys = search.keys(query, rows)[0]
        is_nearer = keys < nearest[rows]
        nearest[rows][is_nearer], cells[rows][is_nearer] = keys[is_nearer], c

    for c in range(n_cells):
        query = search.query(pool, slice(center, center + 1))
        for_each_block(search.n_points, search.tile, partial(visit, query, c))
        nearest[center] = 0
        center = int(np.argmax(nearest))
    return cells
