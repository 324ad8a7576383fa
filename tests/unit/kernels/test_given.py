"""Similarities that the user provides: affinities of all pairs, and kernels of one's own."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

from isosne import TSNE, KNNKernel, NeRV, Phase, Schedule, nearest_neighbors
from isosne.affinities.dense import given_affinities
from isosne.errors import IsolatedPointsWarning
from tests.unit.affinities.test_dense import as_matrix as dense_matrix
from tests.unit.affinities.test_sparse import as_matrix
from tests.unit.tsne.conftest import make

N = 70
FEW = Schedule((Phase(4, step=10),))
START = np.random.default_rng(5).normal(size=(N, 2))


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(N, 5))


@pytest.fixture(scope="module")
def connectivities(points):
    """A neighbor graph with weights, as other packages make them: sparse, not symmetric."""
    indices, distances = nearest_neighbors(points, 12)
    weights = np.exp(-distances / distances[:, -1:]).astype(np.float64)
    indptr = np.arange(0, 12 * N + 1, 12)
    return csr_array((weights.ravel(), indices.ravel(), indptr), shape=(N, N))


def test_affinities_are_symmetrized_and_scaled_and_nothing_else():
    # By hand: a + a^T without the diagonal is [[0, 3, 1], [3, 0, 4], [1, 4, 0]], with sum 16.
    A = np.array([[9.0, 2.0, 1.0], [1.0, 0.0, 4.0], [0.0, 0.0, 7.0]])
    expected = np.array([[0, 3, 1], [3, 0, 4], [1, 4, 0]]) / 16
    dense, isolated = given_affinities(A, as_dense=True)
    np.testing.assert_allclose(dense_matrix(dense), expected, rtol=1e-7)
    sparse, none = given_affinities(csr_array(A), as_dense=False)
    np.testing.assert_allclose(as_matrix(sparse), expected, rtol=1e-7)
    assert len(sparse.data) == 6  # neither the diagonal nor zeros are kept
    assert len(isolated) == len(none) == 0


def test_csr_gives_the_map_of_the_dense_matrix(connectivities):
    settings = {"start": START, "schedule": FEW}
    sparse = make("precomputed", **settings).fit(connectivities)
    dense = make("precomputed", **settings).fit(connectivities.toarray())
    assert (sparse.plan_.affinities, dense.plan_.affinities) == ("sparse", "dense")
    np.testing.assert_allclose(
        as_matrix(sparse.affinities_), dense_matrix(dense.affinities_), rtol=1e-6
    )
    # the same numbers, summed in another order
    way = np.abs(dense.embedding_ - START).max()
    np.testing.assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-5 * way)
    one = sparse.transform(connectivities[:9])
    np.testing.assert_allclose(dense.transform(connectivities[:9].toarray()), one, atol=1e-4 * way)


def test_objectives_over_all_pairs_take_a_graph_as_a_matrix(connectivities):
    model = make("precomputed", objective=NeRV(0.8)).fit(connectivities)
    assert model.plan_.affinities == "dense"
    assert np.isfinite(model.embedding_).all()


def test_a_file_keeps_the_model(connectivities, tmp_path):
    for P in (connectivities, connectivities.toarray()):
        model = make("precomputed").fit(P)
        model.save(tmp_path / "model.isosne")
        loaded = TSNE.load(tmp_path / "model.isosne")
        assert type(loaded.kernel_.X_fit_) is type(P)
        rows = P[:5] + P[5:10]
        assert loaded.transform(rows).tobytes() == model.transform(rows).tobytes()


def test_rows_of_affinities_are_placed_where_they_point(two_blobs):
    similarity = np.exp(-((two_blobs[:, None] - two_blobs) ** 2).sum(axis=2) / 20)
    model = make("precomputed", schedule=Schedule.standard(n_iter=400)).fit(similarity)
    rows = np.zeros((2, 60))
    rows[0, :30] = rows[1, 30:] = 1
    placed = model.transform(rows)
    assert placed.dtype == np.float32
    nearest = ((placed[:, None] - model.embedding_) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest < 30).tolist() == [True, False]
    before = rows.copy()
    assert model.transform(csr_array(rows)).tobytes() == placed.tobytes()
    assert model.transform(5 * rows).tobytes() == placed.tobytes()  # a factor does not matter
    np.testing.assert_array_equal(rows, before)


def test_points_without_affinities_are_named_and_moved_by_repulsion(connectivities):
    P = connectivities.toarray()
    P[[4, 9]] = P[:, [4, 9]] = 0
    sentence = "2 of 70 points have no affinity to any other point; only repulsion acts on them."
    for graph in (P, csr_array(P)):
        with pytest.warns(IsolatedPointsWarning) as caught:
            model = make("precomputed").fit(graph)
        assert [str(warning.message) for warning in caught] == [sentence]
        assert caught[0].filename == __file__
        assert model.isolated_.tolist() == [4, 9]
        assert np.isfinite(model.embedding_).all()
        np.testing.assert_allclose(model.kernel_.similarity(), P, rtol=1e-6)


class Cosine:
    """One plus the cosine of the angle between two rows, in five lines."""

    def fit(self, X):
        self.X = X

    def similarity(self, A=None, B=None):
        A, B = (self.X if Z is None else Z for Z in (A, B))
        return 1 + A @ B.T / np.outer(np.linalg.norm(A, axis=1), np.linalg.norm(B, axis=1))


class Wrapped(BaseEstimator):
    """A kernel of isosne behind the two methods alone, which scikit-learn can clone."""

    def __init__(self, kernel):
        self.kernel = kernel

    def fit(self, X):
        self.kernel.fit(X)

    def similarity(self, A=None, B=None):
        return self.kernel.similarity(A, B)


@pytest.fixture(scope="module")
def new():
    return np.random.default_rng(1).normal(size=(9, 5))


def test_a_wrapped_kernel_makes_the_map_of_the_kernel(points, new):
    # The kNN kernel has zeros and ones: both ways give the same float32 numbers.
    own, wrapped = (make(k).fit(points) for k in (KNNKernel(7), Wrapped(KNNKernel(7))))
    assert wrapped.embedding_.tobytes() == own.embedding_.tobytes()
    assert wrapped.transform(new).tobytes() == own.transform(new).tobytes()
    np.testing.assert_array_equal(wrapped.transform(points), wrapped.embedding_)


def test_the_objects_of_the_user_stay_as_they_are(points):
    for kernel in (Cosine(), Wrapped(KNNKernel(7))):
        before = dict(vars(kernel))
        model = make(kernel).fit(points)
        assert vars(kernel) == before
        assert model.kernel_.kernel_ is not kernel
    own = "CustomKernel(kernel=Wrapped(kernel=KNNKernel()))"
    assert str(model.plan_).splitlines()[1] == f"kernel      {own}"
    assert model.plan_.affinities == "dense"


class Cached(Cosine):
    """A kernel that hands out arrays which it keeps, in the type that isosne uses."""

    def __init__(self):
        self.kept = []

    def similarity(self, A=None, B=None):
        self.kept.append(super().similarity(A, B).astype(np.float32))
        return self.kept[-1]


def test_arrays_of_the_kernel_are_not_overwritten(points, new):
    model = make(Cached()).fit(points)
    model.transform(new)
    own = model.kernel_.kernel_
    assert len(own.kept) == 2
    for kept, A in zip(own.kept, (None, new), strict=True):
        np.testing.assert_array_equal(kept, Cosine.similarity(own, A).astype(np.float32))
