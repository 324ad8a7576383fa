"""Further points on maps that were made from lists or from draws."""

import pickle
import tracemalloc
from functools import cache

import numba
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

import isosne.tsne.place
from isosne import (
    TSNE,
    AdaptiveGaussianKernel,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    Phase,
    Schedule,
    Sparse,
)
from isosne.errors import DataError, ParameterError
from isosne.neighbors.exact import ExactSearch
from isosne.rows import open_rows
from isosne.tsne.place import AllPairsPlacer, DrawPlacer, ListPlacer, placed_blocks
from tests.unit.tsne.conftest import SHORT, make, refuses

N = 300
EXACT = IsolationKernel(40, n_partitions="exact")
# Steps after which a small map changes little: new points are placed on settled maps.
SETTLED = Schedule((Phase(60, exaggeration=12, momentum=0.5), Phase(90)))
ROUTES = {
    "isolation, all pairs": (IsolationKernel(40), {"forces": "exact"}),
    "closed form, all pairs": (EXACT, {"affinities": "dense", "forces": "exact"}),
    "forest, all pairs": (IsolationKernel([9, 40], partition="forest"), {"forces": "exact"}),
    "gaussian, all pairs": (GaussianKernel([5, 15]), {"forces": "exact"}),
    "isolation, lists": (IsolationKernel(40), {"affinities": "sparse"}),
    "isolation, two scales": (IsolationKernel([40, 150]), {"affinities": "sparse"}),
    "isolation, closed form": (EXACT, {"affinities": "sparse"}),
    "isolation, forest": (IsolationKernel(40, partition="forest"), {"affinities": "sparse"}),
    "isolation, spheres": (IsolationKernel(40, partition="spheres"), {"affinities": "sparse"}),
    "isolation, draws": (IsolationKernel(40), {"affinities": "sampled"}),
    "gaussian": (GaussianKernel(15), {"affinities": "sparse"}),
    "gaussian, approximate": (GaussianKernel(15), {"affinities": Sparse("approximate")}),
    "adaptive": (AdaptiveGaussianKernel(7), {"affinities": "sparse"}),
    "knn": (KNNKernel(10), {"affinities": "sparse"}),
}


@pytest.fixture(scope="module")
def digits():
    return load_digits().data


def fit(route, X, **more):
    kernel, settings = ROUTES[route]
    few = {"forces": "mesh", "schedule": SETTLED}
    return make(kernel, **few | settings | more).fit(X)


@pytest.fixture(scope="module")
def fitted(digits):
    """Maps of N digits, each made when it is first asked for."""
    return cache(lambda route: fit(route, digits[:N]))


def width(Y):
    return np.ptp(Y, axis=0).max()


@pytest.mark.parametrize("route", ROUTES)
def test_copies_get_the_place_and_points_moved_a_little_one_beside_it(fitted, digits, route):
    model = fitted(route)
    moved = digits[:N] + np.random.default_rng(1).normal(0, 1e-3, (N, 64))
    places = model.transform(moved)
    assert places.dtype == np.float32
    distance = np.linalg.norm(places - model.embedding_, axis=1)
    # measured: up to 0.02 of the width of the map
    assert np.median(distance) < 0.04 * width(model.embedding_)
    assert np.array_equal(model.transform(digits[:N]), model.embedding_)
    some = np.random.default_rng(2).integers(0, N, 40)
    assert np.array_equal(model.transform(digits[some]), model.embedding_[some])


@pytest.mark.parametrize("route", ROUTES)
def test_neither_order_nor_company_nor_blocks_change_a_place(fitted, digits, route, monkeypatch):
    model = pickle.loads(pickle.dumps(fitted(route)))  # which has not placed anything yet
    before, embedding = dict(vars(model)), model.embedding_.copy()
    points = np.r_[digits[N : N + 57], digits[:3] * 1e6]
    places = model.transform(points)
    assert np.isfinite(places).all()
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)
    assert np.array_equal(model.embedding_, embedding)
    shuffled = np.random.default_rng(3).permutation(60)
    assert np.array_equal(model.transform(points[shuffled]), places[shuffled])
    assert np.array_equal(model.transform(points[7:8]), places[7:8])
    monkeypatch.setattr(isosne.tsne.place, "BLOCK_BYTES", 1)  # one point at a time
    assert np.array_equal(model.transform(points[:9]), places[:9])


