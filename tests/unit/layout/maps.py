"""Maps (n, d) that repulsion is tested on, and its errors."""

import numpy as np


def uniform(n, d, width=20):
    return (width * np.random.default_rng(1).random((n, d))).astype(np.float32)


def uneven_clusters(n, d, widest=4.0, reach=15):
    """Three clusters, of which the narrowest holds most points and the widest the fewest."""
    rng = np.random.default_rng(2)
    which = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    widths = np.array([0.3, 1.0, widest])[which, None]
    centers = rng.uniform(-reach, reach, (3, d))[which]
    return (centers + widths * rng.normal(size=(n, d))).astype(np.float32)


def repel(Y, repulsion):
    """Return push (n, d) and Z at a map (n, d)."""
    push = np.full(Y.T.shape, 9, np.float32)
    Z = repulsion.push(np.ascontiguousarray(Y.T), push)
    return push.T, Z


def relative(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)
