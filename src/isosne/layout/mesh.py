"""Repulsion on a mesh with one pair of Fourier transforms, in 1 to 3 dimensions.

The repulsion is the gradient of a scalar field, ``phi(y) = sum_j w(|y - y_j|)``:
``sum_j w u (y_i - y_j) = -grad phi / 2`` and ``Z = sum_i phi(y_i) - n``, for every dof. Each point
spreads a unit charge over the nearest nodes with a cubic B-spline. The charges are convolved with w
by Fourier transforms, divided twice by the transform of the spline (for spreading and reading). The
spline and its derivative then read phi and its gradient at the points (docs/decisions/0005). On a
wide map, the part of w that varies quickly is summed over near pairs, and the mesh is coarse
(`near_field`, docs/decisions/0013).

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
from isosne.layout import near_field
from isosne.layout.all_pairs import mass_sum
from isosne.layout.forces import Mass, Repulsion
from isosne.layout.near_field import Cells, smooth_similarity, sort_into_cells
from isosne.layout.splines import read, spread, sum_chunks
from isosne.layout.tree import TreeRepulsion

ORDER = 4
"""Order of the cubic B-splines: number of nodes that a point touches per axis."""
CUTOFFS = (0.0, 2.0, 3.0, 4.0, 6.0)
"""Cutoffs of the near field to choose from; 0 is none."""
ERROR_AT_HALF = 0.057, 3.4
"""Without a cutoff: relative error of the forces at spacing 0.5 on maps of few points, and the
power of the spacing with which it grows (docs/decisions/0005)."""
ERROR_AT_FOUR = {1: 0.007, 2: 0.007, 3: 0.013}
"""With a cutoff R: relative error by map dimension, at R = 4 and spacing 0.4 R. 2-D and 3-D:
docs/decisions/0013; 1-D: as in 2-D."""
GROWTH, FALL = 2.5, 1.2
"""Powers of the spacing with which this error grows, and of R with which it falls (0013)."""
COARSEST = 0.6
"""Largest spacing, as a fraction of the cutoff, for which the error was measured."""
PAIRS_PER_NODE = 12
"""Near pairs that count as much as a node of the padded mesh (chosen: docs/decisions/0013)."""
CROWDED = 3.0
"""A mesh is replaced when the near pairs are this many times those for which it was chosen, and
also more than MANY_PAIRS per point (chosen)."""
MANY_PAIRS = 64
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
FINEST, WIDEST = 0.05, 1.0
"""Bounds of the spacing without a cutoff, in map units, whose similarity w has width 1 (chosen)."""
N_CHUNKS = 8
"""Copies of the mesh that charges are spread on in parallel (chosen). It is fixed, so that results
do not depend on the number of threads."""
THETA = {1: 0.5, 2: 0.5, 3: 0.85}
"""Theta, by map dimension, at which a tree has an error below 0.01: 0.0090 in 2-D and 0.0085 in 3-D
on 12 clusters of 1000 points. The error grows with the square of theta."""


class Shape(NamedTuple):
    """What determines a mesh.

    sides: nodes per axis; spacing: distance between nodes; base: constant that is subtracted from
    w; cutoff: of the near field, or 0; n_pairs: near pairs of the map it was made for.
    """

    sides: tuple[int, ...]
    spacing: float
    base: float
    cutoff: float
    n_pairs: float


class Grid(NamedTuple):
    """A mesh with what a convolution needs.

    padded: nodes per axis, padded; transform: of w, on the padded mesh; own: potential of a point
    at itself; charges: scratch, one mesh per chunk.
    """

    shape: Shape
    padded: tuple[int, ...]
    transform: NDArray[np.float32]
    own: float
    charges: NDArray[np.float32]


class MeshRepulsion(Repulsion):
    """Repulsion between all points of a map, computed on a mesh.

    ``accuracy`` is the target for the relative error of the forces (root mean square over the
    points), ``cutoffs`` those of the near field to choose from; 0 is none. If a map is so wide that
    the largest mesh would be too coarse for the accuracy, a tree takes its place.
    """

    def __init__(
        self,
        n_components: int,
        dof: Scalar = 1.0,
        accuracy: float = 0.01,
        cutoffs: tuple[float, ...] = CUTOFFS,
    ) -> None:
        self.n_components = n_components
        self._theta = min(1.0, THETA[n_components] * math.sqrt(accuracy / 0.01))
        self._dof = np.float32(dof)
        self._spacings = {R: spacing_for(n_components, accuracy, float(dof), R) for R in cutoffs}
        orders = (1,) * (3 - n_components) + (ORDER,) * n_components
        self._zeros = tuple((np.float32(0),) * order for order in orders)
        self._grid: Grid | None = None
        self._tree: TreeRepulsion | None = None

    def push(self, Y: NDArray[np.float32], push: NDArray[np.float32], masses: Mass = ()) -> float:
        with np.errstate(all="ignore"):  # a diverged map: `descend` detects it
            if not np.isfinite(Y.max(axis=1) - Y.min(axis=1)).all():
                push[:] = np.nan
                return np.nan
            grid, cells = self._fit_grid(Y)
            if grid is None:  # a tree, whose accuracy and cost do not depend on the width
                self._tree = self._tree or TreeRepulsion(len(Y), self._dof, self._theta)
                return self._tree.push(Y, push, masses)
            solid = in_three_dimensions(Y)
            origin, field = self._field(solid, grid, masses)
            found, potential = np.empty_like(solid), np.empty(Y.shape[1], np.float32)
            inverse = np.float32(1 / grid.shape.spacing)
            read(field, solid, origin, inverse, self._zeros, found, potential)
            push[:] = found[3 - len(Y) :]
            n = len(potential)
            # Add back the constant that was subtracted from w; remove each point's own potential.
            Z = float(potential.sum(dtype=np.float64)) + (grid.shape.base * n - grid.own) * n
            if masses:
                whole, squares = (mass_sum(part, masses) for part in (np.ones(n), masses[0]))
                Z = mass_sum(potential.astype(np.float64), masses)
                Z += grid.shape.base * whole**2 - grid.own * squares
            if cells is not None:
                Z += near_field.add_near(cells, grid.shape.cutoff, self._dof, push, masses)
        return Z

    def _field(
        self, Y: NDArray[np.float32], grid: Grid, masses: Mass
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the corner (3,) of a mesh that covers a map Y (3, n), and the potential there."""
        low, high = Y.min(axis=1), Y.max(axis=1)
        sides = (1,) * (3 - self.n_components) + grid.shape.sides
        step = grid.shape.spacing
        margin = (np.array(sides) - [len(zeros) for zeros in self._zeros]) * step
        origin = ((low + high) / 2 - margin / 2).astype(np.float32)
        bounds = np.zeros((len(grid.charges), 2), np.int64)
        spread(Y, origin, np.float32(1 / step), self._zeros, sides, masses, bounds, grid.charges)
        total = np.empty(grid.charges.shape[1], np.float32)
        sum_chunks(grid.charges, bounds, total)
        return origin, convolve(total.reshape(grid.shape.sides), grid).reshape((*sides[:-1], -1))

    def open(self, Y: NDArray[np.float32], masses: Mass = ()) -> tuple[Any, ...] | None:
        """Return what `read_at` needs to read the potential of a map Y (3, n), but the near field.

        Potential, corner, inverse spacing, three tuples of zeros; None if the map is too wide.
        """
        grid, _ = self._fit_grid(Y[3 - self.n_components :])
        if grid is None:
            return None
        origin, field = self._field(Y, grid, masses)
        return field, origin, np.float32(1 / grid.shape.spacing), *self._zeros

    def state(self) -> dict[str, Array]:
        if self._grid is None:
            return {}
        sides, *scale = self._grid.shape
        return {"mesh_sides": np.array(sides), "mesh_scale": np.array(scale)}

    def restore(self, state: dict[str, Array]) -> None:
        if "mesh_sides" in state:
            sides = tuple(map(int, state["mesh_sides"]))
            self._grid = self._make_grid(Shape(sides, *map(float, state["mesh_scale"])))

    def _fit_grid(self, Y: NDArray[np.float32]) -> tuple[Grid | None, Cells | None]:
        """Return a mesh for a map (d, n), or None if the map is too wide; and sorted points."""
        widths = (Y.max(axis=1) - Y.min(axis=1)).astype(np.float64)
        if self._grid and self._suits(self._grid.shape, widths):
            cells = sort_into_cells(Y, self._grid.shape.cutoff)
            crowded = max(CROWDED * self._grid.shape.n_pairs, MANY_PAIRS * Y.shape[1])
            if cells is None or near_field.n_compared(cells) <= crowded:
                return self._grid, cells
        shape = self._choose_mesh(Y, widths)
        if shape is None:
            return None, None
        # One assignment, so that an interrupt leaves either the old mesh or the new one.
        self._grid = self._make_grid(shape)
        return self._grid, sort_into_cells(Y, shape.cutoff)

    def _suits(self, shape: Shape, widths: NDArray[np.float64]) -> bool:
        """Return whether a mesh covers a map, and is neither too coarse nor much too large."""
        spacing, sides = mesh_for(widths, self._spacings[shape.cutoff])
        covers = (widths / shape.spacing + ORDER <= shape.sides).all()
        waste = np.prod(shape.sides) / np.prod(sides)
        return bool(covers and shape.spacing < ROOM**2 * spacing and waste < MAX_WASTE)

    def _choose_mesh(self, Y: NDArray[np.float32], widths: NDArray[np.float64]) -> Shape | None:
        """Return the mesh that takes the least time, with its near pairs; None if all are large."""
        best, least = None, np.inf
        for cutoff, finest in self._spacings.items():
            spacing, sides = mesh_for(widths, finest)
            n_nodes = float(np.prod(PADDING * np.array(sides)))
            if n_nodes > MAX_NODES or n_nodes * PAIRS_PER_NODE >= least:
                continue
            n_pairs = near_field.n_near_pairs(Y, cutoff)
            if n_nodes * PAIRS_PER_NODE + n_pairs < least:
                least = n_nodes * PAIRS_PER_NODE + n_pairs
                # w at half the map's width. Subtracting it avoids cancellation in float32 on narrow
                # maps, where the potential is nearly constant (docs/decisions/0005, "Early steps").
                half = (widths**2).sum() / 4
                base = float(smooth_similarity(half, float(self._dof), cutoff))
                best = Shape(sides, spacing, base, cutoff, n_pairs)
        return best

    def _make_grid(self, shape: Shape) -> Grid:
        # Padding to twice the side makes the cyclic convolution of the transform a linear one.
        padded = tuple(scipy.fft.next_fast_len(side, real=True) * 2 for side in shape.sides)
        transform, own = kernel_transform(padded, shape, float(self._dof))
        charges = np.zeros((N_CHUNKS, int(np.prod(shape.sides))), np.float32)
        return Grid(shape, padded, transform, own, charges)


