"""Leading eigenvectors of a symmetric matrix, with the same bits on every machine.

LAPACK's results differ in the last bits from CPU to CPU. Here all sums run in a fixed order: the
block Krylov method of Musco and Musco (2015) with restarts. Only products with the matrix are
needed.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from isosne._numba import kernel
from isosne._types import Array

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


@kernel
def project(basis: Array, vectors: Array) -> NDArray[np.float64]:
    """Return basis.T @ vectors, (m, b), for arrays (n, m) and (n, b)."""
    m, b = basis.shape[1], vectors.shape[1]
    products = np.zeros((m, b))
    for i in range(len(basis)):
        for r in range(m):
            for c in range(b):
                products[r, c] += basis[i, r] * vectors[i, c]
    return products


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
                rotate(a, p, q, cosine, sine)
                rotate(a.T, p, q, cosine, sine)
                rotate(vectors, p, q, cosine, sine)
        if not rotated:
            break


@kernel
def rotate(a: Array, p: int, q: int, cosine: float, sine: float) -> None:
    """Rotate the columns p and q."""
    for r in range(len(a)):
        x, y = a[r, p], a[r, q]
        a[r, p], a[r, q] = cosine * x - sine * y, sine * x + cosine * y
