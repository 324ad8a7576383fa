import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.manifold import trustworthiness as sklearn_trustworthiness

from isosne import nearest_neighbors
from isosne.neighbors.distances import search_set
from isosne.neighbors.metric import Metric
from isosne.quality import compare, ranks
from tests.reference import neighbors as reference_neighbors
from tests.reference import quality as reference_quality
from tests.reference import ranks as twin

METRICS = [("euclidean", 2.0), ("manhattan", 2.0), ("minkowski", 3.0), ("cosine", 2.0)]


def blurred(X):
    """Return a map that keeps some of the neighborhoods."""
    rng = np.random.default_rng(0)
    return X[:, :2] + rng.normal(0, 0.5 * X[:, :2].std(), (len(X), 2))


def twin_ranks(X, Y):
    return twin.neighbor_ranks(twin.distances(X)), twin.neighbor_ranks(twin.distances(Y))


def assert_measures_are_those_of_the_twin(X, Y, k=5):
    in_data, in_map = twin_ranks(X, Y)
    n = len(X)
    compared = compare(X, Y, k)
    curve = compared.curve()
    np.testing.assert_array_equal(curve.k, np.arange(1, n - 1))
    expected = [twin.r_nx(in_data, in_map, size) for size in curve.k]
    # Counts are whole numbers; only the last divisions round.
    np.testing.assert_allclose(curve.r, expected, 0, 1e-12)
    for ks, sizes in (("all", range(1, n - 1)), ("paper", twin.paper_ks(n))):
        found = compared.auc(ks)
        np.testing.assert_allclose(found, twin.auc_rnx(in_data, in_map, sizes), 1e-12, 1e-12)
        assert found.standard_error == 0
        assert found.n_queries == n
    found = compared.trust()
    np.testing.assert_array_equal(found.points, np.arange(n))
    kept = np.array(twin.overlap(in_data, in_map, k))
    np.testing.assert_allclose(found.agreement, kept / k, 1e-15)
    wide = min(10 * k, (n - 1) // 2)
    near = ((in_data > 0) & (in_data <= k) & (in_map <= wide)).sum(axis=1)
    np.testing.assert_allclose(found.coarse, near / k, 1e-15)
    np.testing.assert_allclose(found.false_neighbors, twin.excess(in_data, in_map, k), 1e-14)
    np.testing.assert_allclose(found.missing_neighbors, twin.excess(in_map, in_data, k), 1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_measures_are_those_of_the_definitions(two_blobs, dtype):
    X = two_blobs.astype(dtype)
    assert_measures_are_those_of_the_twin(X, blurred(two_blobs).astype(dtype))


# The limits are n^(1/3) and n^(2/3), rounded, with room for one size at least in each part.
@pytest.mark.parametrize(("n", "small", "medium"), [(4, 1, 2), (5, 1, 2), (6, 2, 3), (60, 4, 15)])
def test_the_area_has_parts_for_small_medium_and_large_neighborhoods(two_blobs, n, small, medium):
    X = two_blobs[:n]
    Y = blurred(X)
    parts = {
        "small": range(1, small + 1),
        "medium": range(small + 1, medium + 1),
        "large": range(min(medium + 1, n - 2), n - 1),
    }
    for ks, sizes in parts.items():
        expected = twin.auc_rnx(*twin_ranks(X, Y), sizes)
        np.testing.assert_allclose(compare(X, Y, 1).auc(ks), expected, 1e-12, 1e-12)


@pytest.mark.parametrize("n", [4, 5, 6])
def test_measures_of_very_few_points_are_those_of_the_definitions(n):
    X = np.random.default_rng(n).normal(size=(n, 3))
    assert_measures_are_those_of_the_twin(X, blurred(X), k=1)


@pytest.mark.parametrize(
    ("unit", "offset"), [(1.0, 1000.0), (0.1, 0.0), (0.1, 1000.0), (1e-140, 0.0)]
)
def test_ties_and_copies_go_to_the_lower_index(duplicates, unit, offset):
    # In units of 0.1 equal distances differ in the last digit, and these digits decide.
    X = duplicates * unit + offset * unit
    assert_measures_are_those_of_the_twin(X, X[:, 1:])


def test_a_map_of_coinciding_points_ranks_points_by_index(two_blobs):
    assert_measures_are_those_of_the_twin(two_blobs, np.zeros((60, 2)))


def test_one_far_point_does_not_blur_the_ranks_of_others(one_far_point):
    assert_measures_are_those_of_the_twin(one_far_point, one_far_point[:, 1:])


def test_measures_by_hand():
    # Points 0, 1, 2, 3 on a line; in the map 0 and 3 are swapped.
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    Y = X[[3, 1, 2, 0]]
    # Ranks of the others around each point; at equal distance the lower index comes first.
    in_data, in_map = twin_ranks(X, Y)
    np.testing.assert_array_equal(in_data, [[0, 1, 2, 3], [1, 0, 2, 3], [3, 1, 0, 2], [3, 2, 1, 0]])
    np.testing.assert_array_equal(in_map, [[0, 2, 1, 3], [3, 0, 1, 2], [1, 2, 0, 3], [3, 1, 2, 0]])
    # k = 1: nobody keeps the nearest: R = (3 * 0 - 1) / 2. k = 2: 2, 1, 1 and 2 of two are kept:
    # Q = 6/8, R = (3 * 6/8 - 2) / 1 = 1/4. AUC = (-1/2 + 1/4 / 2) / (1 + 1/2) = -1/4.
    compared = compare(X, Y, 1)
    np.testing.assert_allclose(compared.curve().r, [-0.5, 0.25])
    np.testing.assert_allclose(compared.auc(), -0.25)
    # Worst excess at k = 1: rank 3, 2 beyond. Map neighbors 2, 2, 0, 1 have data ranks 2, 2, 3, 2.
    np.testing.assert_allclose(compared.trust().false_neighbors, [0.5, 0.5, 1, 0.5])
    # Data neighbors 1, 0, 1, 2 have map ranks 2, 3, 2, 2.
    np.testing.assert_allclose(compared.trust().missing_neighbors, [0.5, 1, 0.5, 0.5])


@pytest.mark.parametrize("n", [200, 700])  # one block of queries, and three
def test_the_area_is_that_of_the_co_ranking_matrix(n):
    X = np.random.default_rng(n).normal(size=(n, 12))
    Y = blurred(X)
    # 1e-12: the reference divides before it sums.
    np.testing.assert_allclose(compare(X, Y).curve().r, reference_quality.r_nx(X, Y), 0, 1e-12)
    np.testing.assert_allclose(compare(X, Y).auc(), reference_quality.auc_rnx(X, Y), 1e-12)


@pytest.mark.parametrize("k", [1, 7, 29])
def test_trustworthiness_and_continuity_are_those_of_scikit_learn(two_blobs, k):
    Y = blurred(two_blobs)
    expected = sklearn_trustworthiness(two_blobs, Y, n_neighbors=k)
    np.testing.assert_allclose(compare(two_blobs, Y, k).trustworthiness(), expected, 1e-13)
    expected = sklearn_trustworthiness(Y, two_blobs, n_neighbors=k)
    np.testing.assert_allclose(compare(two_blobs, Y, k).continuity(), expected, 1e-13)


@pytest.mark.parametrize(("metric", "p"), METRICS)
def test_every_metric_ranks_as_its_distances_do(two_blobs, metric, p):
    Y = blurred(two_blobs)
    D = reference_neighbors.distances(two_blobs, two_blobs, metric, p)
    expected = twin.auc_rnx(
        twin.neighbor_ranks(D), twin.neighbor_ranks(twin.distances(Y)), range(1, 59)
    )
    for contain in (np.asarray, csr_array)[: 1 if metric == "minkowski" else 2]:
        found = compare(contain(two_blobs), Y, metric=metric, p=p).auc()
        np.testing.assert_allclose(found, expected, 1e-12)
    np.testing.assert_allclose(compare(D, Y, metric="precomputed").auc(), expected, 1e-12)


@pytest.mark.parametrize("dtype", ["float32", "uint8", "int64", "bool"])
def test_any_type_of_number_gives_the_ranks_of_float64(duplicates, dtype):
    X = duplicates.astype(dtype)
    Y = blurred(duplicates)
    assert (
        compare(X, Y).auc()
        == compare(X.astype(np.float64), Y).auc()
        == compare(csr_array(X * 1.0), Y).auc()
    )


def test_negative_zero_is_zero():
    D = np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0))) // 3
    negative = np.where(D == 0, -0.0, D)
    found, expected = (compare(X, D, 4, metric="precomputed").auc() for X in (negative, D))
    assert found == expected


