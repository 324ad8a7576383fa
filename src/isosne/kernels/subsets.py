"""Broad scales of the owner kernel, computed within random subsets of the points.

A psi-sample of a uniform subset is a psi-sample of all points, so the law of ranks within a subset
is exact in expectation. A subset of 4 psi points needs lists of 8 neighbors only, whatever the
number of points. Blocks of points have subsets of their own: with one subset for all, its members
would attract everyone (docs/decisions/0011).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array, Points
from isosne.kernels.ownership import N_FAR, SUBSET_CELL
from isosne.neighbors.distances import search_set
from isosne.neighbors.exact import nearest
from isosne.neighbors.metric import Metric

BLOCK = 1024
"""Points per block. A member of a subset is a partner of BLOCK / 4 psi times as many points as
others, times the weight of the scale (chosen)."""


class Subsets(NamedTuple):
    """Subsets of one scale: members[b] serves the points order[b * BLOCK : (b + 1) * BLOCK].

    ``order`` (n,): a permutation of the points; ``members`` (n_blocks, m): ascending indices.
    """

    order: NDArray[np.int64]
    members: NDArray[np.int64]


def subset_shape(psi: int, n_points: int) -> tuple[int, int]:
    """Return the number of blocks, and of members of each subset."""
    return -(-n_points // BLOCK), min(SUBSET_CELL * psi, n_points)


def draw_subsets(psi: int, n_points: int, rng: np.random.Generator) -> Subsets:
    """Draw the blocks of points, and a subset for each."""
    n_blocks, size = subset_shape(psi, n_points)
    order = rng.permutation(n_points)
    drawn = [rng.choice(n_points, size, replace=False, shuffle=False) for _ in range(n_blocks)]
    return Subsets(order, np.sort(drawn, axis=1))


def far_partners(points: Points, metric: Metric, subsets: Subsets) -> NDArray[np.int32]:
    """Return the points (n, k) of its subset that are nearest to each point, nearest first."""
    n, n_members = len(subsets.order), subsets.members.shape[1]
    k = min(N_FAR, n_members - 1)
    partners = np.empty((n, k), np.int32)
    for b, members in enumerate(subsets.members):
        rows = subsets.order[b * BLOCK : (b + 1) * BLOCK]
        found, _ = nearest(points[rows], search_set(points, metric, members), k + 1)
        partners[rows] = without_self(members[found], rows)
    return partners


def without_self(lists: Array, rows: Array) -> Array:
    """Return lists (n, k + 1) without the point itself, or without the last entry, as (n, k)."""
    is_self = lists == rows[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    others: Array = lists[~is_self]
    return others.reshape(len(lists), -1)
