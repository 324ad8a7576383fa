"""Maps on a common scale: into a square of side 2, and one map onto another."""

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne.layout.procrustes import find_similarity


def into_square(Y: Array) -> NDArray[np.float32]:
    """Return a map (n, 2) moved and scaled so that it just fits the square from -1 to 1.

    Rows without a position (NaN) stay without one.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.explorer.alignment import into_square
    >>> into_square(np.array([[0.0, 0.0], [4.0, 2.0]])).tolist()
    [[-1.0, -0.5], [1.0, 0.5]]
    """
    if np.isnan(Y).all():
        return np.asarray(Y, np.float32)
    low, high = np.nanmin(Y, axis=0), np.nanmax(Y, axis=0)
    half = max(float((high - low).max()) / 2, np.finfo(np.float32).tiny)
    return np.asarray((Y - (low + high) / 2) / half, np.float32)


def align(Y: Array, onto: Array) -> NDArray[np.float32]:
    """Return a map moved, turned, mirrored and scaled to lie on another.

    Only rows that both maps have count. With fewer than two of them, the map fills the square. The
    map gets the size of the other one (root mean square distance from the center): the factor that
    brings rows nearest to each other would shrink a map that has little in common with it.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.explorer.alignment import align
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> mirrored = 3 * square[:, ::-1] + 5
    >>> bool(np.allclose(align(mirrored, square), square, atol=1e-6))
    True
    """
    known = np.isfinite(Y).all(axis=1) & np.isfinite(onto).all(axis=1)
    if known.sum() < 2:
        return into_square(Y)
    found = find_similarity(Y[known], onto[known])
    size, wanted = (float(np.sqrt(Z[known].var(axis=0).sum())) for Z in (Y, onto))
    return found._replace(factor=wanted / size if size > 0 else 1.0).apply(Y)


def moved_most(A: Array, B: Array, n: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows whose two positions are farthest apart, and these distances, largest first.

    Rows that only one of the two aligned maps has are left out.
    """
    distances = np.linalg.norm(A.astype(np.float64) - B, axis=1)
    known = np.flatnonzero(np.isfinite(distances))
    order = known[np.argsort(-distances[known], kind="stable")[:n]]
    return order, distances[order]