def order_of(X, metric=METRICS[0]):
    """Return the others around each point, nearest first."""
    n = X.shape[0]
    search = search_set(X, Metric(*metric), precision=np.float64)
    order = ranks.order_points(search, X, np.arange(n), slice(0, n))
    np.testing.assert_array_equal(order[:, 0], np.arange(n))
    return order[:, 1:]


def test_the_order_is_that_of_the_neighbor_search(subspace_clusters):
    # Ten copies of each of ten points, off the grid: ties that products round apart.
    X = np.repeat(subspace_clusters[::10] + 0.1, 10, axis=0).astype(np.float32)
    np.testing.assert_array_equal(order_of(X), nearest_neighbors(X, 99).indices)


@pytest.mark.parametrize("case", ["equal leading bits", "ties", "wide range"])
def test_points_are_sorted_by_any_exact_key_and_by_index(case):
    rng = np.random.default_rng(5)
    keys = {
        "equal leading bits": 1 + rng.integers(0, 4, (300, 300)) * 2.0**-52,
        "ties": rng.integers(0, 4, (300, 300)) / 4,
        "wide range": 10.0 ** rng.uniform(-300, 300, (300, 300)),
    }[case]
    np.fill_diagonal(keys, 0)
    expected = [[j for j in np.argsort(row, kind="stable") if j != i] for i, row in enumerate(keys)]
    np.testing.assert_array_equal(order_of(keys, ("precomputed", 2.0)), expected)


