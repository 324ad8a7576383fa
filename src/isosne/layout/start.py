"""Initial coordinates of the map: principal components, spectral, random, given, or carried on."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._portable import each_cos, each_log
from isosne._tables import as_array
from isosne._types import Array, DenseMatrix, Joint, PartnerSource, Points, SparseMatrix
from isosne.errors import DataError, ParameterError, keyword, suggest
from isosne.layout import eigenvectors
from isosne.layout.anchors import Anchors
from isosne.layout.descent import SPREAD

JITTER = 0.01
"""Noise that separates duplicate points, relative to SPREAD (chosen; not measured)."""
FLAT = 1e-9
"""Standard deviation relative to the largest coordinate below which only rounding is left: far
above the rounding of float64 (1e-16), far below JITTER (chosen)."""
THINNEST = 1e-6
"""Smallest width of a start relative to its largest, in the directions where it is widest and
narrowest: some roundings of float32."""
LARGEST = 1e9
"""Largest coordinate of a start that is given: far above the width of maps (chosen)."""
TABLES = ("hamming", "gower")
"""Metrics of points that are codes or categories, not coordinates."""
STARTS = ("pca", "spectral", "random")
N_ROUNDS = 10
"""How often the mean of the partners is computed for points that a previous map does not have:
long enough a chain of new points to reach what has a place (chosen; the maps are no better than
those from coordinates of `transform`)."""
CARRIED_JITTER = 0.01
"""Standard deviation of the noise that separates new points, in units of the map, where similarity
falls to one half at a distance of 1 (chosen)."""
BLOCK = 256
"""Rows of joint probabilities that are copied at a time, to save memory."""


def resolve_start(start: Any, metric: str, *, has_points: bool = True) -> Any:
    """Return `start` with "auto" resolved; principal components need the points themselves."""
    if not isinstance(start, str):
        return start
    has_points = has_points and metric not in ("precomputed", *TABLES)
    if start == "auto":
        return "pca" if has_points else "spectral"
    if start not in STARTS:
        rule = f"be one of {', '.join(map(repr, ('auto', *STARTS)))} or an array"
        hint = "Choose a name, or pass coordinates (n_samples, n_components)."
        raise ParameterError("start", rule, start, suggest(start, ("auto", *STARTS), hint))
    if start == "pca" and not has_points:
        reason = "precomputed distances or affinities"
        if metric in TABLES:
            reason = f"{keyword('metric', metric)}, whose columns are no coordinates"
        rule = f"be 'spectral', 'random' or an array with {reason}"
        hint = "Principal components need the points themselves."
        raise ParameterError("start", rule, start, hint)
    return start


def initial_map(
    start: Any,
    X: Points,
    joint: Joint,
    n_components: int,
    rng: np.random.Generator,
    *,
    is_exaggerated: bool = True,
) -> NDArray[np.float32]:
    """Return the initial map (n_components, n) in float32.

    start: "pca" (CSR: truncated SVD), "spectral" (of the joint probabilities), "random", an array
    (n, n_components), or the Anchors of a previous map. Exaggeration needs a small map to start
    from, so an array is scaled if the first steps are exaggerated.
    """
    n = X.shape[0]
    if not isinstance(start, str | Anchors):
        given = check_spread(given_map(start, n, n_components), "start")
        return _small(given) if is_exaggerated else given
    noise = normal_numbers(rng, (n, n_components))
    if isinstance(start, Anchors):
        return check_spread(carried_map(start, joint, noise), "align_to")
    if start == "random":
        return np.ascontiguousarray(SPREAD * noise.T, np.float32)
    axes = _principal(X, joint, n_components) if start == "pca" else _spectral(joint, n_components)
    spread = axes.std(axis=0).max()
    if spread < FLAT * np.abs(axes).max():  # all points coincide, except for rounding
        axes[:], spread = 0, 1.0
    axes = SPREAD * (axes / (spread or 1.0) + JITTER * noise)
    return np.ascontiguousarray(axes.T, np.float32)


def _small(Y: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a map (d, n) around the origin, as wide as one from principal components."""
    axes = Y.T.astype(np.float64)  # sums over rows add in the same order on every machine
    axes -= axes.mean(axis=0)
    return np.ascontiguousarray((SPREAD / axes.std(axis=0).max() * axes).T, np.float32)


