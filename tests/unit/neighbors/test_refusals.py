"""What the neighbor search refuses, and in which words."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne.errors import DataError, ParameterError
from isosne.neighbors import nearest_neighbors
from tests.conftest import refuses

POINTS = np.eye(9)
SPARSE = csr_array(POINTS)
DENSE_ONLY = (
    "metric='{}' needs a dense array; got a sparse matrix in X. "
    "Pass X.toarray(), or choose metric='manhattan'."
)
SEARCHABLE = (
    "metric must be one of 'euclidean', 'cosine', 'mahalanobis', with a dense X, for the "
    "approximate neighbor search; got metric='{}'. Choose the exact search."
)
CASES = {
    "metric": (POINTS, ("manhattan", "approximate"), SEARCHABLE.format("manhattan")),
    "codes": (POINTS, ("hamming", "approximate"), SEARCHABLE.format("hamming")),
    "sparse": (SPARSE, ("euclidean", "approximate"), SEARCHABLE.format("euclidean")),
    "method": pytest.param(
        POINTS,
        ("euclidean", "fast"),
        "method must be 'exact' or 'approximate'; got method='fast'. Choose one of the two.",
    ),
    "sparse codes": (SPARSE, ("hamming", "exact"), DENSE_ONLY.format("hamming")),
    "sparse table": (SPARSE, ("gower", "exact"), DENSE_ONLY.format("gower")),
    "sparse chebyshev": (SPARSE, ("chebyshev", "exact"), DENSE_ONLY.format("chebyshev")),
    "sparse minkowski": pytest.param(
        SPARSE,
        ("minkowski", "exact"),
        "p must be 1 or 2 for a sparse matrix; got p=3. Pass X.toarray() for other powers.",
    ),
    "no table": pytest.param(
        1.5 * POINTS,
        ("gower", "exact"),
        "metric='gower' needs points of a table: values from 0 to 1, categories from 2 up, -1 if "
        "missing; got other values in X. Pass isosne.tables.gower_points(X).",
    ),
}


@pytest.mark.parametrize(("X", "how", "sentence"), CASES.values(), ids=CASES)
def test_what_cannot_be_searched_is_refused(X, how, sentence):
    with refuses((DataError, ParameterError), sentence):
        nearest_neighbors(X, 3, metric=how[0], p=3, method=how[1])
