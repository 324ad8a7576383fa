"""What kernels and the neighbor search refuse, word for word, and what it leaves behind."""

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
from isosne.errors import DataError, ParameterError
from tests.conftest import refuses

X = np.random.default_rng(0).normal(size=(10, 3))
D = np.abs(X[:, :1] - X[:, 0])
KERNELS = {
    "voronoi": IsolationKernel(2, n_partitions=5, random_state=0),
    "forest": IsolationKernel(2, n_partitions=5, partition="forest", random_state=0),
    "exact": IsolationKernel(2, n_partitions="exact"),
    "gaussian": GaussianKernel(2),
    "adaptive": AdaptiveGaussianKernel(2),
    "knn": KNNKernel(2),
}
OF_DISTANCES = [name for name in KERNELS if name != "forest"]
each_kernel = pytest.mark.parametrize("name", KERNELS)


def changed(array, value, place=(1, 2)):
    array = array.copy()
    array[place] = value
    return array


def fit_or_search(name, data, metric="euclidean"):
    """Fit a kernel of this name, or search for neighbors."""
    if name == "neighbors":
        return nearest_neighbors(data, 1, metric=metric)
    return clone(KERNELS[name]).set_params(metric=metric).fit(data)


FINITE = (
    "X must be finite; got {} NaN and {} infinite value(s), the first in row {} (counting from "
    "0), column {}. Leave out or impute the rows that hold them."
)
NAN = FINITE.format(1, 0, 1, 2)
ROWS = "X must have at least 2 row(s); got n_samples={}. Pass more points, one in each row."
SHAPE = (
    "X must be two-dimensional, one point in each row; got shape {}. Reshape your data with "
    "X.reshape(-1, 1) if it has one attribute, or X.reshape(1, -1) if it is one point."
)
TEXT = (
    "X must be numeric; row {0} (counting from 0), column {0} holds the text {1!r}. "
    "Encode the column as numbers, or leave it out."
)
COMPLEX = (
    "Complex data not supported: X must be real; got dtype complex128. "
    "Pass the real and imaginary parts as columns."
)
DATA = {
    "nan": (changed(X, np.nan), NAN),
    "inf": (changed(changed(X, -np.inf), np.inf, (0, 0)), FINITE.format(0, 2, 0, 0)),
    "masked": (np.ma.masked_equal(changed(X, 77), 77), NAN),
    "sparse nan": (csr_array(changed(X, np.nan)), NAN),
    "empty": (X[:0], ROWS.format(0)),
    "one row": (X[:1], ROWS.format(1)),
    "no columns": pytest.param(
        X[:, :0],
        "X must have at least one column; found 0 feature(s) (shape=(10, 0)) while a minimum of 1 "
        "is required. Pass points with at least one attribute.",
    ),
    "one-dimensional": (X[0], SHAPE.format("(3,)")),
    "three-dimensional": (X[:, :, None], SHAPE.format("(10, 3, 1)")),
    "strings": (np.array([["a", "b"], ["c", "d"]]), TEXT.format(0, "a")),
    "objects": (np.array([[1, 2.5], [True, "c"]], dtype=object), TEXT.format(1, "c")),
    "dates": pytest.param(
        np.array([["2020-01-01"], ["2021-01-01"]], dtype="datetime64[D]"),
        "X must be numeric; got dates or times (datetime64[D]). Convert them to numbers, such as "
        "days since the first date, or leave them out.",
    ),
    "complex": (X * 1j, COMPLEX),
    "sparse complex": (csr_array(X * 1j), COMPLEX),
    **{
        f"{size}": pytest.param(
            X / np.abs(X).max() * size,
            "The largest value of X must be between 1e-150 and 1e150 in size, so that squared "
            f"distances are finite; got {size:g}. Multiply the data by a constant.",
        )
        for size in (1e170, 1e-170)
    },
}


@pytest.mark.parametrize("name", [*KERNELS, "neighbors"])
@pytest.mark.parametrize(("data", "sentence"), DATA.values(), ids=DATA)
def test_data_that_cannot_be_used_are_refused(data, sentence, name):
    with refuses(DataError, sentence):
        fit_or_search(name, data)


DISTANCES = {
    "negative": pytest.param(
        changed(changed(D, -1.0), -1.0, (2, 1)),
        "Negative values in data: precomputed distances must be positive or zero; got -1 in X. "
        "Pass distances, not similarities.",
    ),
    "not square": pytest.param(
        D[:, :4],
        "Precomputed distances must be a square distance matrix at fit; got shape (10, 4). "
        "Pass the distances of all points to all points.",
    ),
    "diagonal": pytest.param(
        changed(D, 0.5, (3, 3)),
        "Precomputed distances must have a zero diagonal; got 0.5 on it. "
        "Pass distances, not similarities.",
    ),
    "asymmetric": pytest.param(
        changed(np.ones((4, 4)) - np.eye(4), 1.25, (0, 1)),
        "Precomputed distances must be symmetric; got a difference of 0.25 between D[i, j] and "
        "D[j, i]. Pass (D + D.T) / 2 if that is what you mean.",
    ),
}


