import numpy as np
import pytest

from isosne import IsolationKernel
from isosne.kernels.isolation import resolve_psi
from tests.reference import isolation as twin
from tests.reference.neighbors import distances

DRAWN = {"voronoi": {}, "forest": {"partition": "forest"}, "manhattan": {"metric": "manhattan"}}


@pytest.mark.parametrize("psi", [2, 9, 60])
def test_similarity_is_equation_7_over_the_samples_drawn(two_blobs, psi):
    kernel = IsolationKernel(psi, n_partitions=30, random_state=0).fit(two_blobs)
    samples = kernel.partitions_[0].samples
    assert samples.shape == (30, psi)
    assert all(len(set(sample)) == psi for sample in samples)
    A, B = (np.random.default_rng(seed).normal(2, 2, (11, 5)) for seed in (1, 2))
    D_A, D_B, D = (distances(points, two_blobs) for points in (A, B, two_blobs))
    for found, expected in (
        (kernel.similarity(), twin.similarity(D, samples)),
        (kernel.similarity(A, B), twin.similarity(D_A, samples, D_B)),
        (kernel.similarity(None, B), twin.similarity(D, samples, D_B)),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-6)  # a count divided by t, in float32
        assert found.dtype == np.float32


@pytest.mark.parametrize(
    ("psi", "n_partitions", "n_columns"),
    [("auto", 200, 200 * 300), ((100, 200), 2, 600), ((256, 200, 2), 3, 3 * 458)],
    ids=str,
)
def test_the_feature_map_has_more_columns_than_its_cells_have_types_for(
    psi, n_partitions, n_columns
):
    # Cells below 256 are stored as uint8; columns of later scales are counted from hundreds on.
    X = np.random.default_rng(0).normal(size=(286 if psi == "auto" else 300, 4))
    kernel = IsolationKernel(psi, n_partitions=n_partitions, random_state=0)
    phi = kernel.fit_transform(X)
    assert phi.shape == (len(X), n_columns)
    n_ones = n_partitions * len(kernel.psi_)
    np.testing.assert_allclose((phi @ phi.T).toarray() / n_ones, kernel.similarity(), atol=1e-6)
    assert (phi.dtype, phi.indices.dtype) == (np.float32, np.int32)
    assert len(kernel.get_feature_names_out()) == n_columns
    assert np.array_equal(phi.indices, kernel.transform(X).indices)


def test_only_a_kernel_with_cells_offers_a_feature_map(two_blobs):
    drawn, exact = IsolationKernel(random_state=0), IsolationKernel(n_partitions="exact")
    for method in ("transform", "fit_transform"):
        assert hasattr(drawn, method)
        assert not hasattr(exact, method)
        assert hasattr(drawn.fit(two_blobs), method)
        assert not hasattr(exact.fit(two_blobs), method)
    with pytest.raises(AttributeError, match="has no attribute 'transform'") as raised:
        exact.transform(two_blobs)
    assert str(raised.value.__cause__).startswith("n_partitions must be a number to compute cells")


def test_the_default_kernel_has_a_feature_map_for_many_points():
    X = np.random.default_rng(0).normal(size=(10_001, 2)).astype(np.float32)
    assert IsolationKernel(2000, random_state=0).resolved(10_001).n_partitions == "exact"
    assert IsolationKernel(2000, random_state=0).fit(X).transform(X[:3]).shape == (3, 200 * 2000)


@pytest.mark.parametrize("n_partitions", [40, "exact"])
def test_precomputed_distances_give_the_similarity_of_the_points(two_blobs, n_partitions):
    D = distances(two_blobs, two_blobs)
    A = two_blobs[:6] + 0.3
    D_A = distances(A, two_blobs)
    kernel = IsolationKernel(9, n_partitions=n_partitions, random_state=0)
    by_points = kernel.fit(two_blobs)
    expected, expected_new = by_points.similarity(), by_points.similarity(A)
    kernel.set_params(metric="precomputed").fit(D)
    np.testing.assert_array_equal(kernel.similarity(), expected)
    np.testing.assert_array_equal(kernel.similarity(D_A), expected_new)


def test_psi_by_rule_is_three_scales_and_one_for_many_points():
    assert IsolationKernel().psi == "auto"
    X = np.random.default_rng(0).normal(size=(200, 3))
    assert IsolationKernel(random_state=0).fit(X).psi_ == (160, 40, 10)
    assert resolve_psi("auto", 20_000) == (16_000, 4_000, 1_000)
    assert resolve_psi("auto", 30_000) == (3_000,)
    # of two or three points no smaller sample than two can be drawn, and no scale comes twice
    assert resolve_psi("auto", 2) == (2,)
    assert resolve_psi("auto", 10) == (8, 2)
    X = X[:60]
    for psi, expected in ((0.1, (6,)), (0.001, (2,)), (0.999, (60,)), ([0.5, 4], (30, 4))):
        assert IsolationKernel(psi, n_partitions=3, random_state=0).fit(X).psi_ == expected
    resolved = IsolationKernel([0.5, 7], metric="manhattan", random_state=3).resolved(100)
    expected = {"psi": (50, 7), "n_partitions": 200, "metric": "manhattan", "random_state": 3}
    assert resolved.get_params() == IsolationKernel().get_params() | expected


@pytest.mark.parametrize("form", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize("make", [int, np.random.default_rng, np.random.RandomState, np.int64])
def test_the_same_seed_gives_the_same_bytes_and_zero_is_a_seed(two_blobs, form, make):
    first, again, other, unseeded = (
        IsolationKernel(5, n_partitions=50, random_state=seed, **form)
        .fit(two_blobs)
        .cells()
        .tobytes()
        for seed in (make(0), make(0), make(1), None)
    )
    assert first == again
    assert len({first, other, unseeded}) == 3
