"""Leading eigenvectors and principal components, with the same bits on every machine.

LAPACK's results differ in the last bits from CPU to CPU, which is why these are home-made. All sums
run in a fixed order (those of SciPy's CSR products do): the block Krylov method of Musco and Musco
(2015) with restarts, which needs only products with the matrix. Products of rows or columns of the
data are computed from numbers rounded to integers: no sum exceeds 2^53, so BLAS computes them
exactly, in whatever order it adds. The rounding, to 15 bits or more, moves the components by less
than a start can show.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._blocks import loop_over_blocks
from isosne._numba import kernel
from isosne._types import Array, Points

Multiply = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Returns the product of the matrix (n, n) with a block of vectors (n, b)."""

EXTRA = 2
"""Vectors per block beyond those wanted, which speed up convergence (chosen)."""
DEPTH = 10
"""Blocks of a basis before it is restarted from its leading vectors (chosen)."""
MAX_RESTARTS = 30
"""Bound of the number of restarts, for matrices with nearly equal eigenvalues (chosen)."""
TOLERANCE = 1e-8
"""Norm of a residual, relative to the largest eigenvalue, at which a vector has converged. A start
needs three digits; the rest is cheap (chosen)."""
DEPENDENT = 1e-10
"""Fraction of a vector's length, after projection, below which it is taken to be dependent."""
N_SWEEPS = 30
"""Bound of the sweeps of `diagonalize`, which converges in about eight."""
LARGEST_MATRIX = 2048
"""Number of points or columns up to which the matrix of their products is computed. If both are
more numerous, the data are multiplied with a few vectors at a time (chosen)."""
BLOCK = 1024
"""Rows or columns that are rounded at a time: 6 MB for 784 columns (chosen)."""
N_PARTS = 16
"""Parts of the rows that `times_transposed` sums on their own. It is fixed, so that results do not
depend on the number of threads."""


def leading_eigenvectors(multiply: Multiply, n: int, k: int) -> NDArray[np.float64]:
    """Return unit eigenvectors (n, k) of the k largest eigenvalues, in descending order."""
    width = min(k + EXTRA, n)
    block = orthonormal(np.empty((n, 0)), scattered(n, width))
    for _ in range(MAX_RESTARTS):
        basis, image = krylov_basis(multiply, block)
        values, vectors = diagonalize(project(basis, image))
        leading = np.ascontiguousarray(vectors[:, :width])
        block = combine(basis, leading)
        residuals = combine(image, leading) - block * values[:width]
        norms = np.sqrt((residuals[:, :k] ** 2).sum(axis=0))
        if basis.shape[1] == n or (norms <= TOLERANCE * abs(values[0])).all():
            break
        del basis, image  # before the next ones are made
    return block[:, :k]


def krylov_basis(multiply: Multiply, block: Array) -> tuple[Array, Array]:
    """Return an orthonormal basis of block, A block, A^2 block ..., and A times the basis."""
    basis, image = block, multiply(block)
    last = image
    for _ in range(DEPTH - 1):
        added = orthonormal(basis, last)
        if added.shape[1] == 0:
            break
        last = multiply(added)
        basis = np.hstack([basis, added])  # one after the other: less memory
        image = np.hstack([image, last])
    return basis, image


