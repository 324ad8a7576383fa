"""Memory of a search: what is counted before it runs, and what it allocates."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne._numba import threads
from isosne.neighbors.distances import search_set
from isosne.neighbors.metric import (
    SAFE_EXPONENTS,
    Metric,
    working_size,
)
from isosne.neighbors.search import (
    PointsSize,
    block_bytes,
    clusters_bytes,
    gathered_bytes,
    nearest_neighbors,
    set_bytes,
)

N, D, K = 4000, 300, 10


def cloud(dtype=np.float64, n=N):
    return np.random.default_rng(0).normal(size=(n, D)).astype(dtype)


def sizes(X):
    """Return the sizes of points as the plan sees them."""
    return PointsSize(*X.shape, *working_size(X), X.nnz if isinstance(X, csr_array) else None)


def peak_of(function):
    """Return the largest number of bytes that a function holds at a time."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


INPUTS = {
    "float64": cloud(),
    "float32": cloud(np.float32),
    "integers": (10 * cloud()).astype(np.int16),  # compared in float32
    "by column": np.asfortranarray(cloud()),
    "sparse": csr_array(np.where(np.abs(cloud()) > 1.5, cloud(), 0)),
}


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize("X", INPUTS.values(), ids=INPUTS)
def test_bytes_of_a_search_set_are_counted(X, metric):
    search_set(X[:9], Metric(metric))  # compiles
    tracemalloc.start()
    search = search_set(X, Metric(metric))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert search.n_points == N
    assert kept == pytest.approx(set_bytes(sizes(X), Metric(metric)), rel=0.02)


@pytest.mark.parametrize(
    ("kind", "method"),
    [(kind, "exact") for kind in ("float64", "float32", "integers", "sparse")]
    + [(kind, "approximate") for kind in ("float64", "float32", "integers")],
)
def test_a_search_allocates_no_more_than_is_counted(kind, method):
    X = INPUTS[kind]
    points = sizes(X)
    counted = set_bytes(points, Metric()) + block_bytes(points, Metric(), K)
    if method == "approximate":
        counted = clusters_bytes(points, K) + block_bytes(points, Metric(), K)
        counted += gathered_bytes(points)
    with threads(1):
        nearest_neighbors(X[:500], K, method=method)  # compiles
        peak = peak_of(lambda: nearest_neighbors(X, K, method=method))
    assert 0.75 * counted < peak - 8 * N * K < 1.05 * counted


def test_points_that_can_be_compared_as_they_are_are_not_copied():
    X = cloud(n=50)
    assert search_set(X, Metric()).points is X
    assert working_size(X) == (8, True)
    for other in (X.astype(np.float32)[:, ::2], np.asfortranarray(X), X.astype(np.int64)):
        assert not np.shares_memory(search_set(other, Metric()).points, other)
        assert not working_size(other)[1]


def test_read_only_points_are_copied_so_that_nothing_is_compiled_for_them():
    X = cloud(n=50)
    X.flags.writeable = False
    assert search_set(X, Metric()).points.flags.writeable
    assert not working_size(X)[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_distances_are_the_same_whether_coordinates_are_scaled_or_not(dtype, metric):
    X = cloud(dtype, n=200)[:, :7]
    most = SAFE_EXPONENTS[np.dtype(dtype).itemsize]
    plain = nearest_neighbors(X, 5, metric=metric)
    for exponent in (-most - 9, -most + 9, most - 9, most + 9):
        # Distances are float32, in which the largest powers of two have no place.
        unit = np.ldexp(dtype(1), exponent)
        found = nearest_neighbors(X * unit, 5, metric=metric)
        np.testing.assert_array_equal(found.indices, plain.indices)
        if abs(exponent) < 100:
            np.testing.assert_array_equal(found.distances, np.ldexp(plain.distances, exponent))
