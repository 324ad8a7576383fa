"""The part of the repulsion that a mesh would need a fine spacing for, summed over near pairs.

Within a cutoff R, the map similarity w is replaced on the mesh by its Taylor polynomial q in the
squared distance s around s = R^2. The rest, w - q, is zero at R with its first two derivatives, and
is summed here over the pairs within R. What is left on the mesh is smooth over distances of about R
instead of 1, so that the mesh can be that much coarser (docs/decisions/0013).

Points are sorted into cells of width R / 2. A point finds its partners in runs of cells that are
contiguous in memory.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne import _lanes as lanes
from isosne._lanes import LANES, Vector, Vectors
from isosne._numba import kernel, parallel_kernel, prange
from isosne._types import Array, Scalar
from isosne.layout.all_pairs import Axes, by_axis, mass_sum
from isosne.layout.forces import Mass
from isosne.layout.objectives import map_similarity, similarity_at

REACH = 2
"""Cells on each side of a cell that hold all points within the cutoff; cells are R / REACH wide."""


class Cells(NamedTuple):
    """Points sorted into cells of a regular grid.

    Y: the sorted map by axis; order (n,): index of each sorted point; cells (n,): its cell;
    starts: first sorted point of each cell, and n; sides: cells along three axes, leading ones 1;
    masses: of the sorted points, if they are not 1.
    """

    Y: Axes
    order: NDArray[np.int64]
    cells: NDArray[np.int64]
    starts: NDArray[np.int64]
    sides: tuple[int, int, int]
    masses: Axes = ()


def expand(cutoff: float, dof: float) -> tuple[float, float, float, float]:
    """Return the Taylor polynomial of w at the cutoff R: R^2, value, slope and curvature.

    q(s) = value + slope (s - R^2) + curvature (s - R^2)^2 / 2.
    """
    sq = cutoff**2
    w = float(similarity_at(np.array(sq), dof))
    # u = -w' / w = (dof + 1) / 2 / (dof + s), and u' = -u / (dof + s); 1 and 0 for a Gaussian
    rate = 0.0 if np.isinf(dof) else 1 / (dof + sq)
    u = 1.0 if np.isinf(dof) else (dof + 1) / 2 * rate
    return sq, w, -w * u, w * u * (u + rate)


def smooth_similarity(sq_dist: Array, dof: float, cutoff: float) -> Array:
    """Return w outside of the cutoff and its Taylor polynomial inside, in float64."""
    w = similarity_at(sq_dist, dof)
    if not cutoff:
        return w
    sq, value, slope, curvature = expand(cutoff, dof)
    t = np.minimum(sq_dist - sq, 0.0)
    return np.asarray(np.where(t < 0, value + t * (slope + t * curvature / 2), w))


def sort_into_cells(Y: NDArray[np.float32], cutoff: float) -> Cells | None:
    """Return the points of a map (d, n) sorted into cells; None if there is no cutoff."""
    if not cutoff:
        return None
    low = Y.min(axis=1)
    inverse = np.float32(REACH / cutoff)
    counts = ((Y.max(axis=1) - low) * inverse).astype(np.int64) + 1
    sides = np.r_[np.ones(3 - len(Y), np.int64), counts]
    n = Y.shape[1]
    order, cells = np.empty(n, np.int64), np.empty(n, np.int64)
    starts = np.zeros(int(sides.prod()) + 2, np.int64)
    sort_points(Y, (low, inverse, counts), order, cells, starts)
    n_a, n_b, n_c = map(int, sides)
    return Cells(by_axis(Y[:, order]), order, cells, starts[:-1], (n_a, n_b, n_c))


def n_near_pairs(Y: NDArray[np.float32], cutoff: float) -> float:
    """Return about how many pairs of a map (d, n) are compared with a cutoff, or 0 without one."""
    if not cutoff:
        return 0.0
    scaled = ((Y - Y.min(axis=1, keepdims=True)) * np.float32(1 / cutoff)).astype(np.int64)
    cells = scaled[0]
    for axis in scaled[1:]:
        cells = cells * (int(axis.max()) + 1) + axis
    window = (2 * REACH + 1) / REACH  # width in which a point looks for partners, in cutoffs
    # As if neighboring cells were as full as the cell itself.
    return float(np.square(np.bincount(cells)).sum()) * float(window ** len(Y))


def n_compared(cells: Cells) -> float:
    """Return about how many pairs are compared, from sorted points."""
    n_window: int = (2 * REACH + 1) ** len(cells.Y)
    return float(np.square(np.diff(cells.starts)).sum()) * n_window


def add_near(
    cells: Cells, cutoff: float, dof: Scalar, push: NDArray[np.float32], masses: Mass = ()
) -> float:
    """Add the near pairs to push (d, n); return their sum of w - q, without points themselves."""
    sums = np.empty(len(cells.order))
    if masses:
        cells = cells._replace(masses=by_axis(masses[0][None, cells.order]))
    push_near(cells, tuple(map(np.float32, expand(cutoff, float(dof)))), dof, push, sums)
    return mass_sum(sums, tuple(part[cells.order] for part in masses))


@kernel
def sort_points(
    Y: Array, grid: tuple[Array, Scalar, Array], order: Array, cells: Array, starts: Array
) -> None:
    """Sort the points of a map (d, n) by cell: a counting sort, so equal cells keep their order.

    grid: corner, inverse width and number of cells; order, cells (n,), starts: zeros (n_cells + 2,)
    """
    low, inverse, counts = grid
    n = Y.shape[1]
    own = np.empty(n, np.int64)
    for i in range(n):
        cell = 0
        for c in range(Y.shape[0]):
            node = int((Y[c, i] - low[c]) * inverse)
            cell = cell * counts[c] + min(max(node, 0), counts[c] - 1)
        own[i] = cell
        starts[cell + 2] += 1
    for cell in range(2, len(starts)):
        starts[cell] += starts[cell - 1]
    for i in range(n):
        slot = starts[own[i] + 1]
        order[slot] = i
        cells[slot] = own[i]
        starts[own[i] + 1] = slot + 1


@kernel
def add_pairs(
    sums: tuple[Vector, Vectors],
    d: Vectors,
    polynomial: tuple[Scalar, ...],
    dof: Scalar,
    keep: Vector,
) -> tuple[Vector, Vectors]:
    """Add the pairs with differences d, where keep is 1, to the sums of w - q and of the push."""
    weights, pushes = sums
    sq, value, slope, curvature = polynomial
    # A pair beyond the cutoff counts as one at the cutoff, where all terms vanish.
    t = 0 - lanes.at_least(sq - lanes.sq_length(d), np.float32(0))
    w, u = map_similarity(sq + t, dof)
    bent = t * curvature
    rest = w - (value + t * (slope + bent * np.float32(0.5)))
    return weights + rest * keep, lanes.plus_product(pushes, (w * u + slope + bent) * keep, d)


@parallel_kernel
def push_near(
    sorted_points: Cells, polynomial: tuple[Scalar, ...], dof: Scalar, push: Array, sums: Array
) -> None:
    """Add the push of near pairs to push (d, n); fill sums (n,) with their w - q. O(pairs)."""
    Y, order, cells, starts, sides, masses = sorted_points
    n_a, n_b, n_c = sides
    sq, value, slope, curvature = polynomial
    alone = np.float32(1) - (value - sq * (slope - sq * curvature * np.float32(0.5)))
    for i in prange(len(sums)):
        x = lanes.repeated(lanes.point(Y, i))
        found = lanes.splat(0), lanes.minus(x, x)
        c = cells[i] % n_c
        b = cells[i] // n_c % n_b
        a = cells[i] // (n_c * n_b)
        for p in range(max(a - REACH, 0), min(a + REACH + 1, n_a)):
            for q in range(max(b - REACH, 0), min(b + REACH + 1, n_b)):
                line = (p * n_b + q) * n_c
                stop = starts[line + min(c + REACH + 1, n_c)]
                for first in range(starts[line + max(c - REACH, 0)], stop, LANES):
                    e, keep = lanes.vector_at(first, stop, len(Y[0]))
                    keep = lanes.weighted(keep, masses, e)
                    d = lanes.minus(x, lanes.loaded(Y, e))
                    found = add_pairs(found, d, (sq, value, slope, curvature), dof, keep)
        weights, pushes = found
        pushed = lanes.totals(pushes)
        for axis in range(len(Y)):
            push[axis, order[i]] += pushed[axis]
        sums[i] = lanes.total(weights) - lanes.weighted(alone, masses, i)