@pytest.mark.parametrize("factor", [2.0**-90, 3.7, 1e80])
def test_the_unit_of_a_map_does_not_matter(two_blobs, factor):
    Y = blurred(two_blobs)
    assert compare(two_blobs, factor * Y).auc() == compare(two_blobs, Y).auc()
    assert compare(factor * two_blobs, Y).auc() == compare(two_blobs, Y).auc()


def test_the_order_of_the_points_does_not_matter(subspace_clusters):
    X = subspace_clusters + np.random.default_rng(0).normal(size=(100, 50))
    Y = blurred(X)
    shuffled = np.random.default_rng(1).permutation(100)
    found, expected = compare(X[shuffled], Y[shuffled]), compare(X, Y)
    assert found.auc() == expected.auc()
    assert found.curve().r.tobytes() == expected.curve().r.tobytes()
    for part, whole in zip(found.trust()[1:6], expected.trust()[1:6], strict=True):
        np.testing.assert_array_equal(part, whole[shuffled])


def everything(X, Y, **more):
    compared = compare(X, Y, **more)
    area = compared.auc()
    parts = [*compared.curve(), *compared.trust(), np.array([area, area.standard_error])]
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


@pytest.mark.parametrize("n_queries", [None, 600])
def test_bytes_do_not_depend_on_threads_or_blocks(monkeypatch, n_queries):
    X = np.random.default_rng(0).normal(size=(700, 6)).astype(np.float32)
    Y = blurred(X)
    options = {"n_queries": n_queries, "random_state": 0}
    one = everything(X, Y, n_jobs=1, **options)
    assert one == everything(X, Y, n_jobs=2, **options)
    monkeypatch.setattr(ranks, "MAX_BLOCK_ROWS", 37)
    assert one == everything(X, Y, n_jobs=2, **options)
    monkeypatch.setattr(ranks, "BLOCK_BYTES", 1)
    assert one == everything(X, Y, n_jobs=2, **options)


def test_inputs_stay_as_they_were(two_blobs):
    X, Y, D = two_blobs.copy(), blurred(two_blobs), twin.distances(two_blobs)
    before = [X.copy(), Y.copy(), D.copy()]
    for array in (X, Y, D):
        array.flags.writeable = False
    everything(X, Y)
    everything(D, Y, metric="precomputed")
    for array, old in zip((X, Y, D), before, strict=True):
        np.testing.assert_array_equal(array, old)