@pytest.mark.parametrize("name", [*OF_DISTANCES, "neighbors"])
@pytest.mark.parametrize(("distances", "sentence"), DISTANCES.values(), ids=DISTANCES)
def test_matrices_that_are_no_distances_are_refused(distances, sentence, name):
    with refuses(DataError, sentence):
        fit_or_search(name, distances, "precomputed")


ZERO_ROW = changed(X, 0, 2)
STORED_ZERO = csr_array((np.array([0.0, 1.0, 2.0]), [0, 1, 2], [0, 1, 2, 3]), shape=(3, 3))


@pytest.mark.parametrize(
    "data", [ZERO_ROW, csr_array(ZERO_ROW), STORED_ZERO], ids=["dense", "sparse", "stored"]
)
def test_cosine_refuses_rows_that_are_all_zero(data):
    sentence = (
        "metric='cosine' needs rows that are not all zero; got 1 such row(s) in X. "
        "Leave them out, or choose metric='euclidean'."
    )
    fitted = fit_or_search("voronoi", X, "cosine")
    for ask in (
        lambda: fit_or_search("voronoi", data, "cosine"),
        lambda: fit_or_search("neighbors", data, "cosine"),
        lambda: fitted.similarity(data),
    ):
        with refuses(DataError, sentence):
            ask()


PSI = (
    "psi must be 'auto', an integer from 2 to n_samples, or a share of n_samples between 0 and 1; "
    "got psi={!r}. A single cell would hold every point; choose a larger psi."
)
METRIC = (
    "metric must be one of 'euclidean', 'manhattan', 'chebyshev', 'minkowski', 'cosine', "
    "'mahalanobis', 'hamming', 'jaccard', 'gower', 'precomputed'; got metric='dtw'. "
    "For another metric compute the distances yourself and pass metric='precomputed'."
)
POWER = (
    "p must be a finite number from 1 up with metric='minkowski'; got p={!r}. "
    "Below 1 the triangle inequality fails; the limit of large p is metric='chebyshev'."
)
PARTITIONS = (
    "n_partitions must be an integer from 1 to 1000000; got n_partitions={!r}. "
    "Pass 200, or 'exact' for the closed form."
)
SEED = (
    "random_state must be None, an integer from 0 up, a numpy Generator or a RandomState; "
    "got random_state={!r}. Pass an integer for a repeatable result."
)
PERPLEXITY = (
    "perplexity must be 'auto' or a number from 1 to n_samples - 1 (9); got perplexity={!r}. {}"
)
K = "k must be an integer from 1 to 9; got k={!r}. {}"
COUNTS = (10, 0, 2.0, "all", True)
PSIS = (1, 0, -3, 1.5, 1.0, 2.0, 0.0, "many", True, None, float("nan"))
POWERS = (0.5, 0, -1, float("inf"), "two", True, None)

PARAMETERS = [
    *[(IsolationKernel(psi), PSI.format(psi)) for psi in PSIS],
    (IsolationKernel([3, 1]), PSI.format(1)),
    *[
        (IsolationKernel(2, n_partitions=t), PARTITIONS.format(t))
        for t in (0, -1, 2.5, "many", True, None)
    ],
    *[
        (IsolationKernel(2, random_state=seed), SEED.format(seed))
        for seed in (-1, "zero", 1.0, True)
    ],
    *[(clone(KERNELS[name]).set_params(metric="dtw"), METRIC) for name in OF_DISTANCES],
    *[(IsolationKernel(2, metric="minkowski", p=p), POWER.format(p)) for p in POWERS],
    *[
        (GaussianKernel(value), PERPLEXITY.format(value, "30 is usual."))
        for value in (0.5, "all", float("nan"), True)
    ],
    *[
        (GaussianKernel(value), PERPLEXITY.format(value, "Lower perplexity, or pass more points."))
        for value in (10, 9.5)
    ],
    (GaussianKernel([3, 0.5]), PERPLEXITY.format(0.5, "30 is usual.")),
    *[
        (kernel(k), K.format(k, "Lower k, or pass more points."))
        for kernel in (AdaptiveGaussianKernel, KNNKernel)
        for k in COUNTS
    ],
    pytest.param(
        IsolationKernel(11),
        "psi must be an integer from 2 to n_samples (10); got psi=11. "
        "Lower psi, or fit the kernel on more points.",
    ),
    (IsolationKernel([]), "psi must have at least one value; got psi=[]. Pass one value."),
    pytest.param(
        GaussianKernel([]),
        "perplexity must have at least one value; got perplexity=[]. Pass one value.",
    ),
    pytest.param(
        IsolationKernel(2, partition="cubes"),
        "partition must be 'voronoi' or 'forest'; got partition='cubes'. Choose one of the two.",
    ),
    pytest.param(
        IsolationKernel(2, partition="forest", metric="cosine"),
        "metric must be left out with partition='forest': isolation trees use no distance; "
        "got metric='cosine'. Leave it out, or choose partition='voronoi'.",
    ),
    pytest.param(
        IsolationKernel(2, partition="forest", n_partitions="exact"),
        "n_partitions must be a number with partition='forest': isolation trees have no closed "
        "form; got n_partitions='exact'. Pass 200, which is the default.",
    ),
]


