"""Cells of points, and counts of shared cells."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne.kernels.monte_carlo import (
    SCAN_COLUMNS,
    VoronoiPartitions,
    count_shared,
    count_with_partners,
)
from isosne.neighbors.metric import Metric
from tests.reference import isolation as twin
from tests.reference.neighbors import distances

NAMES = "euclidean", "manhattan", "minkowski", "chebyshev", "cosine", "mahalanobis"
METRICS = [Metric(name, 3.0) for name in NAMES]


def draw_samples(n, psi, n_partitions, seed=0):
    rng = np.random.default_rng(seed)
    return np.sort([rng.choice(n, psi, replace=False) for _ in range(n_partitions)], axis=1)


def both_ways(partitions, X):
    """Cells by scan, and by a walk whose first lists are too short for some points."""
    shape = (X.shape[0], len(partitions.samples))
    scanned, walked = np.full(shape, 255), np.full(shape, 255)
    partitions._scan(X, scanned)
    partitions._walk(X, np.arange(X.shape[0]), 2, walked)
    return scanned, walked


@pytest.mark.parametrize(
    ("metric", "container"),
    [
        *((METRICS[0], container) for container in ("float32", "float64", "uint8", "int64", "csr")),
        *((metric, "float32") for metric in METRICS[1:]),
        *((Metric(name), "csr") for name in ("manhattan", "cosine", "mahalanobis")),
    ],
    ids=str,
)
def test_cells_are_those_of_the_nearest_sampled_points(metric, container):
    dense = np.random.default_rng(0).integers(1, 200, (60, 4)) * 1.0
    X = csr_array(dense) if container == "csr" else dense.astype(container)
    new = np.random.default_rng(1).integers(1, 200, (25, 4)) * 1.0
    A = csr_array(new) if container == "csr" else new.astype(container)
    samples = draw_samples(60, 6, 15)
    partitions = VoronoiPartitions(samples, X, metric)
    for points, dense_points in ((X, dense), (A, new)):
        D = distances(dense_points, dense, metric.name, metric.p)
        # Rounded to twelve digits, so that distances equal in truth are ties in the twin too.
        expected = twin.cells(D.round(12), samples)
        np.testing.assert_array_equal(partitions.cells(points), expected)


DATA = {
    "blobs": lambda blobs: blobs,
    "far": lambda blobs: np.vstack([blobs, np.full((1, 5), 1e4)]),
    "copies": lambda blobs: np.repeat(np.round(blobs), 2, axis=0),
    "offset": lambda blobs: blobs + 1e4,
}


@pytest.mark.parametrize("metric", METRICS[:2], ids=str)
@pytest.mark.parametrize("container", ["float32", "csr"])
@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
def test_scan_and_walk_give_the_cells_of_the_twin(two_blobs, data, container, metric):
    X = data(two_blobs).astype("float32" if container == "float32" else "float64")
    points = csr_array(X) if container == "csr" else X
    samples = draw_samples(len(X), 10, 30)
    expected = twin.cells(distances(X, X, metric.name), samples)
    scanned, walked = both_ways(VoronoiPartitions(samples, points, metric), points)
    np.testing.assert_array_equal(scanned, expected)
    np.testing.assert_array_equal(walked, expected)


def test_scans_of_more_points_than_are_held_at_once_agree_with_walks():
    # 12 samples of 3000 points out of 20 000: more distinct ones than one group of columns holds.
    X = np.random.default_rng(8).normal(size=(20_000, 2)).astype(np.float32)
    samples = draw_samples(20_000, 3000, 12)
    partitions = VoronoiPartitions(samples, X, Metric())
    assert len(np.unique(samples)) > SCAN_COLUMNS
    scanned, walked = both_ways(partitions, X[:70])
    np.testing.assert_array_equal(scanned, walked)
    nearest = [[((X[s].astype(float) - x) ** 2).sum(1).argmin() for s in samples] for x in X[:10]]
    np.testing.assert_array_equal(scanned[:10], nearest)


@pytest.mark.parametrize(("psi", "dtype"), [(2, np.uint8), (256, np.uint8), (257, np.uint16)])
def test_cells_take_the_smallest_type_that_holds_them(psi, dtype):
    X = np.random.default_rng(9).normal(size=(300, 2))
    partitions = VoronoiPartitions(draw_samples(300, psi, 3), X, Metric())
    cells = partitions.cells(X)
    assert cells.dtype == dtype
    # Distinct sampled points hold a cell each, up to the largest id.
    np.testing.assert_array_equal(cells[partitions.samples[0], 0], np.arange(psi))


def draw_cells(n, n_partitions, n_cells, dtype, seed=0):
    return np.random.default_rng(seed).integers(0, n_cells, (n, n_partitions)).astype(dtype)


@pytest.mark.parametrize("n_cells", [2, 40, 400])
@pytest.mark.parametrize(("n_partitions", "dtype"), [(255, np.uint8), (256, np.uint16)])
def test_counts_of_all_pairs_and_of_partners(n_partitions, dtype, n_cells):
    codes = np.uint8 if n_cells < 256 else np.uint16
    A = draw_cells(70, n_partitions, n_cells, codes)
    B = draw_cells(1100, n_partitions, n_cells, codes, seed=1)  # more than one tile of columns
    B[0] = A[0]  # which shares all cells: the type must hold the count
    counts = count_shared(A, np.ascontiguousarray(B.T))
    np.testing.assert_array_equal(counts, (A[:, None] == B).sum(axis=2))
    partners = np.random.default_rng(2).integers(0, 1100, (70, 6)).astype(np.int32)
    found = count_with_partners(A, partners, B)
    assert counts.dtype == found.dtype == dtype
    np.testing.assert_array_equal(found, np.take_along_axis(counts, partners, axis=1))
