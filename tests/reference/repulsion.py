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


def near_part(sq_dist, cutoff, dof):
    """Return w minus its Taylor polynomial of second order in d^2 around the cutoff, or zero.

    The derivatives of w are taken by differences, so that they are not those of the program.
    """
    center, step = cutoff**2, 1e-3 * cutoff**2
    below, middle, above = (similarity(center + k * step, dof) for k in (-1, 0, 1))
    slope, curvature = (above - below) / (2 * step), (above - 2 * middle + below) / step**2
    t = sq_dist - center
    rest = similarity(sq_dist, dof) - (middle + t * (slope + t * curvature / 2))
    return np.where(t < 0, rest, 0.0)


def near_potential(at, Y, cutoff, dof):
    """Return the sum of the near parts of w at a position, over all points of a map Y (n, d)."""
    return near_part(((at - Y.astype(float)) ** 2).sum(axis=1), cutoff, dof).sum()


def sum_of_similarities(Y, dof):
    """Return Z, the sum of w over all pairs of two points, each counted twice."""
    Y = Y.astype(float)
    total = 0.0
    for i, y in enumerate(Y):
        w = similarity(((y - Y) ** 2).sum(axis=1), dof)
        total += np.delete(w, i).sum()
    return total
