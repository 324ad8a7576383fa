"""Place further points on a finished map, each independently of the others.

A new point is pulled toward the fitted points by its conditional probabilities, and pushed away
from all of them as the fitted points push each other: it finds the place that it would have had in
the map. The map itself stays as it is.
"""

import numpy as np
from numpy.typing import NDArray

from isosne._numba import parallel_kernel, prange
from isosne._types import Array, Scalar
from isosne.layout._pairs import map_similarity
from isosne.layout.exact import push_all

N_STEPS = 50


class Placement:
    """A finished map, ready to take further points.

    Parameters
    ----------
    embedding : array of shape (n, d)
        The map.
    dof : float
        Degrees of freedom of the map similarity.
    exaggeration : float, default=1.0
        Factor of attraction with which the map was drawn.
    """

    def __init__(
        self, embedding: NDArray[np.float32], dof: Scalar, exaggeration: float = 1.0
    ) -> None:
        self.n_components = embedding.shape[1]
        self._map = np.zeros((3, len(embedding)), np.float32)
        self._map[: self.n_components] = embedding.T
        self._dof = np.float32(dof)
        self._exaggeration = exaggeration
        sums = np.empty(len(embedding))
        push_all(self._map, self._dof, np.empty_like(self._map), sums)
        self._normalizer = sums.sum() / len(embedding)

    def place(self, similarity: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return a place (m, d) for each row of similarity (m, n) to the points of the map."""
        places = np.empty((3, len(similarity)), np.float32)
        strength = np.float32(self._exaggeration * self._normalizer)
        settle(similarity, self._map, self._dof, strength, places)
        return np.ascontiguousarray(places[: self.n_components].T)


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
