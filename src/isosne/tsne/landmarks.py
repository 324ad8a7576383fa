"""Step 1 on all rows, steps 2 and 3 on some of them (Algorithms 1 and 2 of the paper, m < n).

Rows are drawn across the whole input: a pool, which the kernel draws its samples from, and
landmarks among them, which are mapped. Their numbers do not depend on n, so neither do the time and
the memory that they take.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import single_threaded_blas
from isosne._checks import check_count, check_for_metric
from isosne._types import Array, Points
from isosne.errors import ParameterError
from isosne.neighbors.distances import Metric, search_set
from isosne.sources import Rows

POOL = 2**16
"""Rows that the kernel draws its samples from; more if there are more landmarks (decision 0008)."""
CELL_SIZE = 8
"""Landmarks per cell where they are spread over cells (chosen; a few per cell keep shares even)."""
CHOICES = ("uniform", "spread")


@dataclass(frozen=True)
class Landmarks:
    """Map some rows, the paper's m, and place all others on their map afterwards.

    Parameters
    ----------
    n : int
        Number of landmarks, from 2 to the number of rows.
    choice : {"uniform", "spread"}, default="uniform"
        "uniform": sampled uniformly. "spread": half uniformly, half from sparse regions, so that
        rare populations are represented.

    Examples
    --------
    >>> from isosne import TSNE, Landmarks
    >>> TSNE(landmarks=Landmarks(5000, choice="spread"))
    TSNE(landmarks=Landmarks(n=5000, choice='spread'))
    """

    n: int
    choice: str = "uniform"

    def __post_init__(self) -> None:
        if self.choice not in CHOICES:
            raise ParameterError(
                "choice",
                f"be one of {', '.join(map(repr, CHOICES))}",
                self.choice,
                "'spread' takes more landmarks from sparse regions.",
            )

    def check(self, n_rows: int, metric: str) -> None:
        """Refuse landmarks that these rows do not have."""
        hint = "Leave landmarks out to map every row."
        check_count(self.n, "landmarks", low=2, high=n_rows, hint=hint)
        if metric == "precomputed":
            raise ParameterError(
                "landmarks",
                "be None with precomputed distances or affinities: landmarks are rows of points",
                self.n,
                "Pass points, or leave landmarks out.",
            )


def as_landmarks(landmarks: object) -> Landmarks | None:
    """Return an integer as that many landmarks; None and objects pass."""
    if landmarks is None or isinstance(landmarks, Landmarks):
        return landmarks
    count = check_count(landmarks, "landmarks", low=2, hint="Leave it out to map every row.")
    return Landmarks(count)


class DrawnLandmarks(NamedTuple):
    """Rows that stand for all: the pool, and the landmarks with their indices in the input."""

    pool: Points
    points: Points
    indices: NDArray[np.int64]


def pool_size(n_rows: int, n_landmarks: int) -> int:
    """Return how many rows the kernel draws its samples from."""
    return min(n_rows, max(POOL, n_landmarks))


def draw_landmarks(
    rows: Rows, landmarks: Landmarks, metric: Metric, rng: np.random.Generator
) -> DrawnLandmarks:
    """Draw a pool across all rows, and landmarks among it; each in the order of the input.

    Of landmarks that are spread, half are drawn like others: dense kinds of points keep at least
    half of what they would have.
    """
    n_rows, n_landmarks = rows.shape[0], int(landmarks.n)
    drawn = rng.choice(n_rows, pool_size(n_rows, n_landmarks), replace=False)
    numbers = np.argsort(drawn)  # of the draws, in the order of the input
    ids = drawn[numbers]
    pool = rows.take(ids)
    check_for_metric(pool, metric.name)
    turns = np.zeros_like(numbers)
    if landmarks.choice == "spread":
        turns = _turns(pool, max(2, n_landmarks // CELL_SIZE), numbers, metric)
        turns[numbers < n_landmarks // 2] = 0
    first = np.lexsort((numbers, turns))[:n_landmarks]
    first.sort()
    return DrawnLandmarks(pool, pool[first], ids[first])


def _turns(pool: Points, n_cells: int, numbers: Array, metric: Metric) -> Array:
    """Return the turn at which each row is taken if every cell gives one row in each turn."""
    cells = even_cells(pool, n_cells, int(np.argmin(numbers)), metric)
    order = np.lexsort((numbers, cells))
    starts = np.r_[0, np.flatnonzero(np.diff(cells[order])) + 1]
    sizes = np.diff(np.r_[starts, len(cells)])
    turns = np.empty(len(cells), np.int64)
    turns[order] = np.arange(len(cells)) - np.repeat(starts, sizes)
    return turns


def even_cells(pool: Points, n_cells: int, first: int, metric: Metric) -> NDArray[np.int64]:
    """Return the cell of each row, cells being about equally wide wherever the rows are.

    Centers are taken one after the other, each the row farthest from those before it. (Cells
    around random rows would hold equally many rows instead, and be wide where rows are rare.)
    O(n_cells n d) time.
    """
    search = search_set(pool, metric)
    nearest, cells = np.full(search.n_points, np.inf), np.zeros(search.n_points, np.int64)
    center = first
    with single_threaded_blas():
        for c in range(n_cells):
            query = search.query(pool, slice(center, center + 1))
            keys = search.keys(query, slice(0, search.n_points))[0]
            distances = keys + query.sq_norms[0] if search.unit else keys
            is_nearer = distances < nearest
            nearest[is_nearer], cells[is_nearer] = distances[is_nearer], c
            nearest[center] = 0
            center = int(np.argmax(nearest))
    return cells
