"""Principal components of the data, with the same bits on every machine.

Products of rows or columns are computed from data rounded to integers. No sum exceeds 2^53, so BLAS
computes them exactly, in whatever order it adds. The rounding, to 15 bits or more, moves the
components by less than a start can show.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._blocks import for_each_block
from isosne._numba import kernel, parallel_kernel, prange
from isosne._types import Array, Points
from isosne.layout.eigenvectors import combine, leading_eigenvectors

LARGEST_MATRIX = 2048
"""Number of points or columns up to which the matrix of their products is computed. If both are
more numerous, the data are multiplied with a few vectors at a time (chosen)."""
BLOCK = 1024
"""Rows or columns that are rounded at a time: 6 MB for 784 columns (chosen)."""
N_PARTS = 16
"""Parts of the rows that `times_transposed` sums on their own. It is fixed, so that results do not
depend on the number of threads."""


def principal_components(X: Points, k: int) -> NDArray[np.float64]:
    """Return the coordinates (n, k) of points along the k leading principal components.

    They may have any common scale. CSR data are not centered (truncated SVD).
    """
    n, d = X.shape
    if isinstance(X, csr_array):
        data = X * to_one(np.abs(X.data).max(initial=0.0))
        loadings = leading_eigenvectors(
            lambda block: times_transposed_sparse(data, times_sparse(data, block)), d, k
        )
        return times_sparse(data, with_sign(loadings))
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
    product = np.zeros((len(X), block.shape[1]))
    for_each_block(
        len(X), BLOCK, lambda rows: add_product(X[rows], mean, scale, block, product[rows])
    )
    return product


@kernel
def add_product(X: Array, mean: Array, scale: float, block: Array, product: Array) -> None:
    """Add scale * (X - mean) @ block to the product (n, b)."""
    n, d = X.shape
    for i in range(n):
        for f in range(d):
            x = scale * (np.float64(X[i, f]) - mean[f])
            for c in range(block.shape[1]):
                product[i, c] += x * block[f, c]


@parallel_kernel
def times_transposed(X: Array, mean: Array, scale: float, block: Array) -> NDArray[np.float64]:
    """Return scale * (X - mean).T @ block in parts, (N_PARTS, d, b), which sum to the product."""
    n, d = X.shape
    parts = np.zeros((N_PARTS, d, block.shape[1]))
    for t in prange(N_PARTS):
        for i in range(t * n // N_PARTS, (t + 1) * n // N_PARTS):
            for f in range(d):
                x = scale * (np.float64(X[i, f]) - mean[f])
                for c in range(block.shape[1]):
                    parts[t, f, c] += x * block[i, c]
    return parts


def times_sparse(X: csr_array, block: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return X @ block for CSR data."""
    product = np.zeros((X.shape[0], block.shape[1]))
    add_times(X.indptr, X.indices, X.data, block, product)
    return product


def times_transposed_sparse(X: csr_array, block: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return X.T @ block for CSR data."""
    product = np.zeros((X.shape[1], block.shape[1]))
    add_times_transposed(X.indptr, X.indices, X.data, block, product)
    return product


@kernel
def add_times(indptr: Array, indices: Array, data: Array, block: Array, product: Array) -> None:
    """Add the product of a CSR matrix with a block of vectors."""
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            for c in range(block.shape[1]):
                product[i, c] += data[e] * block[indices[e], c]


@kernel
def add_times_transposed(
    indptr: Array, indices: Array, data: Array, block: Array, product: Array
) -> None:
    """Add the product of a transposed CSR matrix with a block of vectors."""
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            for c in range(block.shape[1]):
                product[indices[e], c] += data[e] * block[i, c]
