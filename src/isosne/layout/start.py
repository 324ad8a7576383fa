"""Where the points of a map begin."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import eigsh
from sklearn.decomposition import PCA, TruncatedSVD

from isosne._types import DenseMatrix, Joint, Points
from isosne.errors import DataError, ParameterError

SPREAD = 1e-4
"""Largest standard deviation of an axis of a start."""
JITTER = 0.01
"""Noise that parts copies of a point, relative to SPREAD."""
STARTS = ("pca", "spectral", "random")


def place_start(
    start: Any, X: Points, joint: Joint, n_components: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Return the first map (n_components, n) in float32.

    start: "pca" (CSR: truncated SVD), "spectral" (of the joint probabilities), "random", or an
    array (n, n_components), which is used as it is.
    """
    n = X.shape[0]
    if not isinstance(start, str):
        return _given(start, n, n_components)
    noise = rng.standard_normal((n, n_components))
    if start == "random":
        return np.ascontiguousarray(SPREAD * noise.T, np.float32)
    if start not in STARTS:
        raise ParameterError(
            f"start must be one of {', '.join(STARTS)} or an array; got {start!r}. "
            "Choose a name, or pass coordinates (n_samples, n_components)."
        )
    seed = int(rng.integers(2**31))
    axes = _principal(X, n_components, seed) if start == "pca" else _spectral(joint, n_components)
    spread = axes.std(axis=0).max()
    if spread < 1e-9 * np.abs(axes).max():  # all points in one place, but for rounding
        axes[:], spread = 0, 1.0
    axes = SPREAD * (axes / (spread or 1.0) + JITTER * noise)
    return np.ascontiguousarray(axes.T, np.float32)


def _given(start: Any, n: int, n_components: int) -> NDArray[np.float32]:
    array = np.asarray(start, np.float32)
    if array.shape != (n, n_components) or not np.isfinite(array).all():
        raise DataError(
            f"A start must be finite and have shape ({n}, {n_components}); got shape "
            f"{array.shape}. Pass one row for each point."
        )
    return np.ascontiguousarray(array.T)


def _principal(X: Points, n_components: int, seed: int) -> NDArray[np.float64]:
    """Return the leading principal components; missing ones are zero."""
    axes = np.zeros((X.shape[0], n_components))
    k = min(n_components, *X.shape)
    if isinstance(X, csr_array):
        k = min(k, X.shape[1] - 1) or 1
        found = TruncatedSVD(k, random_state=seed).fit_transform(X)
    else:
        found = PCA(k, random_state=seed).fit_transform(np.asarray(X, np.float64))
    axes[:, :k] = found - found.mean(axis=0)
    return axes


def _spectral(joint: Joint, n_components: int) -> NDArray[np.float64]:
    """Return the leading non-trivial eigenvectors of the normalized graph of probabilities."""
    if isinstance(joint, DenseMatrix):
        factors = joint.factors.astype(np.float64)
        P = joint.values * (factors[:, None] + factors)
    else:
        n = len(joint.indptr) - 1
        P = csr_array((joint.data, joint.indices, joint.indptr), shape=(n, n)).astype(np.float64)
    root = np.sqrt(P.sum(axis=1))
    scaled = diags_array(1 / root) @ P @ diags_array(1 / root)
    k = min(n_components + 1, len(root) - 1)
    _, vectors = eigsh(scaled, k=k, which="LA", v0=root)
    axes = np.zeros((len(root), n_components))
    found = vectors[:, ::-1][:, 1:] / root[:, None]
    found *= np.sign(found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])])
    axes[:, : found.shape[1]] = found
    return axes