def check_spread(Y: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    """Return an initial map (d, n); raise an error if it has fewer dimensions than its axes.

    Forces between points on a line act along the line, so they would never leave it.
    """
    widths = np.linalg.svd(Y - Y.mean(axis=1, keepdims=True, dtype=np.float64), compute_uv=False)
    n_dimensions = int((widths > THINNEST * widths[0]).sum())
    if n_dimensions < min(len(Y), Y.shape[1] - 1):
        shape = ("coincide", "lie on a line", "lie in a plane")[n_dimensions]
        raise DataError(
            f"The points of {keyword(name)} must spread in all {len(Y)} dimensions of the map; "
            f"they {shape}, and no force would take them out of it. Add random numbers to the "
            "coordinates."
        )
    return Y


def normal_numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return standard normal numbers (Box and Muller), the same on every machine.

    NumPy's own use the logarithm of the C library, which differs.
    """
    radius = np.sqrt(-2 * each_log(1 - rng.random(shape)))
    return radius * each_cos(2 * np.pi * rng.random(shape))


def given_map(start: Any, n: int, n_components: int) -> NDArray[np.float32]:
    """Return given coordinates (n, n_components) as an initial map, a copy."""
    array = as_array(start, "start")
    try:
        array = array.astype(np.float64, casting="unsafe" if array.dtype == object else "same_kind")
    except (TypeError, ValueError):
        array = np.empty(())
    if array.shape != (n, n_components) or not (np.abs(array) <= LARGEST).all():
        raise DataError(
            f"A start must have shape ({n}, {n_components}), and real numbers up to {LARGEST:g} in "
            f"size; got shape {array.shape}. Pass one row for each point."
        )
    return np.array(array.T, np.float32, order="C")  # a copy: the map is modified in place


def _principal(X: Points, joint: Joint, n_components: int) -> NDArray[np.float64]:
    """Return the leading principal components; missing ones are zero."""
    axes = np.zeros((X.shape[0], n_components))
    k = min(n_components, *X.shape)
    if isinstance(X, csr_array) or np.ptp(X, axis=0).any():
        masses = joint.masses if isinstance(joint, SparseMatrix) else None
        roots: Any = 1.0 if masses is None else np.sqrt(masses.values[:, None], dtype=np.float64)
        X = X if masses is None else _with_masses(X, roots)
        axes[:, :k] = eigenvectors.principal_components(X, k)[: len(axes)] / roots
        axes -= axes.mean(axis=0)
    return axes


def _with_masses(X: Points, roots: Array) -> Points:
    """Return points whose covariance is that of X with masses, of mean 1; roots: of the masses."""
    if isinstance(X, csr_array):
        return csr_array(X.multiply(roots))
    scaled = roots * (X - (roots**2 * X).mean(axis=0))
    return np.concatenate([scaled, -scaled])  # with their mirror images, the mean is zero


def _spectral(joint: Joint, n_components: int) -> NDArray[np.float64]:
    """Return the leading nontrivial eigenvectors of the normalized graph of probabilities.

    The trivial eigenvector, the square roots of the row sums, is deflated first: in a disconnected
    graph its eigenvalue is repeated, and it could not be told from the others.
    """
    if isinstance(joint, DenseMatrix):
        factors = joint.factors.astype(np.float64)
        P = factors[:, None] + factors
        P *= joint.values
    else:
        P = listed_pairs(joint)
        if not isinstance(joint, SparseMatrix):
            P = P + P.T
        P = P.astype(np.float64)
    multiply = P.__matmul__ if isinstance(P, csr_array) else partial(eigenvectors.combine, P)
    n = P.shape[0]
    sums = multiply(np.ones((n, 1)))
    root = np.sqrt(np.where(sums > 0, sums, 1.0))  # avoids a division by zero in empty rows
    trivial = root / np.sqrt((root**2).sum())

    def scaled(block: NDArray[np.float64]) -> NDArray[np.float64]:
        # All eigenvalues lie in [-1, 1]; subtracting 2 moves the trivial one from 1 to -1.
        found = multiply(block / root) / root
        return np.asarray(found - 2 * trivial * eigenvectors.project(trivial, block))

    axes = np.zeros((n, n_components))
    k = min(n_components, n - 1)
    axes[:, :k] = eigenvectors.with_sign(eigenvectors.leading_eigenvectors(scaled, n, k) / root)
    return axes


def carried_map(anchors: Anchors, joint: Joint, noise: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the initial map (d, n): places of the anchors, and means of partners for new points.

    noise: standard normal numbers (n, d). A point without a path to an anchor starts at the center.
    """
    is_new = np.ones(len(noise), bool)
    is_new[anchors.rows] = False
    rows = np.flatnonzero(is_new)
    Y = np.repeat(anchors.places.mean(axis=0, dtype=np.float64)[None], len(noise), axis=0)
    Y[anchors.rows] = anchors.places
    has_place = np.where(is_new, 0.0, 1.0)
    P = joint if isinstance(joint, DenseMatrix) else listed_pairs(joint)
    for _ in range(N_ROUNDS if len(rows) else 0):
        # The last column sums the probabilities of the partners that have a place.
        sums = _partner_sums(P, rows, np.column_stack([has_place[:, None] * Y, has_place]))
        reached = sums[:, -1] > 0
        Y[rows[reached]] = sums[reached, :-1] / sums[reached, -1:]
        has_place[rows[reached]] = 1.0
    Y[rows] += CARRIED_JITTER * noise[rows]
    return np.ascontiguousarray(Y.T, np.float32)


def _partner_sums(P: DenseMatrix | csr_array, rows: Array, block: Array) -> NDArray[np.float64]:
    """Return rows of P times a block (n, b) of columns, in the same order on every machine."""
    sums = np.empty((len(rows), block.shape[1]))
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        if isinstance(P, DenseMatrix):
            factors = P.factors.astype(np.float64)
            found = eigenvectors.combine(P.values[part] * (factors[part, None] + factors), block)
        else:
            found = P[part].astype(np.float64) @ block
        sums[start : start + BLOCK] = found
    return sums


def listed_pairs(joint: SparseMatrix | PartnerSource) -> csr_array:
    """Return joint probabilities as CSR; of those that are not stored, the partners of a draw."""
    if isinstance(joint, SparseMatrix):
        n = len(joint.indptr) - 1
        return csr_array((joint.data, joint.indices, joint.indptr), shape=(n, n))
    indices, weights = joint.draw(0)
    n, k = indices.shape
    parts = weights.ravel(), indices.ravel().view(np.int32), np.arange(0, n * k + 1, k)
    return csr_array(parts, shape=(n, n))
