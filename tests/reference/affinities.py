"""Step 2, word for word: Eq. 2 (or 9) and Eq. 3. Slow on purpose; imports nothing from isosne."""

import numpy as np


def joint(layers):
    """Return P from similarity layers (n_scales, n, n): normalize, average, symmetrize."""
    n = layers.shape[1]
    conditional = np.zeros((n, n))
    for i in range(n):
        rows = []
        for K in layers:
            others = sum(K[i, k] for k in range(n) if k != i)
            if others > 0:
                rows.append([K[i, j] / others if j != i else 0.0 for j in range(n)])
        conditional[i] = np.mean(rows, axis=0)
    return (conditional + conditional.T) / (2 * n)


def joint_of_lists(partners, rows):
    """Return P (n, n) from lists: partners (n, k) and their p_{j|i}; who is not listed has none."""
    n = len(partners)
    conditional = np.zeros((n, n))
    for i in range(n):
        for j, p in zip(partners[i], rows[i], strict=True):
            conditional[i, j] = p
    return (conditional + conditional.T) / (2 * n)
