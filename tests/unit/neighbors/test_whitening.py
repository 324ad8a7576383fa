"""The Mahalanobis distance: that of SciPy, in every form, and the columns that it cannot take."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from isosne import TSNE, IsolationKernel, KNNKernel, Landmarks, nearest_neighbors
from isosne.errors import DataError
from isosne.neighbors.distances import exact_set, sq_distances
from isosne.neighbors.metric import Metric, fit_whitening
from tests.conftest import make, refuses

METRIC = Metric("mahalanobis")


@pytest.fixture
def points():
    """Correlated columns in units from 1e-3 to 1e6, far from the origin."""
    rng = np.random.default_rng(0)
    mixed = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 4))
    return mixed * [1e-3, 1.0, 50.0, 1e6] + [1, 1e3, 0, -1e6]


def mahalanobis(A, fitted):
    return cdist(A, fitted, "mahalanobis", VI=np.linalg.inv(np.cov(fitted.T)))


@pytest.mark.parametrize("contain", [np.asarray, csr_array, np.float32], ids=["f8", "csr", "f4"])
def test_distances_are_those_of_scipy(points, contain):
    X = contain(points)
    dense = X.toarray() if isinstance(X, csr_array) else X.astype(np.float64)
    new = dense[:9] * 1.01
    search = exact_set(X, METRIC)
    expected = mahalanobis(new, dense) ** 2
    # The inverse of the covariance, whose condition number is 1e18, has fewer digits than ours.
    np.testing.assert_allclose(sq_distances(new, slice(0, 9), search, METRIC), expected, 1e-5)


def test_approximate_neighbors_are_those_of_scipy(points):
    found = nearest_neighbors(points, 7, metric="mahalanobis", method="approximate")
    order = np.argsort(mahalanobis(points, points), axis=1)[:, 1:8]
    np.testing.assert_array_equal(found.indices, order)


def test_whitened_points_have_unit_covariance_and_the_units_of_columns_do_not_matter(points):
    whitened = fit_whitening(points).apply(points)
    np.testing.assert_allclose(np.cov(whitened.T), np.eye(4), atol=1e-9)
    np.testing.assert_allclose(whitened.mean(axis=0), 0, atol=1e-9)
    for factor in (2.0**-400, 2.0**400):
        scaled = points * [1, factor, 1, 1]
        np.testing.assert_allclose(fit_whitening(scaled).apply(scaled), whitened, atol=1e-12)


@pytest.mark.parametrize(
    ("affinities", "landmarks"),
    [("dense", None), ("sampled", None), ("sparse", Landmarks(60, "spread"))],
)
def test_new_points_are_placed_also_by_a_model_from_a_file(points, tmp_path, affinities, landmarks):
    kernel = IsolationKernel(12, n_partitions=30, metric="mahalanobis")
    model = make(kernel, affinities=affinities, landmarks=landmarks).fit(points)
    new = points[:7] * 1.001
    placed = model.transform(new)
    assert np.isfinite(placed).all()
    np.testing.assert_array_equal(model.transform(model.kernel_.X_fit_), model.embedding_)
    model.save(tmp_path / "model.isosne")
    np.testing.assert_array_equal(TSNE.load(tmp_path / "model.isosne").transform(new), placed)


@pytest.mark.parametrize(
    ("spoil", "column"),
    [
        (lambda X: np.c_[X, np.ones(80)], 4),
        (lambda X: np.c_[X[:, :1], X[:, :1] * 3 + 1, X], 1),
        (lambda X: np.c_[X, X.sum(axis=1)], 4),
        (lambda X: X[:4], 3),
    ],
    ids=["constant", "copy", "sum", "few rows"],
)
def test_dependent_columns_are_refused_by_their_number(points, spoil, column):
    sentence = (
        "metric='mahalanobis' needs columns that are linearly independent; column "
        f"{column} of X is constant, or a combination of the columns before it. Leave it out, or "
        "pass principal components."
    )
    scaled = points / points.std(axis=0)
    with refuses(DataError, sentence):
        KNNKernel(2, metric="mahalanobis").fit(spoil(scaled))
