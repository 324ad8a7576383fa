"""Step 3's objectives in float64, from their definitions. Slow; imports nothing from isosne."""

import numpy as np


def map_probabilities(Y, dof):
    """Return Q (n, n) of a map Y (n, d): Student's t, or a Gaussian for dof = infinity."""
    sq_dist = ((Y[:, None] - Y) ** 2).sum(axis=2)
    w = np.exp(-sq_dist) if np.isinf(dof) else (1 + sq_dist / dof) ** (-(dof + 1) / 2)
    np.fill_diagonal(w, 0)
    return w / w.sum()


def divergence(P, Q):
    """Return KL(P || Q); where P is zero the term is zero."""
    at = P > 0
    return (P[at] * np.log(P[at] / Q[at])).sum()


def kl(P, Y, dof=1.0):
    return divergence(P, map_probabilities(Y, dof))


def nerv(P, Y, trade_off, dof=1.0):
    """Zero p counts as a thousandth of the mean in KL(Q || P), which is infinite otherwise."""
    Q = map_probabilities(Y, dof)
    floored = np.maximum(P, 1e-3 / len(P) ** 2)
    return trade_off * divergence(P, Q) + (1 - trade_off) * divergence(Q, floored)


def jse(P, Y, mixture, dof=1.0):
    Q = map_probabilities(Y, dof)
    M = mixture * P + (1 - mixture) * Q
    return divergence(P, M) / (1 - mixture) + divergence(Q, M) / mixture


def gradient(function, Y, step=1e-5):
    """Return the central differences of a function of the map."""
    result = np.empty_like(Y)
    for at in np.ndindex(*Y.shape):
        higher, lower = Y.copy(), Y.copy()
        higher[at] += step
        lower[at] -= step
        result[at] = (function(higher) - function(lower)) / (2 * step)
    return result