@pytest.mark.parametrize(("kernel", "sentence"), PARAMETERS)
def test_parameters_outside_their_rule_are_refused_and_leave_nothing_behind(kernel, sentence):
    kernel = clone(kernel)
    before = dict(vars(kernel))
    with refuses(ParameterError, sentence):
        kernel.fit(X)
    assert vars(kernel) == before


@pytest.mark.parametrize(
    ("k", "options", "sentence"),
    [
        *[(k, {}, K.format(k, "A point is not its own neighbor.")) for k in COUNTS],
        (1, {"metric": "dtw"}, METRIC),
        (1, {"metric": "minkowski", "p": 0.5}, POWER.format(0.5)),
    ],
)
def test_searches_outside_their_rules_are_refused(k, options, sentence):
    with refuses(ParameterError, sentence):
        nearest_neighbors(X, k, **options)


@each_kernel
def test_new_points_that_cannot_be_compared_are_refused(name):
    fitted = clone(KERNELS[name]).fit(X)
    sentence = (
        "The columns must be those of the fitted points: X has 2 features, but "
        f"{type(fitted).__name__} is expecting 3 features as input. "
        "Pass points with the same attributes."
    )
    with refuses(DataError, sentence):
        fitted.similarity(X[:, :2])
    with refuses(DataError, sentence):
        fitted.similarity(X, X[:, :2])
    with refuses(DataError, NAN):
        fitted.similarity(changed(X, np.nan))


@pytest.mark.parametrize("ask", ["cells", "cells_at_scales"])
def test_the_exact_kernel_has_no_cells(ask):
    sentence = (
        "n_partitions must be a number to compute cells or feature maps; got "
        "n_partitions='exact'. Use similarity, or pass a number of partitionings."
    )
    with refuses(ParameterError, sentence):
        getattr(clone(KERNELS["exact"]).fit(X), ask)(X)


@pytest.mark.parametrize("name", ["gaussian", "adaptive", "knn"])
def test_two_new_sets_of_points_have_no_precomputed_distances(name):
    sentence = (
        "B must be None with metric='precomputed': distances between two sets of new points are "
        "unknown. Leave B out; A holds the distances to the fitted points."
    )
    with refuses(DataError, sentence):
        fit_or_search(name, D, "precomputed").similarity(D[:2], D[:3])


@each_kernel
def test_a_fit_that_fails_on_its_data_leaves_nothing_behind(name):
    kernel = clone(KERNELS[name])
    before = dict(vars(kernel))
    with pytest.raises(DataError):
        kernel.fit(changed(X, np.nan))
    assert vars(kernel) == before
    for ask in (kernel.similarity, lambda: kernel.similarity(X), kernel.rows):
        with pytest.raises(NotFittedError):
            ask()


WRONG = {
    "voronoi": {"psi": 11},
    "forest": {"n_partitions": "exact"},
    "exact": {"metric": "dtw"},
    "gaussian": {"perplexity": 10},
    "adaptive": {"k": 10},
    "knn": {"k": 10},
}


@pytest.mark.parametrize(("name", "wrong"), WRONG.items(), ids=WRONG)
def test_a_refit_that_fails_leaves_the_earlier_fit(name, wrong):
    kernel, neighbors = clone(KERNELS[name]).fit(X), nearest_neighbors(X, 9)

    def answers():
        near = kernel.neighbor_similarity(neighbors)
        return kernel.similarity(), kernel.similarity(X + 0.1), near

    before = answers()
    with pytest.raises(DataError):
        kernel.fit(changed(X[:5, :2], np.inf, (0, 0)))
    with pytest.raises(ParameterError):
        kernel.set_params(**wrong).fit(X)
    for found, expected in zip(answers(), before, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert kernel.n_features_in_ == 3
