"""Repulsion on a mesh with one pair of Fourier transforms, in 1 to 3 dimensions.

The repulsion is the gradient of a scalar field, ``phi(y) = sum_j w(|y - y_j|)``:
``sum_j w u (y_i - y_j) = -grad phi / 2`` and ``Z = sum_i phi(y_i) - n``, for every dof. Each point
spreads a unit charge over the nearest nodes with a B-spline. The charges are convolved with w by
Fourier transforms, divided twice by the transform of the spline (for spreading and reading). The
spline and its derivative then read phi and its gradient at the points (docs/decisions/0005).

Chunks of points do not depend on the number of threads and are summed in a fixed order, so results
are bit-identical on any number of threads.
"""

import math
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from isosne._numba import n_threads
from isosne._portable import each_cos, power
from isosne._types import Array, Scalar
from isosne.layout.pair_terms import similarity_at
from isosne.layout.splines import read, spread, sum_chunks
from isosne.layout.tree_repulsion import TreeRepulsion

CUBIC, QUINTIC = 4, 6
"""Orders of the B-splines: number of nodes that a point touches per axis."""
ERROR_AT_HALF = {CUBIC: (0.0285, 3.4), QUINTIC: (0.027, 4.8)}
"""Relative error of the forces at spacing 0.5, and the power of the spacing with which it grows.

Cubic: measured on a map of 70 000 points. Quintic, which is used for fewer points: measured on a
map of 10 000 points, where the error is twice as large (docs/decisions/0005).
"""
SPARSE = 10_000
"""Number of points below which the target error is reduced, because sparse maps are more sensitive
to errors of the forces (docs/decisions/0005)."""
QUINTIC_BELOW = 0.02
"""Accuracy below which a quintic spline is cheaper than a finer mesh (docs/decisions/0005)."""
CUBIC_FROM = {1: 3_000, 2: 30_000, 3: 300_000}
"""Number of points, by map dimension, from which a finer mesh is cheaper than a quintic spline.
2-D: docs/decisions/0005; 1-D and 3-D: no record of a measurement."""
MAX_NODES = 2**24
"""Largest number of nodes of the padded mesh, about 300 MB. A wider map gets a larger spacing."""
PADDING = 2.1
"""Upper estimate of padded sides relative to mesh sides: 2, rounded up to fast FFT lengths."""
MIN_SIDE = 32
"""Smallest number of nodes per side, before padding; a narrow map gets a finer mesh (0005)."""
ROOM = 1.1
"""Width of a new mesh relative to the map, because maps usually grow (chosen; not measured)."""
MAX_WASTE = ROOM**4
"""A mesh is replaced if it has this many times the nodes that the map needs: in 2-D, if the map
has shrunk by ROOM^2 along both axes (chosen; not measured)."""
COARSEN = 1.05
"""Factor by which the spacing grows until the mesh has at most MAX_NODES (chosen)."""
FINEST, COARSEST = 0.05, 1.0
"""Bounds of the spacing, in map units, whose similarity w has width 1 (chosen; not measured)."""
N_CHUNKS = 8
"""Copies of the mesh that charges are spread on in parallel (chosen). It is fixed, so that results
do not depend on the number of threads."""


THETA = {1: 0.5, 2: 0.5, 3: 0.85}
"""Theta, by map dimension, at which a tree has an error below 0.01: 0.0090 in 2-D and 0.0085 in 3-D
on 12 clusters of 1000 points. The error grows with the square of theta."""


class Grid(NamedTuple):
    """A mesh: nodes per axis, the same padded, their spacing, and what a convolution needs.

    base: constant that is subtracted from w; transform: of w, on the padded mesh; own: potential
    of a point at itself; charges: scratch, one mesh per chunk.
    """

    sides: tuple[int, ...]
    padded: tuple[int, ...]
    spacing: float
    base: float
    transform: NDArray[np.float32]
    own: float
    charges: NDArray[np.float32]


