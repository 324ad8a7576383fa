"""What holds for every data set, parameter and seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isosne import AdaptiveGaussianKernel, GaussianKernel, IsolationKernel, KNNKernel

laws = settings(deadline=None, max_examples=25, derandomize=True, database=None)
seeds = st.integers(0, 2**32 - 1)
FORMS = ["voronoi", "forest", "exact"]
DRAWN = ["voronoi", "forest", "spheres"]


def draw_points(seed, n=30, d=3):
    """Points in general position, in clusters of different density."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * rng.choice([0.1, 1, 10], (n, 1)) + rng.choice([0, 5], (n, 1))


def make_kernel(form, psi, seed=0):
    if form == "exact":
        return IsolationKernel(psi, n_partitions="exact")
    return IsolationKernel(psi, n_partitions=40, partition=form, random_state=seed)


@pytest.mark.parametrize("form", FORMS)
@given(seed=seeds, psi=st.integers(2, 30))
@laws
def test_similarity_is_symmetric_and_from_zero_to_one_with_ones_on_the_diagonal(form, seed, psi):
    K = make_kernel(form, psi, seed).fit(draw_points(seed)).similarity()
    np.testing.assert_array_equal(K, K.T)
    assert K.min() >= 0
    assert K.max() <= 1 + 1e-6  # float32
    # The exact kernel may lose 1e-6 where lists are cut.
    np.testing.assert_allclose(np.diagonal(K), 1, atol=2e-6)


@pytest.mark.parametrize("form", [*FORMS, "spheres"])
@given(seed=seeds, psi=st.integers(2, 30), copies=st.booleans())
@laws
def test_similarity_is_positive_semidefinite(form, seed, psi, copies):
    X = draw_points(seed)
    X = np.vstack([X[:10], X[:10], X[:10]]) if copies else X
    K = make_kernel(form, psi, seed).fit(X).similarity()
    # Thirty values each wrong by up to 3e-6 where lists are cut, mostly far less.
    assert np.linalg.eigvalsh(K.astype(np.float64)).min() > -1e-5


@pytest.mark.parametrize("form", DRAWN)
@given(seed=seeds, psi=st.integers(2, 30))
@laws
def test_the_similarity_is_an_inner_product_of_the_feature_map(form, seed, psi):
    X, A = draw_points(seed), draw_points(seed + 1)
    kernel = make_kernel(form, psi, seed).fit(X)
    product = (kernel.transform(A) @ kernel.transform(X).T).toarray() / 40
    np.testing.assert_allclose(kernel.similarity(A), product, rtol=1e-6)


@pytest.mark.parametrize("form", ["voronoi", "spheres"])
@given(seed=seeds, psi=st.integers(2, 30), exponent=st.integers(-10, 10))
@laws
def test_moving_turning_and_scaling_leave_cells_as_they_are(form, seed, psi, exponent):
    X = draw_points(seed)
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    cells = make_kernel(form, psi).fit(X).cells()
    # Points in general position: rounding in the 16th digit decides nothing.
    for moved in (X + rng.normal(0, 100, 3), X @ turn, X * 3.0**exponent):
        np.testing.assert_array_equal(make_kernel(form, psi).fit(moved).cells(), cells)


@given(seed=seeds, psi=st.integers(2, 30), exponent=st.integers(-10, 10))
@laws
def test_moving_and_scaling_leave_the_leaves_of_a_forest_as_they_are(seed, psi, exponent):
    X = draw_points(seed)
    shift = np.random.default_rng(seed).normal(0, 100, 3)
    cells = make_kernel("forest", psi).fit(X).cells()
    for moved in (X + shift, X * 3.0**exponent):
        np.testing.assert_array_equal(make_kernel("forest", psi).fit(moved).cells(), cells)


@given(seed=seeds, psi=st.integers(2, 30))
@laws
def test_permuting_the_fitted_points_permutes_the_exact_kernel(seed, psi):
    X = draw_points(seed)
    order = np.random.default_rng(seed).permutation(30)
    K = make_kernel("exact", psi).fit(X).similarity()
    permuted = make_kernel("exact", psi).fit(X[order]).similarity()
    # A pair is summed in one of two orders.
    np.testing.assert_allclose(permuted, K[np.ix_(order, order)], atol=1e-6)


