import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph

from isosne import TSNE, OwnerKernel, nearest_neighbors
from isosne.datasets import make_shared_clusters
from isosne.errors import ParameterError
from isosne.kernels.hubs import MILD, hubness
from isosne.kernels.ownership import (
    AUTO_SIZES,
    BLOCK,
    auto_sizes,
    draw_subsets,
    far_partners,
    mean_law,
    n_cells,
    owner_law,
    resolve_sizes,
    split_scales,
)
from isosne.neighbors.metric import Metric
from tests.conftest import make
from tests.reference.neighbors import distances
from tests.reference.owner import expected_owners, scaled_orders, smoothed_law


def draw_points(n, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("psi", [1, 2, 5, 9])
def test_the_law_is_a_ratio_of_binomial_coefficients_and_sums_to_one(psi):
    n = 10
    expected = [math.comb(n - 1 - a, psi - 1) / math.comb(n, psi) for a in range(n)]
    np.testing.assert_allclose(owner_law(psi, n, n), expected, rtol=1e-14)
    assert math.fsum(owner_law(psi, n, n)) == pytest.approx(1, abs=1e-15)
    parts = [owner_law(cells, 100, 31)[1:] for cells in (10, 50)]  # each is normalized first
    expected = np.mean([part / part.sum() for part in parts], axis=0)
    np.testing.assert_allclose(mean_law((10, 50), 100, slice(1, 31)), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("n", "n_listed", "expected"),
    [
        (2, 1, (2.0,)),
        (20, 19, (2.0, 3.0, 4.0)),
        (100, 99, AUTO_SIZES),
        (1600, 1599, (*AUTO_SIZES, 100.0)),
        (200_000, 199_999, (*AUTO_SIZES, 200.0)),
        (320_000, 319_999, (*AUTO_SIZES, 320.0, 3200.0, 32_000.0)),
        (320_000, 25, (2.0, 3.0, 4.0, 6.0, 8.0, 12.0)),
        (1000, 25, (2.0, 3.0, 4.0, 6.0, 8.0, 12.0)),
    ],
)
def test_automatic_sizes_leave_four_cells_and_fit_lists(n, n_listed, expected):
    assert auto_sizes(n, n_listed) == expected
    assert resolve_sizes((2, 0.25), n) == (2.0, 0.25)
    assert [n_cells(size, 80) for size in (2, 0.25, 80, 1)] == [40, 4, 2, 79]


def test_lists_hold_two_cells_and_large_cells_have_none():
    scales = split_scales((500, 100, 10), 1000)
    assert scales == ((500, 100), (10,), 20)
    assert split_scales((10,), 80) == ((10,), (), 79)  # all others fit in a list
    assert split_scales((10,), 1000) == ((), (10,), 1)


@pytest.mark.parametrize("size", [0, -1, 101, "few", None, True, np.nan, []])
def test_wrong_sizes_are_refused(size):
    with pytest.raises(ParameterError, match=r"^cell_size must"):
        OwnerKernel(size).fit(draw_points(100))


@pytest.mark.parametrize("psi", [2, 4, 7])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_the_closed_form_is_the_mean_over_all_samples(psi, metric):
    X, A = draw_points(8), draw_points(3, seed=1)
    kernel = OwnerKernel(8 / psi, metric=metric, local_scaling=0).fit(X)
    assert kernel.psi_ == (psi,)
    D = distances(X, X, metric, 2)
    np.fill_diagonal(D, 0)
    np.testing.assert_allclose(kernel.similarity(), expected_owners(D, psi), atol=1e-7)
    expected = expected_owners(distances(A, X, metric, 2), psi)
    np.testing.assert_allclose(kernel.similarity(A), expected, atol=1e-7)


def test_ties_go_to_the_lower_index():
    X = np.array([[0.0], [1.0], [1.0], [2.0]])
    K = OwnerKernel(2, local_scaling=0).fit(X).similarity(np.array([[1.0]]))
    np.testing.assert_allclose(K, expected_owners(np.abs(X.T - 1.0), 2), atol=1e-7)


@pytest.mark.parametrize("X", [draw_points(30), csr_array(draw_points(30))], ids=["dense", "csr"])
def test_rows_sum_to_one_at_several_scales(X):
    kernel = OwnerKernel((2, 0.3)).fit(X)
    np.testing.assert_allclose(kernel.similarity().sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(kernel.similarity(X[:5]).sum(axis=1), 1, rtol=1e-6)
    layers = kernel.rows().block(slice(4, 9))
    assert layers.shape == (2, 5, 30)
    np.testing.assert_allclose(layers.mean(axis=0), kernel.similarity()[4:9], rtol=1e-6)


def test_other_points_are_ranked_as_if_they_were_fitted():
    X = draw_points(30)
    kernel = OwnerKernel(3).fit(X)
    A, B = X[:4] + 0.1, X[10:15]  # the fitted points themselves, so that both answers are known
    np.testing.assert_array_equal(kernel.similarity(A, B), kernel.similarity(A)[:, 10:15])


def test_all_lists_have_the_same_law():
    X = draw_points(200)
    kernel = OwnerKernel((4, 10), local_scaling=0).fit(X)
    rows = kernel.neighbor_similarity(nearest_neighbors(X, 50), 30)
    assert rows.shape == (1, 200, 30)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows[0], np.tile(rows[0, 0], (200, 1)))
    np.testing.assert_allclose(rows[0, 0], mean_law((50, 20), 200, slice(1, 31)), rtol=1e-6)


def weights_of(distances, cell_size=5):
    """Similarity of new points to the nearest of 200 fitted points at these distances."""
    X = draw_points(200)
    kernel = OwnerKernel(cell_size).fit(X)
    distances = np.atleast_2d(np.asarray(distances, float))
    lists = nearest_neighbors(X, distances.shape[1])
    return kernel.toward_neighbors(lists)(X[:1], np.zeros(distances.shape, np.int32), distances)[0]


def test_ranks_of_new_points_are_smoothed_by_the_distances():
    distances = np.sort(np.random.default_rng(0).uniform(1, 2, (4, 15)), axis=1)
    law = mean_law((40,), 200, slice(0, 15))
    np.testing.assert_allclose(weights_of(distances), smoothed_law(distances, law), rtol=1e-6)


def test_a_new_point_that_moves_a_little_has_nearly_the_same_weights():
    """Ranks jump where two distances change places; weights must not."""
    before, after = weights_of([[1, 1.999, 2, 3], [1, 2, 2.001, 3]])
    np.testing.assert_allclose(after, before, rtol=0.01)
    np.testing.assert_allclose(before[1], before[2], rtol=0.01)


def test_partners_of_broad_scales_are_the_nearest_members_of_a_subset():
    X = draw_points(2 * BLOCK + 10)
    subsets = draw_subsets(6, len(X), np.random.default_rng(0))
    assert subsets.members.shape == (3, 24)
    partners = far_partners(X, Metric().fitted(X), subsets)
    for i in (0, 700, 2057):
        members = subsets.members[np.flatnonzero(subsets.order == i)[0] // BLOCK]
        others = members[members != i]
        order = np.argsort(distances(X[[i]], X[others])[0], kind="stable")
        np.testing.assert_array_equal(partners[i], others[order[:8]])


def test_broad_scales_are_those_of_the_closed_form_on_average():
    X = draw_points(400, 2)
    kernel = OwnerKernel(100).fit(X)
    assert split_scales(kernel.psi_, 400).far == (4,)
    exact = np.delete(kernel.similarity()[7], 7)
    total = np.zeros(400)
    for seed in range(400):
        far = OwnerKernel(100, random_state=seed).fit(X).far_partners()
        total += np.bincount(far.indices[7], far.probabilities[7], minlength=400)
    # Points by rank, in seven groups. The standard error of a group is at most 0.4 / 20.
    order = np.argsort(-exact, kind="stable")
    found = np.delete(total / 400, 7)[order].reshape(-1, 57).sum(axis=1)
    np.testing.assert_allclose(
        found, (exact[order] / exact.sum()).reshape(-1, 57).sum(axis=1), atol=0.04
    )


def test_a_map_with_broad_scales_keeps_every_row_whole():
    X = draw_points(1536, 4)
    model = TSNE(OwnerKernel(), schedule="annealed", random_state=0)
    plan = model.plan(X)
    assert (plan.affinities, plan.n_neighbors) == ("sparse", 48)
    model.callback = lambda state: state.iteration >= 3
    indptr, indices, data, _ = model.fit(X).affinities_
    assert data.sum() == pytest.approx(1, rel=1e-5)
    rows = np.repeat(np.arange(1536), np.diff(indptr))
    assert len(np.unique(rows * 1536 + indices)) == len(rows)  # no pair twice
    assert np.diff(indptr).min() >= 48


def test_sizes_follow_the_length_of_stored_lists():
    X = draw_points(150)
    graph = csr_array(kneighbors_graph(X, 30, mode="distance"))
    kernel = OwnerKernel(metric="precomputed").fit(graph)
    assert kernel.psi_ == tuple(n_cells(size, 150) for size in (2, 3, 4, 6, 8, 12))
    with pytest.raises(ParameterError, match=r"^cell_size must"):
        OwnerKernel(20, metric="precomputed").fit(graph)


@pytest.mark.parametrize("n", [2, 3, 11])
def test_few_points_have_a_map(n):
    model = make("owner", schedule="annealed").fit(draw_points(n))
    assert np.isfinite(model.transform(draw_points(3, seed=2))).all()


def test_hubs_are_found_by_the_lists_that_a_neighbor_is_in():
    assert hubness(np.array([[1], [2], [0]])) == 1
    assert hubness(np.array([[3], [3], [3], [0]])) == 10 / 4  # neighbors are in 3, 3, 3 and 1 lists
    X, _ = make_shared_clusters(random_state=0)
    assert hubness(nearest_neighbors(X, 48).indices) > 5
    assert OwnerKernel().fit(X).spreads_.exponent == 1
    assert OwnerKernel(local_scaling=0).fit(X).spreads_ is None
    assert OwnerKernel().fit(draw_points(500)).spreads_.exponent == MILD
    with pytest.raises(ParameterError, match=r"^local_scaling must be 'auto' or from 0 to 1"):
        OwnerKernel(local_scaling=True).fit(X)


@pytest.mark.parametrize("exponent", [MILD, 1])
def test_scaled_ranks_are_those_of_the_definition(exponent):
    X = draw_points(200, 20)
    kernel = OwnerKernel((4, 10), local_scaling=exponent).fit(X)
    assert kernel.spreads_.n_ranked == 20
    orders = scaled_orders(distances(X, X), 20, exponent)
    K, neighbors = kernel.similarity(), nearest_neighbors(X, 20)
    rows = kernel.neighbor_similarity(neighbors)[0]
    law = np.mean([owner_law(psi, 200, 200) for psi in (50, 20)], axis=0)
    for i, order in enumerate(orders):
        np.testing.assert_allclose(K[i, [i, *order]], law, rtol=1e-5)
        listed = dict(zip(neighbors.indices[i], rows[i], strict=True))
        assert sorted(listed, key=lambda j: -listed[j]) == order[:20]


def test_new_points_are_ranked_by_the_spreads_of_fitted_ones():
    X = draw_points(120, 20)
    kernel = OwnerKernel(5, local_scaling=1).fit(X)
    A = X[:6] + 0.1
    np.testing.assert_array_equal(kernel.similarity(A, X[20:30]), kernel.similarity(A)[:, 20:30])
    ids, far = np.array([[0, 1, 2]], np.int32), np.array([[1.0, 1.1, 1.2]])
    scaled = far / np.sqrt(kernel.spreads_.values[ids])
    weights = kernel.toward_neighbors()(A[:1], ids, far)[0]
    law = mean_law(kernel.psi_, 120, slice(0, 3))
    np.testing.assert_allclose(weights, smoothed_law(scaled, law), rtol=1e-5)


def test_copies_without_a_spread_count_as_the_densest_points():
    X = np.r_[np.zeros((12, 4)), draw_points(100, 4)]
    kernel = OwnerKernel(3, local_scaling=1).fit(X)
    values = kernel.spreads_.values
    assert values[:12].tolist() == [values[12:].min()] * 12
    same = OwnerKernel(3, local_scaling=1).fit(np.zeros((20, 2)))
    assert same.spreads_.values.tolist() == [1] * 20


def test_a_saved_model_places_points_by_the_stored_spreads(tmp_path):
    X = draw_points(150, 20)
    model = TSNE(OwnerKernel(local_scaling=1), random_state=0).fit(X)
    model.save(tmp_path / "model.isosne")
    loaded = TSNE.load(tmp_path / "model.isosne")
    np.testing.assert_array_equal(loaded.kernel_.spreads_.values, model.kernel_.spreads_.values)
    new = draw_points(5, 20, seed=3)
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
    plain = TSNE(OwnerKernel(local_scaling=0), random_state=0).fit(X)
    dense = TSNE(OwnerKernel(local_scaling=1), affinities="dense", random_state=0).fit(X)
    assert not np.array_equal(plain.affinities_.data, model.affinities_.data)
    assert dense.kernel_.spreads_ is not None