def test_more_steps_move_the_places_with_the_map(digits):
    model = fit("gaussian", digits[:150], schedule=SHORT)
    before = model.transform(digits[:150])
    model.continue_fit(20)
    after = model.transform(digits[:150])
    assert np.array_equal(after, model.embedding_)
    assert not np.array_equal(after, before)


# --- rows of any number


@pytest.mark.parametrize("route", ROUTES)
def test_place_puts_rows_where_transform_does_whatever_the_blocks(
    fitted, digits, route, monkeypatch
):
    model = fitted(route)
    rows = digits[N - 30 : N + 60]
    places = model.transform(rows)
    assert model.place(rows).tobytes() == places.tobytes()
    monkeypatch.setattr(isosne.tsne.place, "PLACE_BYTES", 7 * rows[0].nbytes)
    blocks = list(placed_blocks(model, open_rows(rows)))
    assert [len(block) for block in blocks] == [7] * 12 + [6]
    assert np.concatenate(blocks).tobytes() == places.tobytes()


def test_places_by_many_clustered_landmarks_do_not_depend_on_the_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4)).astype(np.float32)
    start = X[:, :2].copy()
    schedule = Schedule((Phase(1, step=0.01),))
    model = TSNE("knn", landmarks=3000, start=start, schedule=schedule, n_jobs=1)
    model.set_params(affinities=Sparse("approximate")).fit(X)
    rows = rng.normal(size=(400, 4)).astype(np.float32)
    places = model.place(rows)
    monkeypatch.setattr(isosne.tsne.place, "PLACE_BYTES", 16 * 41)
    assert model.place(rows).tobytes() == places.tobytes()
    monkeypatch.setattr(isosne.tsne.place, "BLOCK_BYTES", 1)
    assert model.place(rows[:50]).tobytes() == places[:50].tobytes()


def test_blocks_leave_the_number_of_threads_as_it_is(fitted, digits, monkeypatch, threads):
    def walk():
        before = numba.get_num_threads()
        for _ in placed_blocks(fitted("isolation, lists"), open_rows(digits[N : N + 20])):
            assert numba.get_num_threads() == before
        return before

    monkeypatch.setattr(isosne.tsne.place, "PLACE_BYTES", 7 * digits[0].nbytes)
    assert threads(2, walk) == min(2, numba.config.NUMBA_NUM_THREADS)


def test_what_cannot_be_placed_is_refused_when_it_is_passed(fitted, digits):
    sentence = (
        "The columns must be those of the fitted points: X has 60 features, but TSNE is expecting "
        "64 features as input. Pass points with the same attributes."
    )
    with refuses(DataError, sentence):
        fitted("isolation, lists").place(digits[:5, :60])


def read_only(shape):
    out = np.empty(shape, np.float32)
    out.setflags(write=False)
    return out


@pytest.mark.parametrize(
    ("out", "got"),
    [
        (np.empty((50, 2)), "float64 of shape (50, 2)"),
        (np.empty((49, 2), np.float32), "float32 of shape (49, 2)"),
        ([[0.0, 0.0]] * 50, "list of shape None"),
        (read_only((50, 2)), "a read-only array, float32 of shape (50, 2)"),
    ],
    ids=["float64", "short", "list", "read only"],
)
def test_an_output_that_does_not_fit_is_refused(fitted, digits, out, got):
    sentence = (
        f"out must be a writable float32 array of shape (50, 2); received {got}. "
        "Leave it out for a new array."
    )
    with refuses(ParameterError, sentence):
        fitted("isolation, lists").place(digits[N : N + 50], out=out)