@pytest.mark.parametrize("form", DRAWN)
@given(seed=seeds, psi=st.integers(2, 30))
@laws
def test_permuting_other_points_permutes_their_cells(form, seed, psi):
    kernel = make_kernel(form, psi, seed).fit(draw_points(seed))
    A = draw_points(seed + 1, n=50)
    order = np.random.default_rng(seed).permutation(50)
    np.testing.assert_array_equal(kernel.cells(A[order]), kernel.cells(A)[order])


@pytest.mark.parametrize("form", [*FORMS, "spheres"])
@given(seed=seeds, psi=st.integers(2, 30))
@laws
def test_the_density_is_the_mean_similarity_to_the_fitted_points(form, seed, psi):
    kernel, A = make_kernel(form, psi, seed).fit(draw_points(seed)), draw_points(seed + 1)
    for points in (None, A):
        expected = kernel.similarity(points).mean(axis=1)
        np.testing.assert_allclose(kernel.density(points), expected, rtol=1e-5)  # float32


@given(seed=seeds)
@laws
def test_a_larger_psi_is_sharper(seed):
    X = draw_points(seed)
    sums = [make_kernel("exact", psi).fit(X).similarity().sum() for psi in range(2, 31, 4)]
    assert np.all(np.diff(sums) < 0)


@pytest.mark.parametrize("form", FORMS)
@given(seed=seeds, psi=st.integers(2, 30))
@laws
def test_copies_of_a_point_are_similar_to_all_others_alike(form, seed, psi):
    X = draw_points(seed)
    X[[7, 19]] = X[2]
    K = make_kernel(form, psi, seed).fit(X).similarity()
    # In the exact kernel the pairs are summed in different orders.
    np.testing.assert_allclose(K[[7, 19]], K[[2, 2]], atol=1e-6)
    np.testing.assert_allclose(K[2, [7, 19]], 1, atol=2e-6)


@pytest.mark.parametrize("psi", [8, 24])
def test_at_equal_distance_points_in_a_sparse_region_are_more_similar(psi):
    """Lemma 1 of the paper, on two uniform squares of which one is 25 times as dense."""
    rng = np.random.default_rng(0)
    dense, sparse = rng.uniform(0, 1, (120, 2)), rng.uniform((10, 0), (15, 5), (120, 2))
    kernel = IsolationKernel(psi, n_partitions="exact").fit(np.vstack([dense, sparse]))
    angles = rng.uniform(0, 2 * np.pi, 60)
    step = 0.15 * np.column_stack([np.cos(angles), np.sin(angles)])
    means = []
    for left, width in ((0, 1), (10, 5)):
        x = rng.uniform(0.2 * width, 0.8 * width, (60, 2)) + np.array([left, 0])
        means.append(np.mean(np.diagonal(kernel.similarity(x, x + step))))
    assert means[1] > means[0] + 0.05


@given(seed=seeds, k=st.integers(1, 29))
@laws
def test_the_kernels_of_appendix_d_are_from_zero_to_one_with_ones_on_the_diagonal(seed, k):
    X = draw_points(seed)
    for kernel in (AdaptiveGaussianKernel(k), KNNKernel(k)):
        K = kernel.fit(X).similarity()
        assert np.all((K >= 0) & (K <= 1))
        assert np.all(np.diagonal(K) == 1)
    assert np.all(K.sum(axis=1) == k + 1)


@given(seed=seeds, perplexity=st.floats(1, 29))
@laws
def test_gaussian_rows_have_the_perplexity_asked_for(seed, perplexity):
    rows = GaussianKernel(perplexity).fit(draw_points(seed)).rows()
    P = rows.block(slice(0, 30))[0].astype(np.float64)
    np.fill_diagonal(P, 0)
    P /= P.sum(axis=1, keepdims=True)
    entropies = -(P * np.log(np.where(P > 0, P, 1))).sum(axis=1)
    # Within 5e-5 by the stopping rule, and the rounding of float32.
    np.testing.assert_allclose(entropies, np.log(perplexity), atol=1e-4)


@given(seed=seeds, perplexity=st.floats(1.5, 20), exponent=st.integers(-10, 10))
@laws
def test_moving_turning_and_scaling_leave_gaussian_rows_as_they_are(seed, perplexity, exponent):
    X = draw_points(seed)
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    rows = GaussianKernel(perplexity).fit(X).rows().block(slice(0, 30))
    for moved in (X + rng.normal(0, 10, 3), X @ turn, X * 3.0**exponent):
        found = GaussianKernel(perplexity).fit(moved).rows().block(slice(0, 30))
        # Squared distances right to five digits; a bisection may end a step apart.
        np.testing.assert_allclose(found, rows, atol=1e-3)
