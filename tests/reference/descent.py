"""Step 3's descent in float64, by van der Maaten's rule. Slow; imports nothing from isosne."""

import numpy as np


def kl_gradient(P, Y, exaggeration=1.0):
    """Return the gradient (n, d) of KL(P || Q) with Student's t, attraction exaggerated (Eq. 8)."""
    difference = Y[:, None] - Y
    w = 1 / (1 + (difference**2).sum(axis=2))
    np.fill_diagonal(w, 0)
    force = (exaggeration * P - w / w.sum()) * w
    return 4 * (force[:, :, None] * difference).sum(axis=1)


def descend(P, Y, phases, min_gain=0.01):
    """Yield the map (n, d) after each step.

    phases: (steps, exaggeration, momentum, step). Gains grow by 0.2 where the signs of the gradient
    and of the last update differ, and shrink by a fifth where they agree.
    """
    Y = Y.astype(np.float64)
    update = np.zeros_like(Y)
    gains = np.ones_like(Y)
    for n_iter, exaggeration, momentum, step in phases:
        for _ in range(n_iter):
            gradient = kl_gradient(P, Y, exaggeration)
            differ = np.sign(gradient) != np.sign(update)  # so all gains grow at the first step
            gains = np.maximum(np.where(differ, gains + 0.2, gains * 0.8), min_gain)
            update = momentum * update - step * gains * gradient
            Y = Y + update
            Y = Y - Y.mean(axis=0)
            yield Y.copy()
