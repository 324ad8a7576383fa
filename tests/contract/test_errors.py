"""Every refusal, word for word, and what it leaves behind."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from isosne import (
    AdaptiveGaussianKernel,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    nearest_neighbors,
)
from isosne.errors import DataError, IsosneError, ParameterError
from tests.conftest import refuses

X = np.random.default_rng(0).normal(size=(10, 3))
D = np.abs(X[:, :1] - X[:, 0])


def changed(array, value, place=(1, 2)):
    array = array.copy()
    array[place] = value
    return array


TEXT = np.array([["a", "b"], ["c", "d"]])
DATA = {
    "nan": (
        changed(X, np.nan),
        (
            "X must be finite; got 1 NaN and 0 infinite value(s), the first in row 1 (counting "
            "from 0), column 2. "
            "Leave out or impute the rows that hold them."
        ),
    ),
    "inf": (
        changed(changed(X, -np.inf), np.inf, (0, 0)),
        (
            "X must be finite; got 0 NaN and 2 infinite value(s), the first in row 0 (counting "
            "from 0), column 0. "
            "Leave out or impute the rows that hold them."
        ),
    ),
    "masked": (
        np.ma.masked_equal(changed(X, 77), 77),
        (
            "X must be finite; got 1 NaN and 0 infinite value(s), the first in row 1 (counting "
            "from 0), column 2. "
            "Leave out or impute the rows that hold them."
        ),
    ),
    "sparse nan": (
        csr_array(changed(X, np.nan)),
        (
            "X must be finite; got 1 NaN and 0 infinite value(s), the first in row 1 (counting "
            "from 0), column 2. "
            "Leave out or impute the rows that hold them."
        ),
    ),
    "empty": (
        X[:0],
        "X must have at least 2 row(s); got n_samples=0. Pass more points, one in each row.",
    ),
    "one row": (
        X[:1],
        "X must have at least 2 row(s); got n_samples=1. Pass more points, one in each row.",
    ),
    "no columns": (
        X[:, :0],
        (
            "X must have at least one column; found 0 feature(s) (shape=(10, 0)) while a minimum "
            "of 1 is required. Pass points with at least one attribute."
        ),
    ),
    "one-dimensional": (
        X[0],
        (
            "X must be two-dimensional, one point in each row; got shape (3,). Reshape your data "
            "with X.reshape(-1, 1) if it has one attribute, or X.reshape(1, -1) if it is one point."
        ),
    ),
    "three-dimensional": (
        X[:, :, None],
        (
            "X must be two-dimensional, one point in each row; got shape (10, 3, 1). Reshape your "
            "data with X.reshape(-1, 1) if it has one attribute, or X.reshape(1, -1) if it is one "
            "point."
        ),
    ),
    "strings": (
        TEXT,
        (
            "X must be numeric; row 0 (counting from 0), column 0 holds the text 'a'. "
            "Encode the column as numbers, or leave it out."
        ),
    ),
    "objects": (
        np.array([[1, 2.5], [True, "c"]], dtype=object),
        (
            "X must be numeric; row 1 (counting from 0), column 1 holds the text 'c'. "
            "Encode the column as numbers, or leave it out."
        ),
    ),
    "dates": (
        np.array([["2020-01-01"], ["2021-01-01"]], dtype="datetime64[D]"),
        (
            "X must be numeric; got dates or times (datetime64[D]). Convert them to numbers, such "
            "as days since the first date, or leave them out."
        ),
    ),
    "complex": (
        X * 1j,
        (
            "Complex data not supported: X must be real; got dtype complex128. "
            "Pass the real and imaginary parts as columns."
        ),
    ),
    "sparse complex": (
        csr_array(X * 1j),
        (
            "Complex data not supported: X must be real; got dtype complex128. "
            "Pass the real and imaginary parts as columns."
        ),
    ),
}

FITS = {
    "voronoi": IsolationKernel(2, n_partitions=5).fit,
    "forest": IsolationKernel(2, n_partitions=5, partition="forest").fit,
    "exact": IsolationKernel(2, n_partitions="exact").fit,
    "gaussian": GaussianKernel(1).fit,
    "adaptive": AdaptiveGaussianKernel(1).fit,
    "knn": KNNKernel(1).fit,
    "neighbors": lambda data: nearest_neighbors(data, 1),
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
@pytest.mark.parametrize(("data", "sentence"), DATA.values(), ids=DATA)
def test_data_that_cannot_be_used_are_refused(data, sentence, fit):
    with refuses(DataError, sentence):
        fit(data)


PSI = (
    "psi must be 'auto', an integer from 2 to n_samples, or a share of n_samples between 0 and 1; "
    "got psi={}. A single cell would hold every point; choose a larger psi."
)
METRIC = (
    "metric must be one of 'euclidean', 'manhattan', 'chebyshev', 'minkowski', 'cosine', "
    "'mahalanobis', 'hamming', 'gower', 'precomputed'; "
    "got metric={}. For another metric compute the distances yourself and pass "
    "metric='precomputed'."
)
POWER = (
    "p must be a finite number from 1 up with metric='minkowski'; got p={}. "
    "Below 1 the triangle inequality fails; the limit of large p is metric='chebyshev'."
)
PARTITIONS = (
    "n_partitions must be an integer from 1 to 1000000; got n_partitions={}. "
    "Pass 200, or 'exact' for the closed form."
)
SEED = (
    "random_state must be None, an integer from 0 up, a numpy Generator or a RandomState; "
    "got random_state={}. Pass an integer for a repeatable result."
)
PERPLEXITY = (
    "perplexity must be 'auto' or a number from 1 to n_samples - 1 (9); "
    "got perplexity={}. Lower perplexity, or pass more points."
)
K = "k must be an integer from 1 to 9; got k={}. Lower k, or pass more points."

PARAMETERS = [
    (
        IsolationKernel(11),
        (
            "psi must be an integer from 2 to n_samples (10); got psi=11. "
            "Lower psi, or fit the kernel on more points."
        ),
    ),
    *[
        (IsolationKernel(psi), PSI.format(repr(psi)))
        for psi in (1, 0, -3, 1.5, 1.0, 2.0, 0.0, "many", True, None, float("nan"))
    ],
    (IsolationKernel([3, 1]), PSI.format(1)),
    (
        IsolationKernel([]),
        "psi must have at least one value; got psi=[]. Pass one value.",
    ),
    *[
        (IsolationKernel(2, n_partitions=t), PARTITIONS.format(repr(t)))
        for t in (0, -1, 2.5, "many", True, None)
    ],
    (
        IsolationKernel(2, partition="cubes"),
        "partition must be 'voronoi' or 'forest'; got partition='cubes'. Choose one of the two.",
    ),
    (
        IsolationKernel(2, partition="forest", metric="cosine"),
        (
            "metric must be left out with partition='forest': isolation trees use no distance; "
            "got metric='cosine'. Leave it out, or choose partition='voronoi'."
        ),
    ),
    (
        IsolationKernel(2, partition="forest", n_partitions="exact"),
        (
            "n_partitions must be a number with partition='forest': isolation trees have no "
            "closed form; got n_partitions='exact'. Pass 200, which is the default."
        ),
    ),
    *[
        (IsolationKernel(2, random_state=seed), SEED.format(repr(seed)))
        for seed in (-1, "zero", 1.0, True)
    ],
    *[
        (kernel(metric="jaccard"), METRIC.format("'jaccard'"))
        for kernel in (
            lambda **more: IsolationKernel(2, **more),
            GaussianKernel,
            AdaptiveGaussianKernel,
            KNNKernel,
        )
    ],
    *[
        (IsolationKernel(2, metric="minkowski", p=p), POWER.format(repr(p)))
        for p in (0.5, 0, -1, float("inf"), "two", True, None)
    ],
    *[(GaussianKernel(value), PERPLEXITY.format(repr(value))) for value in (0.5, 10, 9.5, "all")],
    (GaussianKernel([3, 0.5]), PERPLEXITY.format(0.5)),
    (GaussianKernel(float("nan")), PERPLEXITY.format("nan")),
    (GaussianKernel(True), PERPLEXITY.format(True)),
    (
        GaussianKernel([]),
        "perplexity must have at least one value; got perplexity=[]. Pass one value.",
    ),
    *[
        (kernel(k), K.format(repr(k)))
        for kernel in (AdaptiveGaussianKernel, KNNKernel)
        for k in (10, 0, 2.0, "all", True)
    ],
]


@pytest.mark.parametrize(("kernel", "sentence"), PARAMETERS, ids=[repr(k) for k, _ in PARAMETERS])
def test_parameters_outside_their_rule_are_refused_and_leave_nothing_behind(kernel, sentence):
    kernel = clone(kernel)
    before = dict(vars(kernel))
    with refuses(ParameterError, sentence):
        kernel.fit(X)
    assert vars(kernel) == before
    with pytest.raises(NotFittedError):
        kernel.similarity()


@pytest.mark.parametrize("k", [10, 0, 2.0, "all", True])
def test_numbers_of_neighbors_outside_their_range_are_refused(k):
    with refuses(
        ParameterError,
        f"k must be an integer from 1 to 9; got k={k!r}. A point is not its own neighbor.",
    ):
        nearest_neighbors(X, k)


def test_neighbors_in_unknown_metrics_are_refused():
    with refuses(ParameterError, METRIC.format("'jaccard'")):
        nearest_neighbors(X, 1, metric="jaccard")
    with refuses(ParameterError, POWER.format(0.5)):
        nearest_neighbors(X, 1, metric="minkowski", p=0.5)


DISTANCES = {
    "negative": (
        changed(changed(D, -1.0), -1.0, (2, 1)),
        (
            "Negative values in data: precomputed distances must be positive or zero; got -1 in X. "
            "Pass distances, not similarities."
        ),
    ),
    "not square": (
        D[:, :4],
        (
            "Precomputed distances must be a square distance matrix at fit; got shape (10, 4). "
            "Pass the distances of all points to all points."
        ),
    ),
    "diagonal": (
        changed(D, 0.5, (3, 3)),
        (
            "Precomputed distances must have a zero diagonal; got 0.5 on it. "
            "Pass distances, not similarities."
        ),
    ),
    "asymmetric": (
        changed(np.ones((4, 4)) - np.eye(4), 1.25, (0, 1)),
        (
            "Precomputed distances must be symmetric; "
            "got a difference of 0.25 between D[i, j] and D[j, i]. "
            "Pass (D + D.T) / 2 if that is what you mean."
        ),
    ),
}
BY_DISTANCES = {
    "voronoi": IsolationKernel(2, metric="precomputed").fit,
    "exact": IsolationKernel(2, n_partitions="exact", metric="precomputed").fit,
    "gaussian": GaussianKernel(2, metric="precomputed").fit,
    "adaptive": AdaptiveGaussianKernel(1, metric="precomputed").fit,
    "knn": KNNKernel(1, metric="precomputed").fit,
    "neighbors": lambda data: nearest_neighbors(data, 1, metric="precomputed"),
}


@pytest.mark.parametrize("fit", BY_DISTANCES.values(), ids=BY_DISTANCES)
@pytest.mark.parametrize(("distances", "sentence"), DISTANCES.values(), ids=DISTANCES)
def test_matrices_that_are_no_distances_are_refused(distances, sentence, fit):
    with refuses(DataError, sentence):
        fit(distances)


@pytest.mark.parametrize("sparse", [False, True])
def test_cosine_refuses_rows_that_are_all_zero(sparse):
    data = X.copy()
    data[[2, 5]] = 0
    data = csr_array(data) if sparse else data
    sentence = (
        "metric='cosine' needs rows that are not all zero; got 2 such row(s) in X. "
        "Leave them out, or choose metric='euclidean'."
    )
    with refuses(DataError, sentence):
        IsolationKernel(2, metric="cosine").fit(data)
    with refuses(DataError, sentence):
        nearest_neighbors(data, 1, metric="cosine")
    with refuses(DataError, sentence):
        IsolationKernel(2, metric="cosine").fit(X).similarity(data)


def test_cosine_refuses_rows_whose_stored_values_are_all_zero():
    stored = csr_array((np.array([0.0, 1.0, 2.0]), [0, 1, 2], [0, 1, 2, 3]), shape=(3, 3))
    with refuses(
        DataError,
        "metric='cosine' needs rows that are not all zero; got 1 such row(s) in X. "
        "Leave them out, or choose metric='euclidean'.",
    ):
        IsolationKernel(2, metric="cosine").fit(stored)


KERNELS = [
    IsolationKernel(2, n_partitions=5, random_state=0),
    IsolationKernel(2, n_partitions=5, partition="forest", random_state=0),
    IsolationKernel(2, n_partitions="exact"),
    GaussianKernel(2),
    AdaptiveGaussianKernel(2),
    KNNKernel(2),
]
IDS = ["voronoi", "forest", "exact", "gaussian", "adaptive", "knn"]


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_points_with_other_attributes_than_the_fitted_are_refused(kernel):
    fitted = clone(kernel).fit(X)
    sentence = (
        "The columns must be those of the fitted points: X has 2 features, but "
        f"{type(kernel).__name__} is expecting 3 features as input. "
        "Pass points with the same attributes."
    )
    with refuses(DataError, sentence):
        fitted.similarity(X[:, :2])
    with refuses(DataError, sentence):
        fitted.similarity(X, X[:, :2])


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_new_points_that_are_not_finite_are_refused(kernel):
    with refuses(
        DataError,
        "X must be finite; got 1 NaN and 0 infinite value(s), the first in row 1 (counting "
        "from 0), column 2. "
        "Leave out or impute the rows that hold them.",
    ):
        clone(kernel).fit(X).similarity(changed(X, np.nan))


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_nothing_can_be_asked_before_fit(kernel):
    kernel = clone(kernel)
    with pytest.raises(NotFittedError):
        kernel.similarity()
    with pytest.raises(NotFittedError):
        kernel.similarity(X)
    with pytest.raises(NotFittedError):
        kernel.rows()


@pytest.mark.parametrize("ask", ["cells", "cells_at_scales"])
def test_the_exact_kernel_has_no_cells(ask):
    kernel = IsolationKernel(2, n_partitions="exact").fit(X)
    with refuses(
        ParameterError,
        "n_partitions must be a number to compute cells or feature maps; got "
        "n_partitions='exact'. Use similarity, or pass a number of partitionings.",
    ):
        getattr(kernel, ask)(X)


@pytest.mark.parametrize("kernel", KERNELS[3:], ids=IDS[3:])
def test_two_new_sets_of_points_have_no_precomputed_distances(kernel):
    fitted = clone(kernel).set_params(metric="precomputed").fit(D)
    with refuses(
        DataError,
        "B must be None with metric='precomputed': distances between two sets of new points are "
        "unknown. Leave B out; A holds the distances to the fitted points.",
    ):
        fitted.similarity(D[:2], D[:3])


def test_values_whose_squares_leave_float64_are_refused():
    for size in (1e170, 1e-170):
        sentence = (
            "The largest value of X must be between 1e-150 and 1e150 in size, so that squared "
            f"distances are finite; got {size:g}. Multiply the data by a constant."
        )
        with refuses(DataError, sentence):
            GaussianKernel(2).fit(X / np.abs(X).max() * size)


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_a_fit_that_fails_on_its_data_leaves_nothing_behind(kernel):
    kernel = clone(kernel)
    before = dict(vars(kernel))
    with pytest.raises(DataError):
        kernel.fit(changed(X, np.nan))
    assert vars(kernel) == before
    with pytest.raises(NotFittedError):
        kernel.similarity()


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_a_refit_that_fails_on_its_data_leaves_the_earlier_fit(kernel):
    kernel = clone(kernel).fit(X)
    K = kernel.similarity()
    with pytest.raises(DataError):
        kernel.fit(changed(X[:5, :2], np.inf, (0, 0)))
    np.testing.assert_array_equal(kernel.similarity(), K)
    assert kernel.n_features_in_ == 3


@pytest.mark.parametrize(
    ("kernel", "wrong"),
    [
        (KERNELS[0], {"psi": 11}),
        (KERNELS[0], {"n_partitions": 0}),
        (KERNELS[0], {"metric": "jaccard"}),
        (KERNELS[0], {"random_state": -1}),
        (KERNELS[1], {"n_partitions": "exact"}),
        (KERNELS[2], {"n_partitions": 0}),
        (KERNELS[2], {"metric": "jaccard"}),
        (KERNELS[3], {"perplexity": 10}),
        (KERNELS[4], {"k": 10}),
        (KERNELS[5], {"k": 10}),
    ],
    ids=repr,
)
def test_a_refit_that_fails_on_a_parameter_leaves_the_earlier_fit(kernel, wrong):
    kernel = clone(kernel).fit(X)
    neighbors = nearest_neighbors(X, 9)
    K, K_new = kernel.similarity(), kernel.similarity(X + 0.1)
    near = kernel.neighbor_similarity(neighbors)
    with pytest.raises(ParameterError):
        kernel.set_params(**wrong).fit(X)
    np.testing.assert_array_equal(kernel.similarity(), K)
    np.testing.assert_array_equal(kernel.similarity(X + 0.1), K_new)
    np.testing.assert_array_equal(kernel.neighbor_similarity(neighbors), near)


def test_every_refusal_is_a_value_error_and_one_of_ours():
    assert issubclass(DataError, ValueError)
    assert issubclass(ParameterError, ValueError)
    assert issubclass(DataError, IsosneError)
    assert issubclass(ParameterError, IsosneError)
