"""Keep the samples of drawn partitionings uniform while rows are added.

A sample of an earlier fit is kept as far as a uniform sample of all rows can agree with it, so that
the similarity of earlier rows changes little (compare reservoir sampling, Vitter 1985).
"""

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array


def grow_samples(
    samples: Array, n_before: int, n_points: int, psi: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return samples (t, psi) of n_points rows from samples of the first n_before of them.

    Each is a uniform sample without replacement: the number of added rows in it is that of a new
    draw; given this number, both the earlier rows and the added rows in it are uniform samples.
    """
    grown = np.empty((len(samples), psi), np.int64)
    for sample, row in zip(samples, grown, strict=True):
        drawn = rng.choice(n_points, psi, replace=False, shuffle=False)
        added = drawn[drawn >= n_before]
        n_kept = psi - len(added)
        if n_kept <= len(sample):
            kept = rng.choice(sample, n_kept, replace=False, shuffle=False)
        else:
            others = np.setdiff1d(np.arange(n_before), sample, assume_unique=True)
            more = rng.choice(others, n_kept - len(sample), replace=False, shuffle=False)
            kept = np.concatenate([sample, more])
        row[:] = np.sort(np.concatenate([kept, added]))
    return grown