def scattered(n: int, width: int) -> NDArray[np.float64]:
    """Return start vectors (n, width) with entries in [-1, 1), the same for every n and seed."""
    places = np.arange(1, n * width + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return ((places >> np.uint64(11)) / 2.0**52 - 1).reshape(n, width)


def orthonormal(basis: Array, vectors: Array) -> NDArray[np.float64]:
    """Return unit vectors that span what `vectors` add to an orthonormal basis (n, m)."""
    added = np.empty((len(vectors), 0))
    for c in range(min(vectors.shape[1], len(vectors) - basis.shape[1])):
        v = np.ascontiguousarray(vectors[:, c : c + 1])
        before = np.sqrt((v**2).sum())
        for _ in range(2):  # twice is enough for full orthogonality (Kahan, Parlett)
            for known in (basis, added):
                v = v - combine(known, project(known, v))
        after = np.sqrt((v**2).sum())
        if after > DEPENDENT * before:
            added = np.hstack([added, v / after])
    return added


def project(basis: Array, vectors: Array) -> NDArray[np.float64]:
    """Return basis.T @ vectors, (m, b), for arrays (n, m) and (n, b)."""
    return combine(np.ascontiguousarray(basis.T), vectors)


@kernel
def combine(basis: Array, weights: Array) -> NDArray[np.float64]:
    """Return basis @ weights, (n, b), for arrays (n, m) and (m, b)."""
    n, m = basis.shape
    b = weights.shape[1]
    vectors = np.zeros((n, b))
    for i in range(n):
        for r in range(m):
            for c in range(b):
                vectors[i, c] += basis[i, r] * weights[r, c]
    return vectors


def diagonalize(matrix: Array) -> tuple[Array, Array]:
    """Return eigenvalues in descending order and eigenvectors of a small symmetric matrix."""
    a = (matrix + matrix.T) * 0.5
    vectors = np.eye(len(a))
    rotate_until_diagonal(a, vectors)
    values = np.diag(a)
    order = np.argsort(-values, kind="stable")  # not compiled: a sort takes a second to compile
    return values[order], vectors[:, order]


@kernel
def rotate_until_diagonal(a: Array, vectors: Array) -> None:
    """Make a symmetric matrix diagonal in place, and turn the columns of `vectors` with it.

    Jacobi's method: rotations that make one off-diagonal entry zero at a time.
    """
    m = len(a)
    for _ in range(N_SWEEPS):
        rotated = False
        for p in range(m):
            for q in range(p + 1, m):
                if abs(a[p, q]) <= 1e-16 * np.sqrt(abs(a[p, p]) * abs(a[q, q])):
                    continue
                rotated = True
                theta = (a[q, q] - a[p, p]) / (2.0 * a[p, q])
                sign = 1.0 if theta >= 0 else -1.0
                t = sign / (abs(theta) + np.sqrt(1.0 + theta * theta))
                cosine = 1.0 / np.sqrt(1.0 + t * t)
                sine = t * cosine
                for r in range(m):
                    x, y = a[r, p], a[r, q]
                    a[r, p], a[r, q] = cosine * x - sine * y, sine * x + cosine * y
                for r in range(m):
                    x, y = a[p, r], a[q, r]
                    a[p, r], a[q, r] = cosine * x - sine * y, sine * x + cosine * y
                    x, y = vectors[r, p], vectors[r, q]
                    vectors[r, p], vectors[r, q] = cosine * x - sine * y, sine * x + cosine * y
        if not rotated:
            break


def principal_components(X: Points, k: int) -> NDArray[np.float64]:
    """Return the coordinates (n, k) of points along the k leading principal components.

    They may have any common scale. CSR data are not centered (truncated SVD).
    """
    n, d = X.shape
    if isinstance(X, csr_array):
        data = X * to_one(np.abs(X.data).max(initial=0.0))
        loadings = leading_eigenvectors(lambda block: data.T @ (data @ block), d, k)
        return np.asarray(data @ with_sign(loadings))
    mean = X.mean(axis=0, dtype=np.float64)
    reach = np.maximum(X.max(axis=0) - mean, mean - X.min(axis=0))
    if n < d and n <= LARGEST_MATRIX:
        gram = _gram(X, mean, float(reach.max()))
        vectors = with_sign(leading_eigenvectors(lambda block: combine(gram, block), n, k))
        eigenvalues = np.sqrt((combine(gram, vectors) ** 2).sum(axis=0))
        return np.asarray(vectors * np.sqrt(eigenvalues))
    centered = X, mean, to_one(reach.max())
    if d <= LARGEST_MATRIX:
        covariance = _covariance(X, mean, reach)
        loadings = leading_eigenvectors(lambda block: combine(covariance, block), d, k)
    else:
        loadings = leading_eigenvectors(
            lambda block: times_transposed(*centered, times(*centered, block)).sum(axis=0), d, k
        )
    return times(*centered, with_sign(loadings))


def to_one(largest: float) -> float:
    """Return the power of two that scales numbers up to `largest` to numbers up to 1."""
    return float(np.ldexp(1.0, -np.frexp(largest)[1]))


def with_sign(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return eigenvectors, whose sign is arbitrary, with a positive largest entry."""
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return vectors * np.where(largest < 0, -1.0, 1.0)


def _bits(n_terms: int) -> int:
    """Return the bits of integers of which n products sum to less than 2^53."""
    return (53 - n_terms.bit_length()) // 2


def _covariance(X: Array, mean: Array, reach: Array) -> NDArray[np.float64]:
    """Return the products of centered columns, each column rounded relative to its reach."""
    exponents = np.frexp(reach)[1]  # powers of two, so that scaling is exact
    bits = _bits(len(X))
    products = np.zeros((X.shape[1], X.shape[1]))
    for start in range(0, len(X), BLOCK):
        whole = X[start : start + BLOCK] - mean
        np.rint(np.ldexp(whole, bits - exponents, out=whole), out=whole)
        products += whole.T @ whole
        del whole  # before the next block is made
    # Relative to the largest column: the columns' own sizes may overflow.
    sizes = np.ldexp(2.0**-bits, exponents - exponents[reach > 0].max(initial=0))
    return np.asarray(products * sizes * sizes[:, None])


def _gram(X: Array, mean: Array, reach: float) -> NDArray[np.float64]:
    """Return the products of centered rows, rounded relative to the largest entry."""
    bits = _bits(X.shape[1])
    products = np.zeros((len(X), len(X)))
    for start in range(0, X.shape[1], BLOCK):
        columns = slice(start, start + BLOCK)
        whole = X[:, columns] - mean[columns]
        whole /= reach or 1.0
        np.rint(np.multiply(whole, 2.0**bits, out=whole), out=whole)
        products += whole @ whole.T
        del whole  # before the next block is made
    return products / 4.0**bits


def times(X: Array, mean: Array, scale: float, block: Array) -> NDArray[np.float64]:
    """Return scale * (X - mean) @ block, (n, b)."""
    product = np.empty((len(X), block.shape[1]))

    def work(rows: slice) -> None:
        product[rows] = combine(np.ascontiguousarray(scale * (X[rows] - mean)), block)

    loop_over_blocks(len(X), BLOCK, work)
    return product


def times_transposed(X: Array, mean: Array, scale: float, block: Array) -> NDArray[np.float64]:
    """Return scale * (X - mean).T @ block in parts, (N_PARTS, d, b), which sum to the product."""
    parts = np.zeros((N_PARTS, X.shape[1], block.shape[1]))
    loop_over_blocks(N_PARTS, 1, lambda part: add_part(X, part.start, mean, scale, block, parts))
    return parts


@kernel
def add_part(X: Array, t: int, mean: Array, scale: float, block: Array, parts: Array) -> None:
    """Add part t of the rows to parts[t]."""
    n, d = X.shape
    for i in range(t * n // N_PARTS, (t + 1) * n // N_PARTS):
        for f in range(d):
            x = scale * (np.float64(X[i, f]) - mean[f])
            for c in range(block.shape[1]):
                parts[t, f, c] += x * block[i, c]
