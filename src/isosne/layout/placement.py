"""Place new points on a finished map, each independently of the others.

A new point is attracted to the fitted points in proportion to its conditional probabilities, and
repelled by all of them as the fitted points repel each other. The map itself does not change.
Placement is not part of the paper.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._numba import parallel_kernel, prange
from isosne._types import Array, Scalar
from isosne.layout.exact import push_all
from isosne.layout.mesh_repulsion import MeshRepulsion
from isosne.layout.pair_terms import map_similarity
from isosne.layout.splines import read_at

N_STEPS = 50
"""Number of steps per new point (chosen; convergence was not measured)."""
DAMPING = 0.5
"""Fraction of a full step, which goes to the mean of the partners weighted by their attraction.
Half a step, against oscillation (chosen; not measured)."""


class FinishedMap:
    """A map that does not change.

    Parameters
    ----------
    embedding : array of shape (n, d)
        The map.
    dof : float
        Degrees of freedom of the map similarity.
    """

    def __init__(self, embedding: NDArray[np.float32], dof: Scalar) -> None:
        self._map = as_columns(embedding)
        self._n_components = embedding.shape[1]
        self._dof = np.float32(dof)

    def _as_rows(self, coordinates: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.ascontiguousarray(coordinates[-self._n_components :].T)


class Placement(FinishedMap):
    """Places new points that are compared with all points of the map.

    Parameters
    ----------
    embedding, dof
        As in `FinishedMap`.
    exaggeration : float, default=1.0
        Exaggeration of the last phase of the optimization.
    """

    def __init__(
        self, embedding: NDArray[np.float32], dof: Scalar, exaggeration: float = 1.0
    ) -> None:
        super().__init__(embedding, dof)
        # The fitted points have attraction p_ij ~ p_{j|i} / n against repulsion q_ij = w_ij / Z.
        # Multiplied by Z, repulsion is w and attraction p_{j|i} Z / n.
        sums = np.empty(len(embedding))
        push_all(self._map, self._dof, np.empty_like(self._map), sums)
        self._strength = np.float32(exaggeration * sums.sum() / len(embedding))

    def place(self, similarity: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return coordinates (m, d) for rows of similarity (m, n) to the points of the map."""
        coordinates = np.empty((3, len(similarity)), np.float32)
        settle(similarity, self._map, self._dof, self._strength, coordinates)
        return self._as_rows(coordinates)


class ListedPlacement(FinishedMap):
    """Places new points that are compared with a few points of the map.

    The repulsion of the map is computed once, on a mesh, and interpolated.

    Parameters
    ----------
    embedding, dof, exaggeration
        As in `Placement`.
    """

    def __init__(
        self, embedding: NDArray[np.float32], dof: Scalar, exaggeration: float = 1.0
    ) -> None:
        super().__init__(embedding, dof)
        mesh = MeshRepulsion(self._n_components, dof, n_points=len(embedding))
        Z = mesh.push(self._map, np.empty_like(self._map))
        self._strength = np.float32(exaggeration * Z / len(embedding))
        self._mesh = mesh.open(self._map)

    def place(
        self, partners: NDArray[np.integer[Any]], rows: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return coordinates (m, d) for partners (m, k) on the map and their weights (m, k)."""
        coordinates = np.empty((3, len(rows)), np.float32)
        settings = self._dof, self._strength
        settle_listed(partners, rows, self._map, settings, self._mesh, coordinates)
        return self._as_rows(coordinates)


def as_columns(embedding: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a map (n, d) as an array (3, n), with leading rows of zeros."""
    columns = np.zeros((3, len(embedding)), np.float32)
    columns[-embedding.shape[1] :] = embedding.T
    return columns


@parallel_kernel
def settle(similarity: Array, Y: Array, dof: Scalar, strength: Scalar, coordinates: Array) -> None:
    """Fill coordinates (3, m) of new points with similarity (m, n) to the points Y (3, n).

    Starts at the most similar point; each step moves DAMPING of the way to the mean of the fitted
    points, weighted by their attraction, minus the repulsion. strength is the factor of the
    attraction. O(m n) per step.
    """
    n = Y.shape[1]
    for i in prange(similarity.shape[0]):
        row = similarity[i]
        best = 0
        total = np.float32(0)
        for j in range(n):
            total += row[j]
            if row[j] > row[best]:
                best = j
        x0, x1, x2 = Y[0, best], Y[1, best], Y[2, best]
        for _ in range(N_STEPS):
            weight = np.float32(0)
            g0 = g1 = g2 = np.float32(0)
            for j in range(n):
                d0, d1, d2 = x0 - Y[0, j], x1 - Y[1, j], x2 - Y[2, j]
                w, u = map_similarity(d0 * d0 + d1 * d1 + d2 * d2, dof)
                pull = row[j] / total * strength * u
                weight += pull
                force = pull - w * u
                g0 += force * d0
                g1 += force * d1
                g2 += force * d2
            # x - g / weight is the mean weighted by attraction, shifted by the repulsion.
            scale = np.float32(DAMPING) / weight
            x0 -= scale * g0
            x1 -= scale * g1
            x2 -= scale * g2
        coordinates[0, i], coordinates[1, i], coordinates[2, i] = x0, x1, x2


@parallel_kernel
def settle_listed(
    partners: Array,
    rows: Array,
    Y: Array,
    settings: tuple[Scalar, Scalar],
    mesh: tuple[Any, ...],
    coordinates: Array,
) -> None:
    """Fill coordinates (3, m) like `settle`, from partners (m, k), their weights and a mesh.

    settings: dof and strength; mesh as from `MeshRepulsion.open`. O(m k) per step.
    """
    dof, strength = settings
    field, origin, inverse, limits, zeros_a, zeros_b, zeros_c = mesh
    n_partners = partners.shape[1]
    for i in prange(partners.shape[0]):
        best = 0
        total = np.float32(0)
        for q in range(n_partners):
            total += rows[i, q]
            if rows[i, q] > rows[i, best]:
                best = q
        first = partners[i, best]
        x0, x1, x2 = Y[0, first], Y[1, first], Y[2, first]
        for _ in range(N_STEPS):
            # The potential is known only on the map, so the point stays inside its bounds.
            x0 = min(max(x0, limits[0, 0]), limits[1, 0])
            x1 = min(max(x1, limits[0, 1]), limits[1, 1])
            x2 = min(max(x2, limits[0, 2]), limits[1, 2])
            zeros = zeros_a, zeros_b, zeros_c
            _, g0, g1, g2 = read_at(field, (x0, x1, x2), origin, inverse, zeros)
            g0, g1, g2 = -g0, -g1, -g2  # repulsion enters the gradient with a minus sign
            weight = np.float32(0)
            for q in range(n_partners):
                j = partners[i, q]
                d0, d1, d2 = x0 - Y[0, j], x1 - Y[1, j], x2 - Y[2, j]
                _, u = map_similarity(d0 * d0 + d1 * d1 + d2 * d2, dof)
                pull = rows[i, q] / total * strength * u
                weight += pull
                g0 += pull * d0
                g1 += pull * d1
                g2 += pull * d2
            scale = np.float32(DAMPING) / weight
            x0 -= scale * g0
            x1 -= scale * g1
            x2 -= scale * g2
        coordinates[0, i], coordinates[1, i], coordinates[2, i] = x0, x1, x2
