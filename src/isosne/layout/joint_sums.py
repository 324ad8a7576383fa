"""Sums of joint probabilities, dense or CSR: their negative entropy, and the sum of each row."""

import numpy as np
from numpy.typing import NDArray

from isosne._numba import kernel, parallel_kernel, prange
from isosne._portable import log
from isosne._types import Array


@parallel_kernel
def sum_entropy(values: Array, factors: Array, sums: Array) -> None:
    """Fill sums[i] = sum_j p log p of a dense matrix, where 0 log 0 = 0."""
    for i in prange(len(sums)):
        entropy = 0.0
        for j in range(len(sums)):
            p = np.float64(values[i, j]) * (factors[i] + factors[j])
            if p > 0:
                entropy += p * log(p)
        sums[i] = entropy


@parallel_kernel
def sum_rows(values: Array, factors: Array, sums: Array) -> None:
    """Fill sums[i] = sum_j p of a dense matrix."""
    for i in prange(len(sums)):
        whole = 0.0
        for j in range(len(sums)):
            whole += np.float64(values[i, j]) * (factors[i] + factors[j])
        sums[i] = whole


@kernel
def listed_entropy(p: Array) -> float:
    """Return the sum of p log p over the entries of a CSR matrix, where 0 log 0 = 0."""
    entropy = 0.0
    for e in range(len(p)):
        if p[e] > 0:
            entropy += np.float64(p[e]) * log(p[e])
    return entropy


@kernel
def listed_sums(indptr: Array, data: Array) -> NDArray[np.float32]:
    """Return the sum of each row of a CSR matrix."""
    sums = np.empty(len(indptr) - 1, np.float32)
    for i in range(len(sums)):
        whole = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            whole += data[e]
        sums[i] = whole
    return sums
