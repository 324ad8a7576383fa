"""Step 3's repulsion in float64, from its definition. Slow; imports nothing from isosne."""

import numpy as np


def similarity(sq_dist, dof):
    """Return w: Student's t, or a Gaussian for dof = infinity."""
    return np.exp(-sq_dist) if np.isinf(dof) else (1 + sq_dist / dof) ** (-(dof + 1) / 2)


def steepness(sq_dist, dof):
    """Return u = -d log w / d(d^2)."""
    if np.isinf(dof):
        return np.ones_like(sq_dist)
    return (dof + 1) / 2 / (dof + sq_dist)


def potential(Y, dof):
    """Return phi (n,) at the points of a map Y (n, d): the sum of w over all, themselves too."""
    return np.array([similarity(((y - Y) ** 2).sum(axis=1), dof).sum() for y in Y.astype(float)])


def push(Y, dof):
    """Return sum_j w u (y_i - y_j), shape (n, d), for a map Y (n, d)."""
    Y = Y.astype(float)
    found = np.empty_like(Y)
    for i, y in enumerate(Y):
        sq_dist = ((y - Y) ** 2).sum(axis=1)
        found[i] = (similarity(sq_dist, dof) * steepness(sq_dist, dof)) @ (y - Y)
    return found


def sum_of_similarities(Y, dof):
    """Return Z, the sum of w over all pairs of two points, each counted twice."""
    Y = Y.astype(float)
    total = 0.0
    for i, y in enumerate(Y):
        w = similarity(((y - Y) ** 2).sum(axis=1), dof)
        total += np.delete(w, i).sum()
    return total