def mesh_for(widths: NDArray[np.float64], finest: float) -> tuple[float, tuple[int, ...]]:
    """Return the spacing, at most `finest`, and the sides of a mesh for a map of these widths."""
    roomy = ROOM * widths
    spacing = min(finest, float(roomy.max()) / (MIN_SIDE - ORDER)) or finest
    sides = np.maximum(roomy / spacing + ORDER, MIN_SIDE)
    return spacing, tuple(int(side) for side in np.ceil(sides))


def convolve(charges: NDArray[np.float32], grid: Grid) -> NDArray[np.float32]:
    """Return the potential at the nodes; the last axis is longer than the mesh."""
    # Axis by axis, so that padding is added late and removed early.
    workers = n_threads()
    *others, last = range(charges.ndim)
    waves = scipy.fft.rfft(charges, n=grid.padded[last], axis=last, workers=workers)
    for axis in reversed(others):
        n = grid.padded[axis]
        waves = scipy.fft.fft(waves, n=n, axis=axis, workers=workers, overwrite_x=True)
    waves *= grid.transform
    for axis in others:
        waves = scipy.fft.ifft(waves, axis=axis, workers=workers, overwrite_x=True)
        waves = waves[(slice(None),) * axis + (slice(grid.shape.sides[axis]),)]
    field: NDArray[np.float32] = scipy.fft.irfft(
        waves, n=grid.padded[last], axis=last, workers=workers, overwrite_x=True
    )
    return field


