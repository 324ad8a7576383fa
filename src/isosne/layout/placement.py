"""Place new points on a finished map, each independently of the others.

A new point is attracted to the fitted points in proportion to its conditional probabilities, and
repelled by all of them as the fitted points repel each other. The map itself does not change.
Placement is not part of the paper.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne import _lanes as lanes
from isosne._lanes import LANES, Vector, Vectors
from isosne._numba import kernel, parallel_kernel, prange
from isosne._types import Array, Masses, Scalar
from isosne.layout.all_pairs import Axes, by_axis, last_vector, leave_out_self, push_all
from isosne.layout.forces import Mass
from isosne.layout.mesh import MeshRepulsion, in_three_dimensions
from isosne.layout.objectives import map_similarity, minus_log_similarity
from isosne.layout.splines import read, read_at

N_STEPS = 50
"""Largest number of steps per new point (docs/decisions/0014)."""
DAMPING = 0.7
"""Fraction of a full step, which goes to the mean of the partners weighted by their attraction, and
by the repulsion beyond it. Full steps converge faster, but nothing keeps them from oscillating
(docs/decisions/0014)."""
SHORTEST = np.float32(1e-3)
"""Length of a step below which a point has come to rest, in units of the map, in which the
similarity of two points falls to one half at distance 1 (chosen)."""
LONGEST = np.float32(1)
"""Length of the longest step from few partners, along an axis. Between partners that are far apart,
attraction is weak, and a full step would leave the map (chosen)."""
N_STARTS = 3
"""Partners whose places are tried as starts, as the first may lie apart from the others; with 8 no
measure gains (docs/decisions/0014)."""
ACCURACY = 0.02
"""Accuracy of the mesh, which is computed once and has no near field. Placed points need less than
those of a map (chosen)."""
WEAKEST = 1e-20
"""Smallest factor of the attraction. If all points of the map are so far apart that their
similarities underflow, nothing repels, and the factor does not matter if it is not zero."""
Settings = tuple[Scalar, Scalar, bool]
"""Dof, factor of the attraction, and whether partners repel instead of a mesh."""


class Placement:
    """Places new points that are compared with all points of a finished map.

    ``embedding`` (n, d) is the map, which does not change; ``exaggeration`` that of the last phase.
    """

    def __init__(
        self, embedding: NDArray[np.float32], dof: Scalar, exaggeration: float = 1.0
    ) -> None:
        self._axes, self._dof = by_axis(embedding.T), np.float32(dof)
        # The fitted points have attraction p_ij ~ p_{j|i} / n against repulsion q_ij = w_ij / Z.
        # Multiplied by Z, repulsion is w and attraction p_{j|i} Z / n.
        sums = np.empty(len(embedding))
        push_all(self._axes, self._dof, (), np.empty(embedding.T.shape, np.float32), sums)
        leave_out_self(self._axes, self._dof, sums)
        self._strength = np.float32(max(exaggeration * sums.sum() / len(embedding), WEAKEST))

    def place(self, similarity: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return coordinates (m, d) for rows of similarity (m, n) to the points of the map."""
        m, n = similarity.shape
        if n < LANES:
            similarity = np.pad(similarity, ((0, 0), (0, LANES - n)))
        coordinates = np.empty((m, len(self._axes)), np.float32)
        settings = self._dof, self._strength
        settle(np.ascontiguousarray(similarity), n, self._axes, settings, coordinates)
        return coordinates


