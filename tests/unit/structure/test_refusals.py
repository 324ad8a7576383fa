"""What clusters, outliers and the null test refuse, and in which words."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import IsolationOutliers, LeidenClustering, PrecomputedKernel
from isosne.errors import DataError, ParameterError
from isosne.structure import null_test
from tests.conftest import refuses

X = np.random.default_rng(0).normal(size=(10, 3))
D = np.abs(X[:, :1] - X[:, 0])
CASES = [
    pytest.param(
        lambda: LeidenClustering(resolution=-1).fit(X),
        "resolution must be a number from 0 up; got resolution=-1. Higher values give more "
        "clusters; 0.25 to 2 are usual.",
    ),
    pytest.param(
        lambda: LeidenClustering(n_runs=1).fit(X),
        "n_runs must be an integer from 2 to 1000; got n_runs=1. Two runs or more are compared.",
    ),
    pytest.param(
        lambda: IsolationOutliers(psi=1).fit(X),
        "psi must be an integer from 2 up; got psi=1. Samples of 4 to 32 points are usual.",
    ),
    pytest.param(
        lambda: IsolationOutliers(n_partitions=0).fit(X),
        "n_partitions must be an integer from 1 to 100000; got n_partitions=0. 100 partitionings "
        "give scores that vary little with the seed.",
    ),
    pytest.param(
        lambda: IsolationOutliers(contamination=0.7).fit(X),
        "contamination must be 'auto' or a fraction above 0 and up to 0.5; got contamination=0.7. "
        "0.05 marks 5 % of the points.",
    ),
    pytest.param(
        lambda: IsolationOutliers(metric="precomputed").fit(csr_array(D)),
        "Precomputed distances must be dense, because samples are compared with all points; got a "
        "sparse matrix. Pass X.toarray() if it stores all of them.",
    ),
    pytest.param(
        lambda: null_test(X, n_draws=0),
        "n_draws must be an integer from 1 to 100000; got n_draws=0. 19 draws suffice for a "
        "test at the 5 % level.",
    ),
    pytest.param(
        lambda: null_test(X, n_rows=3),
        "n_rows must be an integer from 4 up; got n_rows=3. 1000 rows are usual.",
    ),
    pytest.param(
        lambda: null_test(X, keep="rows"),
        "keep must be one of 'auto', 'columns', 'correlations'; got keep='rows'. 'columns' "
        "permutes each column.",
    ),
    pytest.param(
        lambda: null_test(csr_array(X), keep="correlations"),
        "keep must be 'columns' for a sparse matrix; got keep='correlations'. Pass keep='columns'.",
    ),
    pytest.param(
        lambda: null_test(D, PrecomputedKernel()),
        "kernel must compare points by their columns, which are permuted; got "
        "kernel=PrecomputedKernel(). Pass points instead of distances or affinities.",
    ),
]


@pytest.mark.parametrize(("ask", "sentence"), CASES)
def test_what_cannot_be_used_is_refused(ask, sentence):
    with refuses((DataError, ParameterError), sentence):
        ask()
