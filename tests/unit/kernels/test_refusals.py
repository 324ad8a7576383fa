"""What kernels refuse, and in which words."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph

from isosne import GaussianKernel, IsolationKernel, KNNKernel, PrecomputedKernel
from isosne.errors import DataError, ParameterError
from isosne.quality import compare
from tests.conftest import make, refuses

X = np.random.default_rng(5).normal(size=(70, 4))
D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
GRAPH = csr_array(kneighbors_graph(X, 30, mode="distance"))
P = np.exp(-D)
LISTED = {"metric": "precomputed"}


class Constant:
    """A kernel that answers with this matrix whatever it is asked."""

    def __init__(self, matrix):
        self.matrix = matrix

    def fit(self, X):
        pass

    def similarity(self, A=None, B=None):
        return self.matrix

    def __repr__(self):
        return "Constant()"


def fit(kernel, data=GRAPH, **settings):
    return lambda: make(kernel, **settings).fit(data)


def transform(kernel, data, rows):
    return lambda: make(kernel).fit(data).transform(rows)


def changed(matrix, value, row=3, column=5):
    other = matrix.copy()
    other[row, column] = value
    return other


SIMILARITY = (
    "The similarity of a kernel must be finite and not negative, with shape ({}, 70); got shape "
    "{} from Constant(). Correct its method similarity."
)
NEGATIVE = (
    "Negative values in data: precomputed affinities must be positive or zero; got -0.25. "
    "Pass similarities, not distances."
)
ALL_PAIRS = (
    "X must hold the distances of all pairs here; a sparse matrix holds only those that are "
    "stored. Pass a dense matrix of distances."
)
CASES = {
    "graph: perplexity": pytest.param(
        fit(GaussianKernel(31, **LISTED)),
        "perplexity must be at most 30, the smallest number of distances per row of X; got "
        "perplexity=31. Lower perplexity, or store more distances; three times the perplexity is "
        "usual.",
    ),
    "graph: k": pytest.param(
        fit(KNNKernel(31, **LISTED)),
        "k must be at most 30, the smallest number of distances per row of X; got k=31. Lower k, "
        "or store more distances.",
    ),
    "graph: isolation": (fit(IsolationKernel(**LISTED)), ALL_PAIRS),
    "graph: similarity": (lambda: GaussianKernel(**LISTED).fit(GRAPH).similarity(), ALL_PAIRS),
    "graph: quality": (lambda: compare(GRAPH, X, metric="precomputed").auc(), ALL_PAIRS),
    "graph: affinities": pytest.param(
        fit(KNNKernel(5, **LISTED), affinities="dense"),
        "affinities must be 'sparse', because the distances are those to neighbors; got "
        "affinities='dense'. Leave it out.",
    ),
    "graph: objective": pytest.param(
        fit(KNNKernel(5, **LISTED), objective="nerv"),
        "objective must be 'kl' for a sparse matrix of distances, which leaves most pairs out; "
        "got objective='NeRV'. Pass a dense matrix of distances.",
    ),
    "graph: empty row": pytest.param(
        fit(KNNKernel(5, **LISTED), csr_array(D * (np.arange(70) > 0)[:, None])),
        "A sparse matrix of distances must store at least one distance to another point in each "
        "row; some rows store none. Store the distances of each point to its neighbors, or pass a "
        "dense matrix.",
    ),
    "graph: short rows of new points": pytest.param(
        transform(KNNKernel(6, **LISTED), GRAPH, csr_array(D[:2] * (np.arange(70) < 3))),
        "Each row must store the distances to its 18 nearest points; row 0 of X (counting from 0) "
        "stores 2. Store more of them, or pass a dense matrix.",
    ),
    "affinities: negative": (fit("precomputed", changed(P, -0.25)), NEGATIVE),
    "affinities: negative, sparse": (fit("precomputed", csr_array(changed(P, -0.25))), NEGATIVE),
    "affinities: negative, new": (transform("precomputed", P, changed(P, -0.25)), NEGATIVE),
    "affinities: not square": pytest.param(
        fit("precomputed", P[:, :60]),
        "Precomputed affinities must be a square matrix; got shape (70, 60). "
        "Pass the affinities of all pairs of points.",
    ),
    "affinities: zeros": pytest.param(
        fit("precomputed", np.eye(9)),
        "Precomputed affinities must be positive for at least one pair of different points; all "
        "are zero. Pass similarities.",
    ),
    "affinities: a row of zeros": pytest.param(
        transform("precomputed", P, np.eye(3, 70) * [[0], [1], [0]]),
        "Each row must have a positive affinity to at least one fitted point; got 2 row(s) of "
        "zeros. Remove them.",
    ),
    "affinities: another form": pytest.param(
        fit("precomputed", csr_array(P), affinities="dense"),
        "affinities must be 'sparse', because the affinities are precomputed; got "
        "affinities='dense'. Leave it out.",
    ),
    "affinities: two sets": pytest.param(
        lambda: PrecomputedKernel().fit(P).similarity(None, 3),
        "B must be None: affinities between two sets of new points are unknown; got B=3. "
        "Leave it out.",
    ),
    "own: lists": pytest.param(
        fit(Constant(P), X, affinities="sparse"),
        "affinities must be 'dense', because a user-defined kernel compares all pairs; got "
        "affinities='sparse'. Leave it out.",
    ),
    "own: wide": (fit(Constant(np.ones((70, 71))), X), SIMILARITY.format(70, (70, 71))),
    "own: deep": (fit(Constant(P[None]), X), SIMILARITY.format(70, (1, 70, 70))),
    "own: nan": (fit(Constant(changed(P, np.nan)), X), SIMILARITY.format(70, (70, 70))),
    "own: negative": (fit(Constant(changed(P, -1e-9)), X), SIMILARITY.format(70, (70, 70))),
    "own: new": (transform(Constant(P), X, X[:9] + 1), SIMILARITY.format(9, (70, 70))),
}


@pytest.mark.parametrize(("ask", "sentence"), CASES.values(), ids=CASES)
def test_what_cannot_be_compared_is_refused(ask, sentence):
    with refuses((DataError, ParameterError), sentence):
        ask()


SPOILED = {
    "asymmetric": (changed(D, D[3, 5] + 1), "must be symmetric; got a difference of 1 between"),
    "negative": (-D, "must be positive or zero; got -"),
    "diagonal": (changed(D, 2.0, 3, 3), "must have a zero diagonal; got 2 on it"),
    "not square": (D[:, :40], "must be a square distance matrix at fit"),
}


@pytest.mark.parametrize(("matrix", "part"), SPOILED.values(), ids=SPOILED)
def test_what_is_no_graph_of_distances_is_refused(matrix, part):
    with pytest.raises(DataError, match=f"recomputed distances {part}"):
        KNNKernel(6, **LISTED).fit(csr_array(matrix))
