"""Kernels of one's own: any object with fit and similarity."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

from isosne import TSNE, GaussianKernel, KNNKernel, Phase, PrecomputedKernel, Schedule
from isosne.errors import DataError, IsolatedPointsWarning, ParameterError
from isosne.kernels.custom import CustomKernel
from tests.unit.tsne.conftest import make, refuses

N = 60


class Cosine:
    """One plus the cosine of the angle between two rows, in five lines."""

    def fit(self, X):
        self.X = X

    def similarity(self, A=None, B=None):
        A, B = (self.X if Z is None else Z for Z in (A, B))
        return 1 + A @ B.T / np.outer(np.linalg.norm(A, axis=1), np.linalg.norm(B, axis=1))


class Power(BaseEstimator):
    """A kernel that scikit-learn can clone: its parameters can be read and set."""

    def __init__(self, exponent=1.0):
        self.exponent = exponent

    def fit(self, X, y=None):
        self.cosine_ = Cosine()
        self.cosine_.fit(X)
        return self

    def similarity(self, A=None, B=None):
        return self.cosine_.similarity(A, B) ** self.exponent


class Wrapped:
    """A kernel of isosne behind the two methods alone."""

    def __init__(self, kernel):
        self.kernel = kernel

    def fit(self, X):
        self.kernel.fit(X)

    def similarity(self, A=None, B=None):
        return self.kernel.similarity(A, B)


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(N, 5))


@pytest.fixture(scope="module")
def new():
    return np.random.default_rng(1).normal(size=(9, 5))


def test_a_wrapped_kernel_makes_the_map_of_the_kernel(points, new):
    # The kNN kernel has zeros and ones: both ways give the same float32 numbers.
    own, wrapped = (make(k).fit(points) for k in (KNNKernel(7), Wrapped(KNNKernel(7))))
    assert wrapped.embedding_.tobytes() == own.embedding_.tobytes()
    assert wrapped.transform(new).tobytes() == own.transform(new).tobytes()
    np.testing.assert_array_equal(wrapped.transform(points), wrapped.embedding_)


def test_a_wrapped_gaussian_makes_the_map_of_the_gaussian_up_to_rounding(points):
    # Gaussian rows are scaled differently on the two ways, and rounded to float32 then: P agrees
    # to 1e-6, and a few steps pass that on.
    own, wrapped = (
        make(k, schedule=Schedule((Phase(4, step=10),))).fit(points)
        for k in (GaussianKernel(10), Wrapped(GaussianKernel(10)))
    )
    scale = np.abs(own.embedding_).max()
    np.testing.assert_allclose(wrapped.embedding_, own.embedding_, atol=1e-4 * scale)


def test_a_kernel_with_and_without_parameters_makes_one_map(points, new):
    plain, cloned = (make(kernel).fit(points) for kernel in (Cosine(), Power()))
    assert cloned.embedding_.tobytes() == plain.embedding_.tobytes()
    assert cloned.transform(new).tobytes() == plain.transform(new).tobytes()
    assert np.isfinite(plain.transform(new)).all()


def test_precomputed_similarity_of_the_kernel_makes_its_map(points):
    cosine = Cosine()
    cosine.fit(points)
    K = cosine.similarity()
    np.fill_diagonal(K, 0)
    P = K / K.sum(axis=1, keepdims=True)  # step 2 on paper: rows sum to one, then both directions
    schedule, start = Schedule((Phase(4, step=10),)), np.random.default_rng(2).normal(size=(N, 2))
    own = make(Cosine(), schedule=schedule, start=start).fit(points)
    given = make("precomputed", schedule=schedule, start=start).fit(P)
    scale = np.abs(own.embedding_).max()
    np.testing.assert_allclose(given.embedding_, own.embedding_, atol=1e-4 * scale)


def test_the_objects_of_the_user_stay_as_they_are(points):
    plain, estimator = Cosine(), Power(2.0)
    for kernel in (plain, estimator):
        before = dict(vars(kernel))
        model = make(kernel).fit(points)
        assert vars(kernel) == before
        assert isinstance(model.kernel_, CustomKernel)
        assert model.kernel_.kernel_ is not kernel
    assert not np.array_equal(
        make(Power(1.0)).fit_transform(points), make(Power(4.0)).fit_transform(points)
    )


def test_parameters_of_the_kernel_are_set_through_the_map():
    model = make(Power()).set_params(kernel__exponent=3.0)
    assert model.kernel.exponent == 3.0


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


def test_a_plan_says_that_all_pairs_are_compared_and_repeats_the_run(points):
    model = make(Power(2.0), random_state=None).fit(points)
    lines = str(model.plan_).splitlines()
    assert lines[1] == "kernel      CustomKernel(kernel=Power(exponent=2.0))"
    assert lines[2] == "affinities  dense"
    assert lines[-1] == "reason      a user-defined kernel compares all pairs"
    again = TSNE(**model.plan_.parameters).fit(points)
    assert again.embedding_.tobytes() == model.embedding_.tobytes()


@pytest.mark.parametrize("affinities", ["sparse", "sampled"])
def test_lists_and_draws_are_refused(points, affinities):
    sentence = (
        "affinities must be 'dense' with a user-defined kernel, which compares all pairs; got "
        f"affinities='{affinities}'. Pass affinities='dense'."
    )
    with refuses(ParameterError, sentence):
        make(Cosine(), affinities=affinities).fit(points)


@pytest.mark.parametrize(
    "kernel", [CustomKernel(Cosine()), PrecomputedKernel()], ids=["custom", "precomputed"]
)
def test_kernels_that_compare_all_pairs_have_no_lists(points, kernel):
    name = type(kernel).__name__
    kernel.fit(np.abs(points @ points.T))
    sentence = (
        f"affinities must be 'dense' with {name}, which compares all pairs; got "
        "affinities='sparse'. Pass affinities='dense'."
    )
    for ask in (kernel.neighbor_similarity, kernel.toward_neighbors):
        with refuses(ParameterError, sentence):
            ask(None)
    K = kernel.similarity()
    assert kernel.rows().block(slice(2, 5)).tobytes() == K[None, 2:5].tobytes()


def test_landmarks_are_compared_with_all_others(points, new):
    model = make(Cosine(), landmarks=30).fit(points)
    np.testing.assert_array_equal(model.place(points)[model.landmark_indices_], model.embedding_)
    assert np.isfinite(model.place(new)).all()


def test_sparse_points_reach_the_kernel_as_they_are(points):
    class Linear:
        def fit(self, X):
            assert isinstance(X, csr_array)
            self.X = X

        def similarity(self, A=None, B=None):
            A, B = (self.X if Z is None else Z for Z in (A, B))
            return (A @ B.T).toarray()

    X = csr_array(np.abs(points))
    model = make(Linear()).fit(X)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    assert np.isfinite(model.transform(X[:5] * 1.5)).all()


def returns(matrix):
    """Return a kernel that answers with this matrix whatever it is asked."""

    class Constant:
        def fit(self, X):
            pass

        def similarity(self, A=None, B=None):
            return matrix

        def __repr__(self):
            return "Constant()"

    return Constant()


@pytest.mark.parametrize(
    ("matrix", "shape"),
    [
        (np.ones((N, N + 1)), (N, N + 1)),
        (np.ones(N), (N,)),
        (np.ones((1, N, N)), (1, N, N)),
        (np.full((N, N), np.nan), (N, N)),
        (np.where(np.eye(N) == 1, np.inf, 1), (N, N)),
        (np.where(np.eye(N) == 1, -1e-9, 1), (N, N)),
    ],
    ids=["wide", "flat", "deep", "nan", "infinite", "negative"],
)
def test_similarity_that_is_none_is_refused(points, matrix, shape):
    sentence = (
        f"The similarity of a kernel must be finite and not negative, with shape ({N}, {N}); got "
        f"shape {shape} from Constant(). Correct its method similarity."
    )
    with refuses(DataError, sentence):
        make(returns(matrix)).fit(points)


def test_similarity_of_new_points_is_checked_too(points, new):
    model = make(returns(np.ones((N, N)))).fit(points)
    sentence = (
        f"The similarity of a kernel must be finite and not negative, with shape (9, {N}); got "
        f"shape ({N}, {N}) from Constant(). Correct its method similarity."
    )
    with refuses(DataError, sentence):
        model.transform(new)


def test_points_without_similar_ones_are_tied_to_their_nearest_neighbor(points):
    K = np.ones((N, N))
    K[3] = K[:, 3] = 0
    sentence = (
        f"1 of {N} points have no affinity to any other point; each is tied to its nearest "
        "neighbor."
    )
    with pytest.warns(IsolatedPointsWarning) as caught:
        model = make(returns(K)).fit(points)
    assert [str(warning.message) for warning in caught] == [sentence]
    assert model.isolated_.tolist() == [3]
