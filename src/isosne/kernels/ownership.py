"""The law of ranks of the owner kernel, and the cell sizes that it combines.

A partitioning samples psi of n points. The cell of a point is owned by the nearest sampled point.
The point of rank a (a points are nearer) is the owner if it is sampled and none of the nearer ones
is, so the probability depends on the rank alone (docs/owner-kernel.md).

Broad scales are computed within random subsets. A psi-sample of a uniform subset is a psi-sample of
all points, so the law of ranks within a subset is exact in expectation. A subset of 4 psi points
needs lists of 8 neighbors only, whatever the number of points. Blocks of points have subsets of
their own: with one subset for all, its members would attract everyone (docs/decisions/0011).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._checks import as_scales, is_number
from isosne._numba import parallel_kernel, prange
from isosne._types import Array, Points
from isosne.errors import ParameterError
from isosne.neighbors.distances import search_set
from isosne.neighbors.exact import is_other, nearest
from isosne.neighbors.metric import Metric

AUTO_SIZES = 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0
"""Fine cell sizes of "auto", numbers of points (docs/decisions/0011)."""
AUTO_SHARE, AUTO_BROADEST = 1 / 16, 200.0
"""The broad cell size of "auto": a fraction of all points, and the largest number of points
(docs/decisions/0011)."""
MANY, SPANNING_SHARES = 200_000, (1 / 1000, 1 / 100, 1 / 10)
"""Number of points above which "auto" has several broad cell sizes, and these sizes as fractions of
all points. Their subsets have 4000 members at most, so their cost is linear in n
(docs/decisions/0023)."""
LISTED = 2.0
"""Neighbors per list, in units of the largest cell size with lists. They hold 86 % of the row of
this scale, 1 - e^-2, and 95 % of those of cells two thirds as large (docs/decisions/0011)."""
LONGEST_LIST = 90
"""Longest list of neighbors; partners of broader cells are drawn (docs/decisions/0011)."""
PLACED = 16
"""Fitted points that a new point is compared with; with 48, no measure gains
(docs/decisions/0014)."""
SMOOTHING = 8
"""Power of the squared distances that smooths the ranks of new points (docs/decisions/0014)."""
SUBSET_CELL = 4
"""Points per cell in the subsets that broad cells are computed in (docs/decisions/0011)."""
N_FAR = 8
"""Partners of a point at each broad scale; they hold 90 % of a row, 1 - (3/4)^8."""


class Scales(NamedTuple):
    """Numbers of cells of an owner kernel, at scales with neighbor lists and at broader ones."""

    near: tuple[int, ...]
    far: tuple[int, ...]
    n_listed: int
    """Neighbors per list."""


def split_scales(psis: tuple[int, ...], n_points: int) -> Scales:
    """Divide the scales into cells that are small enough for neighbor lists, and larger ones."""
    near = tuple(psi for psi in psis if _has_lists(psi, n_points))
    far = tuple(psi for psi in psis if not _has_lists(psi, n_points))
    if n_points - 1 <= LONGEST_LIST:
        return Scales(near, far, n_points - 1)
    largest = n_points / min(near) if near else 0.0
    return Scales(near, far, max(1, math.ceil(LISTED * largest)))


def _has_lists(psi: int, n_points: int) -> bool:
    return n_points - 1 <= LONGEST_LIST or LISTED * n_points <= LONGEST_LIST * psi


def owner_law(psi: int, n_points: float, n_ranks: int) -> NDArray[np.float64]:
    """Return the probability that the point of rank 0, 1, .. n_ranks - 1 owns a cell.

    C(n - 1 - a, psi - 1) / C(n, psi) for rank a; the sum over all n ranks is 1.
    """
    a = np.arange(n_ranks - 1)
    ratios = np.maximum(n_points - psi - a, 0) / (n_points - 1 - a)
    return np.asarray(psi / n_points * np.cumprod(np.r_[1.0, ratios]), np.float64)


def mean_law(psis: tuple[int, ...], n_points: float, ranks: slice) -> NDArray[np.float64]:
    """Return the mean of the laws of all scales, each normalized over the ranks."""
    mean = np.zeros(ranks.stop - ranks.start)
    for psi in psis:
        law = owner_law(psi, n_points, ranks.stop)[ranks]
        mean += law / (math.fsum(law) * len(psis))  # exactly rounded, unlike a sum of NumPy
    return mean


@parallel_kernel
def weigh_smoothly(distances: Array, law: Array, weights: Array) -> None:
    """Fill weights (n, k) with the law (k,) at smoothed ranks of points at distances (n, k).

    The rank of j is the sum over the others l of t_j / (t_j + t_l), where t is the 16th power of
    the distance: a point much nearer than j counts 1, one at the same distance 1/2. So the weights
    of a new point change continuously with its place in the data.
    """
    n, k = distances.shape
    for i in prange(n):
        powers = np.empty(k)
        ranks = np.full(k, -0.5)  # a point is not compared with itself
        largest = np.float64(distances[i].max())
        for j in range(k):
            ratio = np.float64(distances[i, j]) / largest if largest > 0 else 0.0
            powers[j] = (ratio * ratio) ** SMOOTHING
        for other in range(k):
            for j in range(k):
                both = powers[j] + powers[other]
                ranks[j] += powers[j] / both if both > 0 else 0.5
        for j in range(k):
            a = min(int(ranks[j]), max(k - 2, 0))
            beyond = ranks[j] - a
            weights[i, j] = law[a] + beyond * (law[min(a + 1, k - 1)] - law[a])


def resolve_sizes(cell_size: Any, n_points: int, n_listed: int | None = None) -> tuple[float, ...]:
    """Return the cell sizes as numbers of points or fractions of n_points.

    n_listed: the number of neighbors per point that are known, if not all are.
    """
    if isinstance(cell_size, str) and cell_size == "auto":
        return auto_sizes(n_points, n_points if n_listed is None else n_listed)
    sizes = as_scales(cell_size, "cell_size")
    for size in sizes:
        if not is_number(size) or not 0 < size <= n_points or n_points / float(size) == math.inf:
            raise ParameterError(
                "cell_size",
                f"be 'auto', a number of points from 1 to n_samples ({n_points}), or a fraction of "
                "n_samples between 0 and 1",
                size,
                "Cells of 2 to 40 points are usual.",
            )
    return tuple(float(size) for size in sizes)


def auto_sizes(n_points: int, n_listed: int) -> tuple[float, ...]:
    """Return the cell sizes of "auto" that leave at least four cells, else the smallest.

    With lists of n_listed neighbors, those for which the lists are long enough.
    """
    broad: tuple[float, ...] = (min(AUTO_SHARE * n_points, AUTO_BROADEST),)
    if n_points > MANY:
        broad = tuple(float(round(share * n_points)) for share in SPANNING_SHARES)
    limit = min(n_points / 4, n_points if n_listed >= n_points - 1 else n_listed / LISTED)
    sizes = AUTO_SIZES + tuple(size for size in broad if size > AUTO_SIZES[-1])
    sizes = tuple(size for size in sizes if size <= limit)
    return sizes or (min(AUTO_SIZES[0], float(n_points)),)


def n_cells(size: float, n_points: int) -> int:
    """Return psi for a mean number of points per cell, or a fraction of all points."""
    n_members = size * (n_points if size < 1 else 1)
    # With one cell all points are alike; with psi = n, every point owns its own cell and no other.
    return min(max(2, round(n_points / n_members)), n_points - 1)


BLOCK = 1024
"""Points per block. A member of a subset is a partner of BLOCK / 4 psi times as many points as
others, times the weight of the scale (chosen)."""


class Subsets(NamedTuple):
    """Subsets of one scale: members[b] serves the points order[b * BLOCK : (b + 1) * BLOCK].

    ``order`` (n,): a permutation of the points; ``members`` (n_blocks, m): ascending indices,
    repeated for copies.
    """

    order: NDArray[np.int64]
    members: NDArray[np.int64]


def subset_shape(psi: int, n_points: int) -> tuple[int, int]:
    """Return the number of blocks, and of members of each subset."""
    return -(-n_points // BLOCK), min(SUBSET_CELL * psi, n_points)


def draw_subsets(
    psi: int, n_points: int, rng: np.random.Generator, weights: Array | None = None
) -> Subsets:
    """Draw the blocks of points, and a subset for each; of copies of points, if they have weights.

    Copies are taken at equal steps along the permutation: each point by its share of the weights.
    """
    n_blocks, size = subset_shape(psi, n_points)
    order = rng.permutation(n_points)
    if weights is None:
        drawn = [rng.choice(n_points, size, replace=False, shuffle=False) for _ in range(n_blocks)]
        return Subsets(order, np.sort(drawn, axis=1))
    ends = np.cumsum(weights[order])
    steps = (np.arange(size) + rng.random((n_blocks, 1))) * (ends[-1] / size)
    return Subsets(order, np.sort(order[np.searchsorted(ends[:-1], steps, side="right")], axis=1))


def far_partners(points: Points, metric: Metric, subsets: Subsets) -> NDArray[np.int32]:
    """Return the points (n, k) of its subset that are nearest to each point, nearest first."""
    n, n_members = len(subsets.order), subsets.members.shape[1]
    k = min(N_FAR, n_members - 1)
    partners = np.empty((n, k), np.int32)
    for b, members in enumerate(subsets.members):
        rows = subsets.order[b * BLOCK : (b + 1) * BLOCK]
        found, _ = nearest(points[rows], search_set(points, metric, members), k + 1)
        lists = members[found]
        partners[rows] = lists[is_other(lists, rows)].reshape(-1, k)
    return partners