class ListedPlacement:
    """Places new points that are compared with a few points of a finished map.

    The repulsion of the map is computed once, on a mesh, and interpolated. If the map is too wide
    for a mesh, only the partners of a point repel it. A new point has the mass 1 / mean weight.
    """

    def __init__(
        self, embedding: Array, dof: Scalar, exaggeration: float = 1.0, masses: Masses | None = None
    ) -> None:
        n, self._n_components = embedding.shape
        solid = in_three_dimensions(embedding.T)
        own = solid[3 - self._n_components :]
        mass: Mass = () if masses is None else (masses.values,)
        Z = MeshRepulsion(self._n_components, dof).push(own, np.empty_like(own), mass)
        Z += 0.0 if masses is None else float(masses.within.sum())
        strength = np.float32(max(exaggeration * Z / n, WEAKEST))
        mesh = MeshRepulsion(self._n_components, dof, ACCURACY, cutoffs=(0.0,))
        opened = mesh.open(solid, mass)
        self._settings = np.float32(dof), strength, opened is None
        # If the map is too wide for a mesh, that of a single point is passed, and not used.
        self._mesh = opened or mesh.open(np.zeros_like(solid[:, :1]))
        self._limits = np.stack([solid.min(axis=1), solid.max(axis=1)])
        potential = np.zeros(n, np.float32)
        if opened is not None:
            field, origin, inverse, *zeros = opened
            read(field, solid, origin, inverse, tuple(zeros), np.empty_like(solid), potential)
        self._fitted = np.ascontiguousarray(solid.T), potential

    def place(
        self, partners: NDArray[np.integer[Any]], weights: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return coordinates (m, d) for partners (m, k) on the map and their weights (m, k)."""
        k = weights.shape[1]
        room = (0, 0), (0, max(0, LANES - k))
        partners, weights = np.pad(partners, room).astype(np.uint32), np.pad(weights, room)
        coordinates = np.empty((len(weights), 3), np.float32)
        mesh = self._limits, self._mesh
        settle_listed(partners, weights, k, self._fitted, self._settings, mesh, coordinates)
        return coordinates[:, 3 - self._n_components :]


@kernel
def most_similar(row: Array, n: int) -> tuple[int, Scalar]:
    """Return the place of the largest of the first n similarities, and their sum."""
    best, whole = 0, 0.0
    for j in range(n):
        whole += np.float64(row[j])
        if row[j] > row[best]:
            best = j
    return best, whole


@kernel
def add_balance(
    sums: tuple[Vector, Vectors], d: Vectors, pull: Vector, dof: Scalar, keep: Vector
) -> tuple[Vector, Vectors]:
    """Add pairs with differences d, where keep is 1, to the sums of pull u and (pull u - w u) d."""
    weights, gradient = sums
    w, u = map_similarity(lanes.sq_length(d), dof)
    u = u * keep
    return weights + pull * u, lanes.plus_product(gradient, pull * u - w * u, d)


@parallel_kernel
def settle(
    similarity: Array, n: int, Y: Axes, settings: tuple[Scalar, Scalar], coordinates: Array
) -> None:
    """Fill coordinates (m, d) of new points with similarity (m, n) to the n points of a map.

    Starts at the most similar point. settings: dof, and the factor of the attraction.
    """
    dof, strength = settings
    full, rest, keep = last_vector(n)
    for i in prange(similarity.shape[0]):
        weights = similarity[i]
        best, whole = most_similar(weights, n)
        factor = np.float32(strength / whole)
        x = lanes.repeated(lanes.point(Y, best))
        for _ in range(N_STEPS):
            found = lanes.splat(0), lanes.minus(x, x)
            for j in range(0, full, LANES):
                pull = factor * lanes.load(weights, j)
                found = add_balance(
                    found, lanes.minus(x, lanes.loaded(Y, j)), pull, dof, lanes.splat(1)
                )
            if full < n:
                pull = factor * lanes.load(weights, rest)
                found = add_balance(found, lanes.minus(x, lanes.loaded(Y, rest)), pull, dof, keep)
            # x - g / attraction is the mean weighted by attraction, shifted by the repulsion.
            attraction, gradient = lanes.total(found[0]), lanes.totals(found[1])
            if attraction == 0:  # underflow: all partners are too far away to matter
                break
            x = lanes.plus_product(
                x, lanes.splat(-np.float32(DAMPING) / attraction), lanes.repeated(gradient)
            )
        end = lanes.totals(x)  # all lanes are equal
        for c in range(len(Y)):
            coordinates[i, c] = end[c] / np.float32(LANES)


@kernel
def energy_at(
    at: tuple[Scalar, ...], near: Array, weights: Array, k: int, Y: Array, settings: Settings
) -> Scalar:
    """Return twice the potential energy of a new point that its k partners cause."""
    dof, factor, by_partners = settings
    energy = lanes.splat(0)
    for first in range(0, k, LANES):
        q, keep = lanes.vector_at(first, k, k)
        sq_dist = lanes.sq_length(lanes.minus(lanes.repeated(at), lanes.gathered(Y, near, q, at)))
        term = factor * lanes.load(weights, q) * minus_log_similarity(sq_dist, dof)
        if by_partners:
            term = term + map_similarity(sq_dist, dof)[0]
        energy = energy + term * keep
    return lanes.total(energy)


@kernel
def best_start(
    near: Array, weights: Array, k: int, fitted: tuple[Array, Array], settings: Settings
) -> Scalar:
    """Return the partner at whose place a new point has the lowest energy, among the first ones."""
    Y, potential = fitted
    best, lowest = near[0], np.float32(np.inf)
    for a in range(min(k, N_STARTS)):
        j = near[a]
        at = Y[j, 0], Y[j, 1], Y[j, 2]
        energy = potential[j] + energy_at(at, near, weights, k, Y, settings)
        if energy < lowest:
            best, lowest = j, energy
    return best


@parallel_kernel
def settle_listed(
    partners: Array,
    weights: Array,
    k: int,
    fitted: tuple[Array, Array],
    settings: Settings,
    mesh: tuple[Any, ...],
    coordinates: Array,
) -> None:
    """Fill coordinates (m, 3) like `settle`, from k partners, their weights and a mesh.

    fitted: the map (n, 3) and its potential (n,); mesh: lower and upper bounds of the coordinates
    (2, 3), within which the potential is known, and what `MeshRepulsion.open` returns.
    """
    dof, strength, by_partners = settings
    limits, (field, origin, inverse, zeros_a, zeros_b, zeros_c) = mesh
    Y, _ = fitted
    for i in prange(partners.shape[0]):
        near, x = partners[i], coordinates[i]
        factor = np.float32(strength / most_similar(weights[i], k)[1])
        x[:] = Y[best_start(near, weights[i], k, fitted, (dof, factor, by_partners))]
        step = np.empty(3, np.float32)
        for _ in range(N_STEPS):
            at = x[0], x[1], x[2]
            push = read_at(field, at, origin, inverse, (zeros_a, zeros_b, zeros_c))[1:]
            pulls, gradient = lanes.splat(0), lanes.repeated(at)
            gradient = lanes.minus(gradient, gradient)
            for first in range(0, k, LANES):
                q, keep = lanes.vector_at(first, k, k)
                d = lanes.minus(lanes.repeated(at), lanes.gathered(Y, near, q, at))
                w, u = map_similarity(lanes.sq_length(d), dof)
                u = u * keep
                pull = factor * lanes.load(weights[i], q) * u
                pulls = pulls + pull
                gradient = lanes.plus_product(gradient, pull - w * u if by_partners else pull, d)
            pulled, attraction = lanes.totals(gradient), lanes.total(pulls)
            if attraction == 0:
                break
            scale = np.float32(DAMPING) / attraction
            largest = np.float32(0)
            for c in range(3):  # repulsion enters the gradient with a minus sign
                step[c] = scale * (pulled[c] if by_partners else pulled[c] - push[c])
                largest = max(largest, abs(step[c]))
            shorter = LONGEST / max(largest, LONGEST)
            for c in range(3):
                x[c] = min(max(x[c] - shorter * step[c], limits[0, c]), limits[1, c])
            if largest < SHORTEST:
                break