def in_three_dimensions(Y: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a map (d, n) as (3, n), with leading rows of zeros."""
    solid = np.zeros((3, Y.shape[1]), np.float32)
    solid[3 - len(Y) :] = Y
    return solid


def widest_map(n_components: int, accuracy: float, dof: float = 1.0) -> float:
    """Return the width of a square map up to which the mesh keeps its accuracy."""
    side: float = MAX_NODES ** (1 / n_components) / PADDING - ORDER
    return side * spacing_for(n_components, accuracy, dof, CUTOFFS[-1]) / ROOM


def spacing_for(n_components: int, accuracy: float, dof: float, cutoff: float) -> float:
    """Return the spacing at which the forces reach the accuracy.

    Without a cutoff: the transform of w decays like exp(-sqrt(dof) k), so heavier tails need a
    finer mesh.
    """
    if cutoff:
        error = ERROR_AT_FOUR[n_components]
        allowed = power(accuracy * power(cutoff / 4, FALL) / error, 1 / GROWTH)
        return cutoff * float(min(0.4 * allowed, COARSEST))
    error, exponent = ERROR_AT_HALF
    spacing = 0.5 * power(accuracy / error, 1 / exponent)
    return float(np.clip(spacing, FINEST, WIDEST) * min(1.0, math.sqrt(dof)))


def kernel_transform(
    padded: tuple[int, ...], shape: Shape, dof: float
) -> tuple[NDArray[np.float32], float]:
    """Return the transform of w, divided twice by that of the spline, and a point's own potential.

    As w is even, the transform is real, and a cosine transform of one quadrant suffices.
    """
    halves = [n // 2 + 1 for n in padded]
    squares: list[Array] = [(np.arange(half) * shape.spacing) ** 2 for half in halves]
    w = smooth_similarity(reduce(np.add.outer, squares), dof, shape.cutoff) - shape.base
    transform = scipy.fft.dctn(w, type=1, workers=n_threads(), overwrite_x=True)
    angles = [np.pi * np.arange(half) / (half - 1) for half in halves]
    once = reduce(np.multiply.outer, [spline_transform(angle, ORDER) for angle in angles])
    twice = reduce(np.multiply.outer, [spline_transform(angle, 2 * ORDER) for angle in angles])
    transform /= once**2
    # Spread and read a charge at the same point, averaged over positions between nodes.
    ends = [np.r_[0.5, np.ones(half - 2), 0.5] / (half - 1) for half in halves]
    own = float((transform * twice * reduce(np.multiply.outer, ends)).sum()) + shape.base
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