class MeshRepulsion:
    """Repulsion between all points of a map, computed on a mesh.

    Parameters
    ----------
    n_components : int
        Dimensions of the map.
    dof : float, default=1.0
        Degrees of freedom of the map similarity.
    accuracy : float, default=0.01
        Target for the relative error of the forces (root mean square over the points).
    n_points : int, default=0
        Number of points, which determines spline and spacing; 0 if unknown.

    Attributes
    ----------
    order : int
        Order of the spline: 4 (cubic) or 6 (quintic).
    spacing : float
        Distance between nodes.

    Notes
    -----
    If a map is so wide that the largest mesh would be too coarse for the accuracy, a tree takes its
    place: in 3-D this is usual above 15 000 points.
    """

    def __init__(
        self, n_components: int, dof: Scalar = 1.0, accuracy: float = 0.01, n_points: int = 0
    ) -> None:
        self.n_components = n_components
        self.accuracy = accuracy
        self.order = spline_order(accuracy, n_components, n_points)
        self._dof = np.float32(dof)
        self._finest = finest_spacing(accuracy, self.order, float(dof), n_points)
        orders = (1,) * (3 - n_components) + (self.order,) * n_components
        self._zeros = tuple((np.float32(0),) * order for order in orders)
        self._grid: Grid | None = None
        self._tree: TreeRepulsion | None = None

    @property
    def spacing(self) -> float:
        """Distance between nodes."""
        return self._grid.spacing if self._grid else self._finest

    def push(self, Y: NDArray[np.float32], push: NDArray[np.float32]) -> float:
        """Fill push (d, n) for the map Y (d, n) and return Z."""
        with np.errstate(all="ignore"):  # a diverged map: `descend` detects it
            if not np.isfinite(Y.max(axis=1) - Y.min(axis=1)).all():
                push[:] = np.nan
                return np.nan
            if self.is_too_wide(Y):
                return self._push_by_tree(Y, push)
            solid = in_three_dimensions(Y)
            origin, field = self.field(solid)
            found, potential = np.empty_like(solid), np.empty(Y.shape[1], np.float32)
            read(field, solid, origin, np.float32(1 / self.spacing), self._zeros, found, potential)
        push[:] = found[3 - len(Y) :]
        return self._sum_of_w(potential, Y.shape[1])

    def field(self, Y: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the corner (3,) of a mesh that covers a map Y (3, n), and the potential there."""
        low, high = Y.min(axis=1), Y.max(axis=1)
        grid = self._fit_grid((high - low)[3 - self.n_components :].astype(np.float64))
        sides = (1,) * (3 - self.n_components) + grid.sides
        margin = (np.array(sides) - [len(zeros) for zeros in self._zeros]) * grid.spacing
        origin = ((low + high) / 2 - margin / 2).astype(np.float32)
        bounds = np.zeros((len(grid.charges), 2), np.int64)
        spread(Y, origin, np.float32(1 / grid.spacing), self._zeros, sides, bounds, grid.charges)
        total = np.empty(grid.charges.shape[1], np.float32)
        sum_chunks(grid.charges, bounds, total)
        return origin, convolve(total.reshape(grid.sides), grid).reshape((*sides[:-1], -1))

    def open(self, Y: NDArray[np.float32]) -> tuple[Any, ...]:
        """Return the arguments with which `read_at` reads the potential of a map Y (3, n).

        Potential, corner, inverse spacing, lower and upper bounds of the coordinates (2, 3), and
        three tuples of zeros. The potential of a map that is too wide is not computed: it is zero.
        """
        if self.is_too_wide(Y[3 - self.n_components :]):
            origin, field = Y.min(axis=1), np.zeros(tuple(map(len, self._zeros)), np.float32)
        else:
            origin, field = self.field(Y)
        limits = np.stack([Y.min(axis=1), Y.max(axis=1)])
        return field, origin, np.float32(1 / self.spacing), limits, *self._zeros

    def state(self) -> dict[str, Array]:
        """Return the current mesh, which is kept until the map needs another one."""
        if self._grid is None:
            return {}
        return {
            "mesh_sides": np.array(self._grid.sides),
            "mesh_scale": np.array([self._grid.spacing, self._grid.base]),
        }

    def restore(self, state: dict[str, Array]) -> None:
        """Restore a mesh."""
        if "mesh_sides" in state:
            spacing, base = map(float, state["mesh_scale"])
            self._grid = self._make_grid(spacing, tuple(map(int, state["mesh_sides"])), base)

    def is_too_wide(self, Y: NDArray[np.float32]) -> bool:
        """Return whether no mesh of at most MAX_NODES reaches the accuracy on a map (d, n)."""
        widths = (Y.max(axis=1) - Y.min(axis=1)).astype(np.float64)
        return self._choose_mesh(widths)[0] > COARSEN * self._finest

    def _push_by_tree(self, Y: NDArray[np.float32], push: NDArray[np.float32]) -> float:
        """Fill push with a tree, whose accuracy and cost do not depend on the width of the map."""
        if self._tree is None:
            self._tree = TreeRepulsion(
                self.n_components, self._dof, theta_for(self.accuracy, self.n_components)
            )
        return self._tree.push(Y, push)

    def _sum_of_w(self, potential: NDArray[np.float32], n_points: int) -> float:
        """Return the sum of w from the points to all others, given the potential at the points."""
        assert self._grid
        # Add back the constant that was subtracted from w, and remove each point's own potential.
        beyond = self._grid.base * n_points - self._grid.own
        return float(potential.sum(dtype=np.float64)) + beyond * len(potential)

    def _fit_grid(self, widths: NDArray[np.float64]) -> Grid:
        """Return the mesh; a new one if the map no longer fits, or needs a much smaller one."""
        spacing, sides = self._choose_mesh(np.where(np.isfinite(widths), widths, 0.0))
        grid = self._grid
        if grid:
            covers = (widths / grid.spacing + self.order <= grid.sides).all()
            nodes = np.prod(grid.sides) / np.prod(sides)
            if covers and grid.spacing < ROOM**2 * spacing and nodes < MAX_WASTE:
                return grid
        # w at half the map's width. Subtracting it avoids cancellation in float32 on narrow maps,
        # where the potential is nearly constant (docs/decisions/0005, "Early steps").
        base = float(similarity_at((widths**2).sum() / 4, float(self._dof)))
        # One assignment, so that an interrupt leaves either the old mesh or the new one.
        self._grid = self._make_grid(spacing, sides, base)
        return self._grid

    def _make_grid(self, spacing: float, sides: tuple[int, ...], base: float) -> Grid:
        # Padding to twice the side makes the cyclic convolution of the transform a linear one.
        padded = tuple(scipy.fft.next_fast_len(side, real=True) * 2 for side in sides)
        shape = float(self._dof), base
        transform, own = kernel_transform(padded, spacing, self.order, shape)
        charges = np.zeros((N_CHUNKS, int(np.prod(sides))), np.float32)
        return Grid(sides, padded, spacing, base, transform, own, charges)

    def _choose_mesh(self, widths: NDArray[np.float64]) -> tuple[float, tuple[int, ...]]:
        """Return the spacing and the sides of a mesh for a map of these widths."""
        roomy = ROOM * widths
        spacing = min(self._finest, float(roomy.max()) / (MIN_SIDE - self.order)) or self._finest
        sides = np.maximum(roomy / spacing + self.order, MIN_SIDE)
        while np.prod(PADDING * sides) > MAX_NODES:
            spacing *= COARSEN
            sides = np.maximum(roomy / spacing + self.order, MIN_SIDE)
        return spacing, tuple(int(side) for side in np.ceil(sides))


def convolve(charges: NDArray[np.float32], grid: Grid) -> NDArray[np.float32]:
    """Return the potential at the nodes; the last axis is longer than the mesh."""
    # Axis by axis, so that padding is added late and removed early.
    workers = n_threads()
    *others, last = range(charges.ndim)
    waves = scipy.fft.rfft(charges, n=grid.padded[last], axis=last, workers=workers)
    for axis in reversed(others):
        waves = scipy.fft.fft(
            waves, n=grid.padded[axis], axis=axis, workers=workers, overwrite_x=True
        )
    waves *= grid.transform
    for axis in others:
        waves = scipy.fft.ifft(waves, axis=axis, workers=workers, overwrite_x=True)
        waves = waves[(slice(None),) * axis + (slice(grid.sides[axis]),)]
    field: NDArray[np.float32] = scipy.fft.irfft(
        waves, n=grid.padded[last], axis=last, workers=workers, overwrite_x=True
    )
    return field


def theta_for(accuracy: float, n_components: int) -> float:
    """Return the theta at which a tree is as accurate."""
    return min(1.0, THETA[n_components] * math.sqrt(accuracy / 0.01))


def in_three_dimensions(Y: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a map (d, n) as (3, n), with leading rows of zeros."""
    solid = np.zeros((3, Y.shape[1]), np.float32)
    solid[3 - len(Y) :] = Y
    return solid


def spline_order(accuracy: float, n_components: int, n_points: int) -> int:
    """Return the order of the spline that reaches an accuracy at the lowest cost."""
    is_rough = accuracy >= QUINTIC_BELOW
    return CUBIC if is_rough or n_points >= CUBIC_FROM[n_components] else QUINTIC


def widest_map(n_components: int, accuracy: float, n_points: int, dof: float = 1.0) -> float:
    """Return the width of a square map up to which the mesh keeps its accuracy."""
    order = spline_order(accuracy, n_components, n_points)
    side: float = MAX_NODES ** (1 / n_components) / PADDING - order
    return side * finest_spacing(accuracy, order, dof, n_points) / ROOM


def finest_spacing(accuracy: float, order: int, dof: float, n_points: int) -> float:
    """Return the spacing at which a spline of this order reaches the accuracy.

    The transform of w decays like exp(-sqrt(dof) k), so heavier tails need a finer mesh. Sparse
    maps need one too (docs/decisions/0005).
    """
    error, exponent = ERROR_AT_HALF[order]
    # The target error falls with the square root of n below SPARSE, at most by a factor 0.1^0.5
    # (chosen; not measured).
    share = min(max(n_points / SPARSE, 0.1), 1.0) if n_points else 1.0
    spacing = 0.5 * power(accuracy * math.sqrt(share) / error, 1 / exponent)
    return float(np.clip(spacing, FINEST, COARSEST) * min(1.0, math.sqrt(dof)))


def kernel_transform(
    padded: tuple[int, ...], spacing: float, order: int, shape: tuple[float, float]
) -> tuple[NDArray[np.float32], float]:
    """Return the transform of w on the padded mesh, and the mean potential of a point at itself.

    shape: dof, and a constant that is subtracted from w. The transform is divided twice by that of
    the spline. As w is even, it is real, and a cosine transform of one quadrant suffices.
    """
    dof, base = shape
    halves = [n // 2 + 1 for n in padded]
    squares: list[Array] = [(np.arange(half) * spacing) ** 2 for half in halves]
    w = similarity_at(reduce(np.add.outer, squares), dof) - base
    transform = scipy.fft.dctn(w, type=1, workers=n_threads(), overwrite_x=True)
    angles = [np.pi * np.arange(half) / (half - 1) for half in halves]
    once = reduce(np.multiply.outer, [spline_transform(angle, order) for angle in angles])
    twice = reduce(np.multiply.outer, [spline_transform(angle, 2 * order) for angle in angles])
    transform /= once**2
    # Spread and read a charge at the same point, averaged over positions between nodes.
    ends = [np.r_[0.5, np.ones(half - 2), 0.5] / (half - 1) for half in halves]
    own = float((transform * twice * reduce(np.multiply.outer, ends)).sum()) + base
    for axis, n in enumerate(padded[:-1]):
        mirror = np.r_[: n // 2 + 1, n // 2 - 1 : 0 : -1]
        transform = transform.take(mirror, axis=axis)
    return transform.astype(np.float32), own


def spline_transform(angles: NDArray[np.float64], order: int) -> NDArray[np.float64]:
    """Return the transform of a centered B-spline of even order, sampled at the nodes."""
    values = np.array([1.0])  # order 2; the recurrence raises the order at nodes 1 .. order - 1
    for k in range(3, order + 1):
        x = np.arange(1, k)
        longer = np.zeros(k - 1)
        longer[: k - 2] += x[: k - 2] * values
        longer[1:] += (k - x[1:]) * values
        values = longer / (k - 1)
    offsets = np.arange(1, order) - order // 2
    transform = np.zeros_like(angles)
    for offset, value in zip(offsets, values, strict=True):  # in a fixed order, unlike BLAS
        transform += value * each_cos(offset * angles)
    return transform
