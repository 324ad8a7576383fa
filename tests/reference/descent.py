"""Step 3's descent in float64, by van der Maaten's rule. Slow; imports nothing from isosne."""

import numpy as np


def kl_gradient(P, Y, exaggeration=1.0):
    """Return the gradient (n, d) of KL(P || Q) with Student's t, attraction exaggerated (Eq. 8)."""
    difference = Y[:, None] - Y
    w = 1 / (1 + (difference**2).sum(axis=2))
    np.fill_diagonal(w, 0)
    force = (exaggeration * P - w / w.sum()) * w
    return 4 * (force[:, :, None] * difference).sum(axis=1)


def pull_term(Y, rows, places, strength):
    """Return strength / (2 n r^2) sum_i |y_i - a_i|^2, its gradient (n, d), and its stiffness (n,).

    r is the root mean square distance of the places from their center.
    """
    center = sum(places) / len(places)
    sq_radius = sum(((a - center) ** 2).sum() for a in places) / len(places)
    value, gradient, stiffness = 0.0, np.zeros(Y.shape), np.zeros(len(Y))
    for i, a in zip(rows, places, strict=True):
        value += strength / (2 * len(Y) * sq_radius) * ((Y[i] - a) ** 2).sum()
        gradient[i] = strength / (len(Y) * sq_radius) * (Y[i] - a)
        stiffness[i] = strength / (len(Y) * sq_radius)
    return value, gradient, stiffness


def descend(P, Y, phases, has_gains=True, pull=None):
    """Yield the map (n, d) after each step.

    phases: (steps, exaggeration, momentum, step). Gains grow by 0.2 where the signs of the gradient
    and of the last update differ, and shrink by a fifth where they agree. Without gains, momentum
    is at most 0.9 where the last update, followed further, would lead uphill. pull: rows, places
    and strength; the update of a pulled point is divided by 1 + its step length * stiffness.
    """
    Y = Y.astype(np.float64)
    update = np.zeros_like(Y)
    gains = np.ones_like(Y)
    for n_iter, exaggeration, momentum, step in phases:
        for _ in range(n_iter):
            gradient, stiffness = kl_gradient(P, Y, exaggeration), np.zeros(len(Y))
            if pull is not None:
                _, force, stiffness = pull_term(Y, *pull)
                gradient = gradient + force
            if has_gains:
                differ = np.sign(gradient) != np.sign(update)  # so all gains grow at the first step
                gains = np.maximum(np.where(differ, gains + 0.2, gains * 0.8), 0.01)
            is_braked = not has_gains and (gradient * update).sum() > 0
            length = step * gains
            kept = min(momentum, 0.9) if is_braked else momentum
            update = kept * update - length * gradient
            update /= 1 + length * stiffness[:, None]  # implicit in the pull
            Y = Y + update
            if pull is None:
                Y = Y - Y.mean(axis=0)
            yield Y.copy()
