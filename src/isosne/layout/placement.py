"""Place further points on a finished map, each independently of the others.

A new point is pulled toward the fitted points by its conditional probabilities, and pushed away
from all of them as the fitted points push each other: it finds the place that it would have had in
the map. The map itself stays as it is.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._numba import parallel_kernel, prange
from isosne._types import Array, Scalar
from isosne.layout.exact import push_all
from isosne.layout.mesh import MeshRepulsion
from isosne.layout.pair_terms import map_similarity
from isosne.layout.splines import read_at

N_STEPS = 50


class FinishedMap:
    """A map that stays as it is.

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

    def _as_rows(self, places: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.ascontiguousarray(places[-self._n_components :].T)


class Placement(FinishedMap):
    """Takes further points that are compared with all points of the map.

    Parameters
    ----------
    embedding, dof
        As in `FinishedMap`.
    exaggeration : float, default=1.0
        Factor of attraction with which the map was drawn.
    """

    def __init__(
        self, embedding: NDArray[np.float32], dof: Scalar, exaggeration: float = 1.0
    ) -> None:
        super().__init__(embedding, dof)
        sums = np.empty(len(embedding))
        push_all(self._map, self._dof, np.empty_like(self._map), sums)
        self._strength = np.float32(exaggeration * sums.sum() / len(embedding))

    def place(self, similarity: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return a place (m, d) for each row of similarity (m, n) to the points of the map."""
        places = np.empty((3, len(similarity)), np.float32)
        settle(similarity, self._map, self._dof, self._strength, places)
        return self._as_rows(places)


class ListedPlacement(FinishedMap):
    """Takes further points that know a few points of the map, which may have many.

    The push of the map is computed once, on a mesh, and read wherever a point goes.

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
        """Return a place (m, d) for each row of weights (m, k) of points of the map (m, k)."""
        places = np.empty((3, len(rows)), np.float32)
        settle_listed(partners, rows, self._map, (self._dof, self._strength), self._mesh, places)
        return self._as_rows(places)


def as_columns(embedding: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a map (n, d) as three rows of coordinates; those that it does not have are zero."""
    columns = np.zeros((3, len(embedding)), np.float32)
    columns[-embedding.shape[1] :] = embedding.T
    return columns


@parallel_kernel
def settle(similarity: Array, Y: Array, dof: Scalar, strength: Scalar, places: Array) -> None:
    """Fill places[:, i] with the place of new point i; similarity (m, n), Y (3, n), places (3, m).

    Starts at the most similar point and repeats: the mean of the fitted points weighted by their
    pull, less the push of all. strength is the weight of attraction. O(m n) a step.
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
            scale = np.float32(0.5) / weight
            x0 -= scale * g0
            x1 -= scale * g1
            x2 -= scale * g2
        places[0, i], places[1, i], places[2, i] = x0, x1, x2


@parallel_kernel
def settle_listed(
    partners: Array,
    rows: Array,
    Y: Array,
    settings: tuple[Scalar, Scalar],
    mesh: tuple[Any, ...],
    places: Array,
) -> None:
    """Fill places[:, i] as `settle` does, from partners (m, k) and their weights, with a mesh.

    settings: dof and strength; mesh as from `MeshRepulsion.open`. O(m k) a step.
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
            x0 = min(max(x0, limits[0, 0]), limits[1, 0])
            x1 = min(max(x1, limits[0, 1]), limits[1, 1])
            x2 = min(max(x2, limits[0, 2]), limits[1, 2])
            zeros = zeros_a, zeros_b, zeros_c
            _, g0, g1, g2 = read_at(field, (x0, x1, x2), origin, inverse, zeros)
            g0, g1, g2 = -g0, -g1, -g2
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
            scale = np.float32(0.5) / weight
            x0 -= scale * g0
            x1 -= scale * g1
            x2 -= scale * g2
        places[0, i], places[1, i], places[2, i] = x0, x1, x2
