"""What to show of a large table before its map has a first step."""

import numpy as np
from numpy.typing import NDArray

from isosne._types import Points

MIN_POINTS = 20_000
"""Smaller tables need no preview: their first step comes within a few seconds."""
N_SAMPLE = 200
"""Rows whose principal axes are used; chosen: a preview costs O(n d)."""


def preview_map(X: Points) -> NDArray[np.float32]:
    """Return the points (n, 2) on two principal axes of a sample; CSR data are not centered.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.explorer.preview import preview_map
    >>> line = np.outer(np.arange(6.0), [3.0, 4.0, 0.0])
    >>> np.abs(np.diff(preview_map(line)[:, 0])).round(4).tolist()
    [5.0, 5.0, 5.0, 5.0, 5.0]
    """
    rows = np.random.default_rng(0).permutation(X.shape[0])[:N_SAMPLE]
    sample = X[rows].astype(np.float64)
    if isinstance(sample, np.ndarray):
        sample -= sample.mean(axis=0)
        products = sample @ sample.T
    else:
        products = (sample @ sample.T).toarray()
    _, vectors = np.linalg.eigh(products)
    axes = np.asarray(sample.T @ vectors[:, :-3:-1])
    lengths = np.linalg.norm(axes, axis=0)
    axes /= np.where(lengths > 0, lengths, 1.0)
    return np.asarray(X @ axes.astype(X.dtype), np.float32)
