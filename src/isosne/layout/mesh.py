"""Repulsion on a mesh: one potential, one pair of Fourier transforms; 1 to 3 dimensions.

The push on a point is the gradient of one scalar field, ``phi(y) = sum_j w(|y - y_j|)``:
``sum_j w u (y_i - y_j) = -grad phi / 2``, and ``Z = sum_i phi(y_i) - n``, for every dof. Each point
spreads a unit charge over the nearest nodes by a B-spline; the charges are convolved with w by
Fourier transform, divided by the spline's own transform, once for spreading and once for reading;
the spline and its derivative read phi and its gradient at the points.

Charges are summed in chunks of points that do not depend on the number of threads, and the chunks
in their order: the same bits on any number.
"""

from functools import reduce
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from isosne._numba import n_threads
from isosne._types import Array, Scalar
from isosne.layout.pair_terms import similarity_at
from isosne.layout.splines import read, spread, sum_chunks

CUBIC, QUINTIC = 4, 6
ERROR_AT_HALF = {CUBIC: (0.0285, 3.4), QUINTIC: (0.027, 4.8)}
"""Relative error of the forces at spacing 0.5, and the power of the spacing by which it grows.

Cubic: measured on a map of 70 000 points. Quintic, which is for fewer: on one of 10 000, which is
sparser, and on which the error is twice as large; in dense parts it is far less.
"""
SPARSE = 10_000
"""Points below which maps are so sparse that forces must be more accurate to draw the same map."""
QUINTIC_BELOW = 0.02
"""Accuracy from which on a higher order costs less than a finer mesh, for few points."""
CUBIC_FROM = {1: 3_000, 2: 30_000, 3: 300_000}
"""Points from which on a finer mesh costs less than a higher order, by dimensions of the map."""
MAX_NODES = 2**24
"""Nodes of the padded mesh at the most: some 300 MB. A wider map gets a wider spacing."""
PADDING = 2.1
"""Sides of the padded mesh, relative to those of the mesh, at the most as a rule."""
MIN_SIDE = 32
"""Nodes of a side at the least, before padding; a narrow map gets a finer mesh."""
ROOM = 1.1
"""How much wider than the map a new mesh is; a map grows most of the time."""
N_CHUNKS = 8
"""Copies of the mesh that charges are spread on in parallel; fixed, so threads change no bit."""


