"""The checks of scikit-learn, and what clusters, outliers and the null test refuse."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import estimator_checks_generator

from isosne import IsolationOutliers, LeidenClustering, PrecomputedKernel
from isosne.errors import DataError, ParameterError
from isosne.structure import null_test
from tests.conftest import refuses

X = np.random.default_rng(0).normal(size=(10, 3))
D = np.abs(X[:, :1] - X[:, 0])


def checks_of_scikit_learn():
    """Every check, but that of array types that a default SciPy does not take."""
    models = (
        LeidenClustering(n_runs=2, random_state=0),
        IsolationOutliers(n_partitions=20, random_state=0),
    )
    for model in models:
        for estimator, check in estimator_checks_generator(model):
            name = getattr(check, "func", check).__name__
            if "array_api" not in name:
                yield pytest.param(estimator, check, id=f"{type(model).__name__}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(checks_of_scikit_learn()))
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("error", "call", "sentence"),
    [
        (
            ParameterError,
            lambda: LeidenClustering(resolution=-1).fit(X),
            (
                "resolution must be a number from 0 up; got resolution=-1. Higher values give more "
                "clusters; 0.25 to 2 are usual."
            ),
        ),
        (
            ParameterError,
            lambda: LeidenClustering(n_runs=1).fit(X),
            "n_runs must be an integer from 2 up; got n_runs=1. Two runs or more are compared.",
        ),
        (
            ParameterError,
            lambda: IsolationOutliers(psi=1).fit(X),
            "psi must be an integer from 2 up; got psi=1. Samples of 4 to 32 points are usual.",
        ),
        (
            ParameterError,
            lambda: IsolationOutliers(n_partitions=0).fit(X),
            (
                "n_partitions must be an integer from 1 up; got n_partitions=0. 100 partitionings "
                "give scores that vary little with the seed."
            ),
        ),
        (
            ParameterError,
            lambda: IsolationOutliers(contamination=0.7).fit(X),
            (
                "contamination must be 'auto' or a fraction above 0 and up to 0.5; got "
                "contamination=0.7. 0.05 marks 5 % of the points."
            ),
        ),
        (
            DataError,
            lambda: IsolationOutliers(metric="precomputed").fit(csr_array(D)),
            (
                "Precomputed distances must be dense, because samples are compared with all "
                "points; got a sparse matrix. Pass X.toarray() if it stores all of them."
            ),
        ),
        (
            ParameterError,
            lambda: null_test(X, n_draws=0),
            (
                "n_draws must be an integer from 1 up; got n_draws=0. 19 draws suffice for a test "
                "at the 5 % level."
            ),
        ),
        (
            ParameterError,
            lambda: null_test(X, n_rows=3),
            "n_rows must be an integer from 4 up; got n_rows=3. 1000 rows are usual.",
        ),
        (
            ParameterError,
            lambda: null_test(X, keep="rows"),
            (
                "keep must be one of 'auto', 'columns', 'correlations'; got keep='rows'. 'columns' "
                "permutes each column."
            ),
        ),
        (
            ParameterError,
            lambda: null_test(csr_array(X), keep="correlations"),
            (
                "keep must be 'columns' for a sparse matrix; got keep='correlations'. Pass "
                "keep='columns'."
            ),
        ),
        (
            ParameterError,
            lambda: null_test(D, PrecomputedKernel()),
            (
                "kernel must compare points by their columns, which are permuted; got "
                "kernel=PrecomputedKernel(). Pass points instead of distances or affinities."
            ),
        ),
    ],
)
def test_wrong_parameters_are_refused(error, call, sentence):
    with refuses(error, sentence):
        call()
