"""Landmarks: which rows are read, and which are mapped."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

import isosne.tsne.input
import isosne.tsne.plan
from isosne import IsolationKernel, Landmarks
from isosne.errors import DataError, ParameterError
from isosne.neighbors.metric import Metric
from isosne.rows import open_rows
from isosne.tsne.input import draw_landmarks, pool_size
from tests.unit.tsne.conftest import make, refuses

EUCLIDEAN = Metric("euclidean", 2.0)


class CountedRows:
    """Rows whose values are their numbers, and that remember which of them were asked for."""

    row_bytes = 8

    def __init__(self, n_rows):
        self.shape = n_rows, 1
        self.taken = []

    def take(self, indices):
        self.taken.append(np.asarray(indices))
        return np.asarray(indices, np.float64)[:, None]


@pytest.fixture
def small_pool(monkeypatch):
    monkeypatch.setattr(isosne.tsne.input, "POOL", 100)


def draw(rows, n_landmarks=30, choice="uniform", seed=0):
    landmarks = Landmarks(n_landmarks, choice)
    return draw_landmarks(rows, landmarks, EUCLIDEAN, np.random.default_rng(seed))


@pytest.mark.parametrize("choice", ["uniform", "spread"])
def test_pool_and_landmarks_are_distinct_rows_in_the_order_of_the_input(choice, small_pool):
    rows = CountedRows(1000)
    pool, points, indices = draw(rows, choice=choice)
    (taken,) = rows.taken  # no other rows are read, and each once
    np.testing.assert_array_equal(taken, pool[:, 0])
    assert pool.shape == (100, 1)
    assert points.shape == (30, 1)
    assert (np.diff(pool[:, 0]) > 0).all()
    assert (np.diff(indices) > 0).all()
    np.testing.assert_array_equal(points[:, 0], indices)
    assert np.isin(indices, pool[:, 0]).all()


def test_the_pool_is_all_rows_or_a_fixed_number_or_the_landmarks():
    assert pool_size(1000, 10) == 1000
    assert pool_size(10**9, 10) == 2**16
    assert pool_size(10**9, 10**5) == 10**5


def test_every_row_is_as_likely_as_every_other(small_pool):
    in_pool, mapped = np.zeros(20), np.zeros(20)
    for seed in range(400):
        pool, _, indices = draw(CountedRows(2000), seed=seed)
        in_pool += np.bincount(pool[:, 0].astype(int) // 100, minlength=20)
        mapped += np.bincount(indices // 100, minlength=20)
    # 400 draws into 20 equal parts; without replacement the counts vary a little less still
    assert in_pool.sum() == 400 * 100
    assert mapped.sum() == 400 * 30
    assert chisquare(in_pool).pvalue > 1e-3
    assert chisquare(mapped).pvalue > 1e-3


def test_landmarks_that_are_spread_give_rare_clusters_more_than_their_share():
    rng = np.random.default_rng(0)
    is_rare = np.arange(2000) % 50 == 0  # 40 rows of 2000, as wide as the others
    X = rng.normal(size=(2000, 3)) + 30 * is_rare[:, None]
    shares = {}
    for choice in ("uniform", "spread"):
        found = [draw(open_rows(X), 200, choice, seed)[2] for seed in range(20)]
        shares[choice] = np.mean([is_rare[indices].mean() for indices in found])
    # uniform: 0.02 on average; the standard deviation of a mean of 20 is 0.002
    assert 0.012 < shares["uniform"] < 0.028
    assert shares["spread"] > 4 * shares["uniform"]


def test_landmarks_that_are_spread_leave_dense_clusters_half_of_their_share():
    rng = np.random.default_rng(1)
    kinds = np.arange(8000) % 8  # equally many rows, each kind twice as wide as the one before
    centers = 30 * rng.normal(size=(8, 20))
    X = centers[kinds] + rng.normal(size=(8000, 20)) * 0.1 * (2.0**kinds)[:, None]
    found = draw(open_rows(X), 800, "spread")[2]
    # 50 of the first half on average, and a standard deviation of 7
    assert np.bincount(kinds[found]).min() > 30


@pytest.mark.parametrize("partition", ["voronoi", "forest"])
def test_a_pool_of_the_fitted_points_gives_the_cells_of_a_plain_fit(two_blobs, partition):
    kernel = IsolationKernel((5, 20), n_partitions=30, partition=partition, random_state=0)
    direct = kernel.fit(two_blobs).cells(two_blobs)
    through_pool = kernel.fit_pool(two_blobs, two_blobs).cells(two_blobs)
    np.testing.assert_array_equal(through_pool, direct)


def test_cells_of_a_pool_are_those_of_its_nearest_samples(two_blobs):
    pool, points = two_blobs, two_blobs[::4]
    kernel = IsolationKernel(6, n_partitions=20, random_state=0).fit_pool(pool, points)
    samples = kernel.partitions_[0].samples
    assert samples.max() >= len(points)  # drawn from all, not from the landmarks alone
    sq_dist = ((points[:, None] - pool) ** 2).sum(axis=2)
    expected = np.stack([sq_dist[:, sample].argmin(axis=1) for sample in samples], axis=1)
    np.testing.assert_array_equal(kernel.cells(), expected)


# --- from end to end


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(300, 4))


@pytest.mark.parametrize("choice", ["uniform", "spread"])
def test_the_map_is_of_the_landmarks_and_says_which_they_are(points, choice, small_pool):
    model = make(landmarks=Landmarks(40, choice)).fit(points)
    assert model.embedding_.shape == (40, 2)
    np.testing.assert_array_equal(model.kernel_.X_fit_, points[model.landmark_indices_])
    assert model.kernel_.pool_.shape == (100, 4)
    places = model.place(points)
    assert places.shape == (300, 2)
    np.testing.assert_array_equal(places[model.landmark_indices_], model.embedding_)


@pytest.mark.parametrize("number", [1, 301, 2.5, "all", True])
def test_numbers_of_landmarks_that_cannot_be_had_are_refused(points, number):
    sentence = (
        f"landmarks must be an integer from 2 to 300; got landmarks={number!r}. "
        "Leave landmarks out to map every row."
    )
    with refuses(ParameterError, sentence):
        make(landmarks=Landmarks(number)).fit(points)
    if number != 301:
        sentence = (
            f"landmarks must be an integer from 2 up; got landmarks={number!r}. "
            "Leave it out to map every row."
        )
    with refuses(ParameterError, sentence):
        make(landmarks=number).fit(points)


@pytest.mark.parametrize("kernel", [IsolationKernel(8, metric="precomputed"), "precomputed"])
def test_landmarks_of_precomputed_distances_are_refused(points, kernel):
    sentence = (
        "landmarks must be None with precomputed distances or affinities: landmarks are rows of "
        "points; got landmarks=20. Pass points, or leave landmarks out."
    )
    with refuses(ParameterError, sentence):
        make(kernel, landmarks=20).fit(points)


@pytest.mark.parametrize("choice", ["uniform", "spread"])
def test_a_row_of_zeros_is_refused_where_angles_are_compared(points, choice):
    kernel = IsolationKernel(8, metric="cosine")
    landmarks = Landmarks(40, choice)
    model = make(kernel, landmarks=landmarks).fit(points)
    X = points.copy()
    X[model.landmark_indices_[0] - 1] = 0  # in the pool, not a landmark
    sentence = (
        "metric='cosine' needs rows that are not all zero; got 1 such row(s) in X. "
        "Leave them out, or choose metric='euclidean'."
    )
    with refuses(DataError, sentence):
        make(kernel, landmarks=landmarks).fit(X)
    with refuses(DataError, sentence):
        model.place(X)


@pytest.fixture(scope="module")
def of_landmarks():
    X = np.random.default_rng(0).normal(size=(90, 3))
    X[45:] += 5
    model = make(landmarks=40)
    return X, model, model.fit_transform(X)


def test_fit_transform_places_the_other_rows_as_transform_does(of_landmarks):
    X, model, Y = of_landmarks
    others = np.setdiff1d(np.arange(90), model.landmark_indices_)
    assert Y.shape == (90, 2)
    np.testing.assert_array_equal(Y[model.landmark_indices_], model.embedding_)
    np.testing.assert_array_equal(Y[others], model.transform(X[others]))


def test_fit_transform_returns_a_frame_of_all_rows():
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    Y = make(landmarks=30).set_output(transform="pandas").fit_transform(table)
    assert Y.shape == (60, 2)
    assert Y.index.equals(table.index)


@pytest.mark.parametrize("kind", [np.asarray, list, pd.Series])
def test_labels_of_all_rows_are_those_of_the_landmarks(of_landmarks, kind):
    X, model, _ = of_landmarks
    labels, chosen = np.arange(90) // 45, model.landmark_indices_
    expected = model.report(X[chosen], labels[chosen]).as_dict()
    assert model.report(X, kind(labels.tolist())).as_dict() == expected
    colors = model.plot(kind(labels.tolist())).collections[0].get_facecolors()
    counts = np.unique(colors, axis=0, return_counts=True)[1]
    assert sorted(counts) == sorted(np.bincount(labels[chosen]))


def test_rows_of_a_file_are_measured_at_the_landmarks(of_landmarks, tmp_path):
    X, model, _ = of_landmarks
    np.save(tmp_path / "X.npy", X)
    expected = model.report(X[model.landmark_indices_]).as_dict()
    assert model.report(tmp_path / "X.npy").as_dict() == expected