class MeshRepulsion:
    """Push between all points of a map, by way of a mesh.

    Parameters
    ----------
    n_components : int
        Dimensions of the map.
    dof : float, default=1.0
        Degrees of freedom of the map similarity.
    accuracy : float, default=0.01
        Relative error of the forces to aim at: root mean square over the points.
    n_points : int, default=0
        Points of the map, as far as they are known: they decide about the spline.

    Attributes
    ----------
    order : int
        Order of the spline: 4 (cubic) or 6 (quintic).
    spacing : float
        Distance between nodes. It grows if the map outgrows the largest mesh.
    """

    def __init__(
        self, n_components: int, dof: Scalar = 1.0, accuracy: float = 0.01, n_points: int = 0
    ) -> None:
        self.n_components = n_components
        self.order = spline_order(accuracy, n_components, n_points)
        self._dof = np.float32(dof)
        self._finest = finest_spacing(accuracy, self.order, float(dof), n_points)
        orders = (1,) * (3 - n_components) + (self.order,) * n_components
        self._zeros = tuple((np.float32(0),) * order for order in orders)
        self.spacing = self._finest
        self._sides: tuple[int, ...] = ()

    def push(self, Y: NDArray[np.float32], push: NDArray[np.float32]) -> float:
        """Fill push (3, n) at the map Y (3, n) and return Z; unused coordinates come first."""
        with np.errstate(all="ignore"):  # a map beyond all bounds: descent looks for it
            if not np.isfinite(Y.max(axis=1) - Y.min(axis=1)).all():
                push[:] = np.nan
                return np.nan
            origin, field = self.field(Y)
            potential = np.empty(Y.shape[1], np.float32)
            read(field, Y, origin, np.float32(1 / self.spacing), self._zeros, push, potential)
        return self._sum_of_w(potential, Y.shape[1])

    def field(self, Y: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the corner (3,) of a mesh around the map, and the potential at its nodes."""
        low, high = Y.min(axis=1), Y.max(axis=1)
        self._fit_mesh((high - low)[3 - self.n_components :].astype(np.float64))
        sides = (1,) * (3 - self.n_components) + self._sides
        margin = (np.array(sides) - [len(zeros) for zeros in self._zeros]) * self.spacing
        origin = ((low + high) / 2 - margin / 2).astype(np.float32)
        charges, bounds = self._charges, np.zeros((len(self._charges), 2), np.int64)
        spread(Y, origin, np.float32(1 / self.spacing), self._zeros, sides, bounds, charges)
        total = np.empty(charges.shape[1], np.float32)
        sum_chunks(charges, bounds, total)
        return origin, self._convolve(total.reshape(self._sides)).reshape((*sides[:-1], -1))

    def open(self, Y: NDArray[np.float32]) -> tuple[Any, ...]:
        """Return all that `read_at` needs to read the potential of a map Y (3, n) anywhere on it.

        Potential, corner, inverse spacing, the lowest and highest places that can be read (2, 3),
        and three tuples of zeros.
        """
        origin, field = self.field(Y)
        limits = np.stack([Y.min(axis=1), Y.max(axis=1)])
        return field, origin, np.float32(1 / self.spacing), limits, *self._zeros

    def state(self) -> dict[str, Array]:
        """Return the present mesh: it stays until the map outgrows it."""
        if not self._sides:
            return {}
        return {
            "mesh_sides": np.array(self._sides),
            "mesh_scale": np.array([self.spacing, self._base]),
        }

    def restore(self, state: dict[str, Array]) -> None:
        """Go back to a mesh."""
        if "mesh_sides" in state:
            spacing, base = map(float, state["mesh_scale"])
            self._make_mesh(spacing, tuple(map(int, state["mesh_sides"])), base)

    def _sum_of_w(self, potential: NDArray[np.float32], n_points: int) -> float:
        """Return the sum of w from some points to all others, given the potential there."""
        beyond = self._base * n_points - self._own
        return float(potential.sum(dtype=np.float64)) + beyond * len(potential)

    def _fit_mesh(self, widths: NDArray[np.float64]) -> None:
        """Make a new mesh if the map has outgrown the present one or needs far less."""
        spacing, sides = self._choose_mesh(np.where(np.isfinite(widths), widths, 0.0))
        if self._sides:
            covers = (widths / self.spacing + self.order <= self._sides).all()
            nodes = np.prod(self._sides) / np.prod(sides)
            if covers and self.spacing < ROOM**2 * spacing and nodes < ROOM**4:
                return
        base = float(similarity_at((widths**2).sum() / 4, float(self._dof)))
        self._make_mesh(spacing, sides, base)

    def _make_mesh(self, spacing: float, sides: tuple[int, ...], base: float) -> None:
        padded = tuple(scipy.fft.next_fast_len(side, real=True) * 2 for side in sides)
        self._sides, self._padded, self.spacing, self._base = sides, padded, spacing, base
        self._transform, self._own = kernel_transform(
            padded, spacing, self.order, (float(self._dof), self._base)
        )
        self._charges = np.zeros((N_CHUNKS, int(np.prod(sides))), np.float32)

    def _choose_mesh(self, widths: NDArray[np.float64]) -> tuple[float, tuple[int, ...]]:
        """Return spacing and sides of a mesh for a map of these widths."""
        roomy = ROOM * widths
        spacing = min(self._finest, float(roomy.max()) / (MIN_SIDE - self.order)) or self._finest
        sides = np.maximum(roomy / spacing + self.order, MIN_SIDE)
        while np.prod(PADDING * sides) > MAX_NODES:
            spacing *= 1.05
            sides = np.maximum(roomy / spacing + self.order, MIN_SIDE)
        return spacing, tuple(int(side) for side in np.ceil(sides))

    def _convolve(self, charges: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the potential at the nodes; the last axis is longer than the mesh."""
        workers = n_threads()
        *others, last = range(charges.ndim)
        waves = scipy.fft.rfft(charges, n=self._padded[last], axis=last, workers=workers)
        for axis in reversed(others):
            waves = scipy.fft.fft(
                waves, n=self._padded[axis], axis=axis, workers=workers, overwrite_x=True
            )
        waves *= self._transform
        for axis in others:
            waves = scipy.fft.ifft(waves, axis=axis, workers=workers, overwrite_x=True)
            waves = waves[(slice(None),) * axis + (slice(self._sides[axis]),)]
        field: NDArray[np.float32] = scipy.fft.irfft(
            waves, n=self._padded[last], axis=last, workers=workers, overwrite_x=True
        )
        return field


def spline_order(accuracy: float, n_components: int, n_points: int) -> int:
    """Return the order of the spline that reaches an accuracy at the least cost."""
    is_rough = accuracy >= QUINTIC_BELOW
    return CUBIC if is_rough or n_points >= CUBIC_FROM[n_components] else QUINTIC


def widest_map(n_components: int, accuracy: float, n_points: int, dof: float = 1.0) -> float:
    """Return the width of a map, the same along all axes, up to which a mesh is accurate."""
    order = spline_order(accuracy, n_components, n_points)
    side: float = MAX_NODES ** (1 / n_components) / PADDING - order
    return side * finest_spacing(accuracy, order, dof, n_points) / ROOM


def finest_spacing(accuracy: float, order: int, dof: float, n_points: int) -> float:
    """Return the spacing at which the forces of a spline of this order are accurate enough.

    The transform of w falls like exp(-sqrt(dof) k): heavier tails need a finer mesh. So do sparse
    maps, where a mesh costs little.
    """
    error, power = ERROR_AT_HALF[order]
    share = min(max(n_points / SPARSE, 0.1), 1.0) if n_points else 1.0
    spacing = 0.5 * (accuracy * share**0.5 / error) ** (1 / power)
    return float(np.clip(spacing, 0.05, 1.0) * min(1.0, dof**0.5))


def kernel_transform(
    padded: tuple[int, ...], spacing: float, order: int, shape: tuple[float, float]
) -> tuple[NDArray[np.float32], float]:
    """Return the transform of w on the padded mesh, and what a point feels of itself.

    shape: dof, and a constant that is taken from w. The transform is divided by the spline's,
    twice. It is real, as w is even: a cosine transform of a part of the mesh gives the whole.
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
    # A charge, spread and read again at the same place, on average over the places.
    ends = [np.r_[0.5, np.ones(half - 2), 0.5] / (half - 1) for half in halves]
    own = float((transform * twice * reduce(np.multiply.outer, ends)).sum()) + base
    for axis, n in enumerate(padded[:-1]):
        mirror = np.r_[: n // 2 + 1, n // 2 - 1 : 0 : -1]
        transform = transform.take(mirror, axis=axis)
    return transform.astype(np.float32), own


def spline_transform(angles: NDArray[np.float64], order: int) -> NDArray[np.float64]:
    """Return the transform of a centered B-spline of even order sampled at the nodes."""
    values = np.array([1.0])  # of order 2, at the nodes 1 .. order - 1
    for k in range(3, order + 1):
        x = np.arange(1, k)
        longer = np.zeros(k - 1)
        longer[: k - 2] += x[: k - 2] * values
        longer[1:] += (k - x[1:]) * values
        values = longer / (k - 1)
    offsets = np.arange(1, order) - order // 2
    transform: NDArray[np.float64] = np.cos(np.multiply.outer(angles, offsets)) @ values
    return transform