def test_columns_in_another_order_are_refused():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
    model = TSNE(IsolationKernel(8), landmarks=20, schedule=SHORT, random_state=0).fit(X)
    assert model.place(X).tobytes() == model.place(X.to_numpy()).tobytes()
    sentence = (
        "The columns must be those of the fitted points, in the same order; "
        "column 1 is 'c', and was 'b' at fit. Put them in that order."
    )
    with refuses(DataError, sentence):
        model.place(X[["a", "c", "b"]])


def test_sparse_rows_are_placed_by_dense_landmarks(fitted, digits):
    for route in ("isolation, lists", "gaussian, approximate", "isolation, draws"):
        model, rows = fitted(route), digits[N : N + 40]
        assert model.place(csr_array(rows)).tobytes() == model.place(rows).tobytes()


def test_memory_does_not_grow_with_the_number_of_rows(fitted, digits, tmp_path, monkeypatch):
    model = fitted("isolation, lists")
    monkeypatch.setattr(isosne.tsne.place, "PLACE_BYTES", 2**17)
    peaks = []
    for repeats in (1, 4):
        path = tmp_path / f"{repeats}.npy"
        np.save(path, np.tile(digits[:900], (repeats, 1)))  # 0.5 MB and 1.8 MB
        tracemalloc.start()
        for _ in placed_blocks(model, open_rows(path)):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


# --- maps of landmarks

LANDMARK_ROUTES = {
    "closed form": (IsolationKernel(40), ListPlacer),
    "draws": (IsolationKernel(6), DrawPlacer),
    "forest": (IsolationKernel(40, partition="forest"), DrawPlacer),
    "spheres": (IsolationKernel(40, partition="spheres"), DrawPlacer),
    "gaussian": (GaussianKernel(20), ListPlacer),
    "broad gaussian": (GaussianKernel(140), AllPairsPlacer),
    "broad closed form": (IsolationKernel(6, n_partitions="exact"), AllPairsPlacer),
}


@pytest.fixture(scope="module")
def mixture():
    """Twelve clusters in ten dimensions that overlap a little: 900 points with labels."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 12, 900)
    return rng.normal(0, 2.2, (12, 10))[labels] + rng.normal(size=(900, 10)), labels


@pytest.mark.parametrize("route", LANDMARK_ROUTES)
def test_points_that_are_no_landmarks_land_among_their_own_kind(mixture, route):
    X, labels = mixture
    kernel, placer = LANDMARK_ROUTES[route]
    model = make(kernel, landmarks=350, schedule=Schedule.standard(n_iter=350)).fit(X)
    places = model.place(X)
    assert type(model._finished.placer) is placer
    chosen = model.landmark_indices_
    np.testing.assert_array_equal(places[chosen], model.embedding_)
    others = np.setdiff1d(np.arange(len(X)), chosen)
    distance = np.linalg.norm(places[:, None] - model.embedding_, axis=2)
    distance[chosen, np.arange(len(chosen))] = np.inf  # a landmark is not its own neighbor
    agrees = labels[chosen][distance.argmin(axis=1)] == labels
    assert agrees[others].mean() > agrees[chosen].mean() - 0.02


@pytest.mark.parametrize(("kernel", "needs_lists"), [("owner", False), (EXACT, True)])
def test_fitted_points_are_searched_only_if_the_kernel_needs_their_lists(
    monkeypatch, two_blobs, kernel, needs_lists
):
    model = make(kernel=kernel, affinities="sparse").fit(two_blobs)
    searched, search = [], ExactSearch.neighbors

    def record(self, k):
        searched.append(k)
        return search(self, k)

    monkeypatch.setattr(ExactSearch, "neighbors", record)
    model.transform(two_blobs[:2])
    assert bool(searched) is needs_lists
