import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne.kernels.voronoi import SCAN_COLUMNS, VoronoiPartitions, cell_dtype
from isosne.neighbors.metric import Metric
from tests.reference import isolation as twin
from tests.reference.neighbors import distances

METRICS = [
    Metric("euclidean"),
    Metric("manhattan"),
    Metric("minkowski", 3.0),
    Metric("chebyshev"),
    Metric("cosine"),
    Metric("mahalanobis"),
]


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
        *((metric, container) for metric in METRICS[1:] for container in ("float32", "csr")),
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


@pytest.mark.parametrize(
    ("metric", "container"),
    [
        *((METRICS[0], container) for container in ("float32", "float64", "uint8", "csr")),
        *((METRICS[1], "float64"), (METRICS[1], "csr"), (METRICS[2], "float32")),
    ],
    ids=str,
)
def test_scan_and_walk_give_the_cells_of_the_twin_on_heavy_duplicates(
    duplicates, metric, container
):
    X = csr_array(duplicates) if container == "csr" else duplicates.astype(container)
    samples = draw_samples(90, 8, 20)
    expected = twin.cells(distances(duplicates, duplicates, metric.name, metric.p), samples)
    scanned, walked = both_ways(VoronoiPartitions(samples, X, metric), X)
    np.testing.assert_array_equal(scanned, expected)
    np.testing.assert_array_equal(walked, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("data", ["two_blobs", "subspace_clusters", "one_far_point"])
def test_scan_and_walk_give_the_cells_of_the_twin(request, data, dtype):
    X = request.getfixturevalue(data).astype(dtype)
    samples = draw_samples(len(X), 10, 30)
    expected = twin.cells(distances(X, X), samples)
    scanned, walked = both_ways(VoronoiPartitions(samples, X, Metric()), X)
    np.testing.assert_array_equal(scanned, expected)
    np.testing.assert_array_equal(walked, expected)


def test_a_large_offset_does_not_blur_the_cells_of_float32_points():
    X = (np.random.default_rng(6).normal(size=(80, 4)) + 1e4).astype(np.float32)
    samples = draw_samples(80, 12, 30)
    expected = twin.cells(distances(X, X), samples)
    scanned, walked = both_ways(VoronoiPartitions(samples, X, Metric()), X)
    np.testing.assert_array_equal(scanned, expected)
    np.testing.assert_array_equal(walked, expected)


@pytest.mark.parametrize("exponent", [-80, 80])
def test_the_unit_of_measurement_does_not_change_cells(exponent):
    # Values near 1e-24 or 1e24 are at home in float32, though their squares are not.
    X = np.random.default_rng(7).normal(size=(40, 3)).astype(np.float32)
    samples = draw_samples(40, 5, 20)
    scaled = X * np.float32(2.0**exponent)
    found = VoronoiPartitions(samples, scaled, Metric()).cells(scaled)
    np.testing.assert_array_equal(found, twin.cells(distances(X, X), samples))


def test_precomputed_cells_are_those_of_the_points(two_blobs):
    D = distances(two_blobs, two_blobs)
    samples = draw_samples(60, 7, 20)
    by_distance = VoronoiPartitions(samples, D, Metric("precomputed"))
    expected = twin.cells(D, samples)
    np.testing.assert_array_equal(by_distance.cells(D[5:20]), expected[5:20])
    scanned, walked = both_ways(by_distance, D)
    np.testing.assert_array_equal(scanned, expected)
    np.testing.assert_array_equal(walked, expected)


def test_scans_of_more_points_than_are_held_at_once_agree_with_walks():
    # 12 samples of 3000 points out of 20 000: more distinct ones than one group of columns holds.
    X = np.random.default_rng(8).normal(size=(20_000, 2)).astype(np.float32)
    samples = draw_samples(20_000, 3000, 12)
    partitions = VoronoiPartitions(samples, X, Metric())
    assert len(np.unique(samples)) > SCAN_COLUMNS
    assert len(partitions._groups()) > 1
    scanned, walked = both_ways(partitions, X[:70])
    np.testing.assert_array_equal(scanned, walked)
    nearest = [[((X[s].astype(float) - x) ** 2).sum(1).argmin() for s in samples] for x in X[:10]]
    np.testing.assert_array_equal(scanned[:10], nearest)


@pytest.mark.parametrize(
    ("psi", "dtype"), [(2, np.uint8), (256, np.uint8), (257, np.uint16), (300, np.uint16)]
)
def test_cells_take_the_smallest_type_that_holds_them(psi, dtype):
    X = np.random.default_rng(9).normal(size=(300, 2))
    partitions = VoronoiPartitions(draw_samples(300, psi, 3), X, Metric())
    cells = partitions.cells(X)
    assert cells.dtype == dtype
    # Distinct sampled points hold a cell each, up to the largest id.
    np.testing.assert_array_equal(cells[partitions.samples[0], 0], np.arange(psi))


def test_more_cells_than_two_bytes_hold_take_four():
    assert cell_dtype(2**16) == np.uint16
    assert cell_dtype(2**16 + 1) == np.uint32
