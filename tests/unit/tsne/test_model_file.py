"""Models on disk: what comes back, and what no file can hold."""

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

import isosne.tsne.input
from isosne import (
    JSE,
    KL,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    Landmarks,
    NeRV,
    OwnerKernel,
    Phase,
    Schedule,
    Sparse,
)
from isosne.errors import DataError
from isosne.layout.schedules import ChangeBelow, RateFalls
from tests.unit.tsne.conftest import ROUTES, make, refuses, saved

N = 100
RULES = Schedule(
    (
        Phase(20, exaggeration=3, stop=RateFalls(wait=5)),
        Phase(20, step=9.5, stop=ChangeBelow(share=0.01)),
    ),
    bounded=True,
)
START = np.random.default_rng(7).normal(size=(N, 2))
MODELS = ROUTES | {
    "closed form": {"kernel": IsolationKernel(20, n_partitions="exact")},
    "owner of far cells": {"kernel": OwnerKernel((3, 0.5))},
    "two perplexities": {"kernel": GaussianKernel((5.5, 30))},
    "knn": {"kernel": KNNKernel(9, metric="minkowski", p=3.5)},
    "approximate lists": {"kernel": GaussianKernel(12), "affinities": Sparse("approximate")},
    "draws of a forest": {
        "kernel": IsolationKernel((10, 40), partition="forest"),
        "affinities": "sampled",
    },
    "landmarks, drawn": {"kernel": IsolationKernel(5), "landmarks": 70, "affinities": "sampled"},
    "landmarks, two psi": {
        "kernel": IsolationKernel((10, 40)),
        "landmarks": Landmarks(60, "spread"),
    },
    "own schedule": {"schedule": RULES, "objective": NeRV(0.7)},
    "start as a list": {"start": START.tolist(), "objective": JSE(0.3)},
    "exaggeration": {"exaggeration": 2.5},
    "aligned": {"align_to": START},
    "numbers of numpy": {
        "kernel": IsolationKernel(np.int64(20), random_state=np.int32(3)),
        "n_components": np.int64(2),
        "objective": KL(dof=np.float32(np.inf)),
        "landmarks": Landmarks(np.int64(60)),
    },
    "generators": {
        "kernel": IsolationKernel(20, random_state=np.random.default_rng(1)),
        "random_state": np.random.RandomState(2),
    },
}
# each way to the joint probabilities, and each kind of forces
CONTINUED = [*ROUTES, "closed form", "landmarks, drawn", "own schedule", "exaggeration", "aligned"]


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 5)) + 4 * rng.integers(0, 2, (N, 1))


@pytest.fixture(scope="module")
def further():
    return np.random.default_rng(1).normal(2, 3, size=(60, 5))


@pytest.fixture(autouse=True)
def small_pool(monkeypatch):
    monkeypatch.setattr(isosne.tsne.input, "POOL", 80)  # fewer than all points


@pytest.fixture(scope="module")
def fitted(points):
    """Models of each kind, each made when it is first asked for."""
    return cache(lambda name: make(**MODELS[name]).fit(points))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_and_places_points_as_before(fitted, further, tmp_path, name):
    model = fitted(name)
    before = model.transform(further)
    loaded = saved(model, tmp_path)
    assert loaded.transform(further).tobytes() == before.tobytes()
    assert loaded.place(further).tobytes() == before.tobytes()
    assert loaded.embedding_.tobytes() == model.embedding_.tobytes()
    assert loaded.trace_.tobytes() == model.trace_.tobytes()
    np.testing.assert_array_equal(loaded.isolated_, model.isolated_)
    if model.landmarks:
        np.testing.assert_array_equal(loaded.landmark_indices_, model.landmark_indices_)
    for fitted in ("n_iter_", "kl_divergence_", "n_features_in_"):
        assert getattr(loaded, fitted) == getattr(model, fitted)
    assert loaded.plan_ == model.plan_
    unknown = replace(model.plan_, bytes_needed=None, reasons=())
    assert str(loaded.plan_) == str(unknown)
    again = loaded.kernel_.similarity(further[:5], further[5:15])
    np.testing.assert_array_equal(again, model.kernel_.similarity(further[:5], further[5:15]))


@pytest.mark.parametrize("name", ["sparse, mesh", "landmarks, drawn", "start as a list"])
def test_equal_maps_have_equal_files_on_every_machine(fitted, points, tmp_path, monkeypatch, name):
    model = fitted(name)
    model.save(tmp_path / "first.isosne")
    monkeypatch.setenv("ISOSNE_MEMORY_LIMIT", "500MB")
    again = make(**MODELS[name]).set_params(n_jobs=2, verbose=0, memory_limit="400MB").fit(points)
    assert again.plan_ == model.plan_
    again.save(tmp_path / "second.isosne")
    assert (tmp_path / "second.isosne").read_bytes() == (tmp_path / "first.isosne").read_bytes()
    saved(again, tmp_path).save(tmp_path / "third.isosne")
    assert (tmp_path / "third.isosne").read_bytes() == (tmp_path / "first.isosne").read_bytes()


@pytest.mark.parametrize("name", CONTINUED)
def test_a_model_from_a_file_takes_more_steps(fitted, tmp_path, name):
    model = pickle.loads(pickle.dumps(fitted(name)))
    loaded = saved(model, tmp_path)
    for either in (model, loaded):
        either.continue_fit(5)
    assert loaded.n_iter_ == model.n_iter_
    # Forces made anew hold the points in another order: their sums differ in the last digits. A
    # mesh made anew has another spacing: its forces differ by as much as it is accurate to.
    share = getattr(model.plan_.parameters["forces"], "accuracy", 1e-3)
    np.testing.assert_allclose(
        loaded.embedding_, model.embedding_, atol=share * np.abs(model.embedding_).max()
    )
    np.testing.assert_array_equal(loaded.trace_[:-1], model.trace_[:-1])


@pytest.mark.parametrize("name", ["landmarks, drawn", "forest", "two perplexities"])
def test_sparse_points_come_back_as_sparse_points(points, further, tmp_path, name):
    sparse, rows = csr_array(np.maximum(points, 0)), csr_array(np.maximum(further, 0))
    model = make(**MODELS[name]).fit(sparse)
    loaded = saved(model, tmp_path)
    assert isinstance(loaded.kernel_.X_fit_, csr_array)
    assert loaded.transform(rows).tobytes() == model.transform(rows).tobytes()
    assert loaded.continue_fit(3).n_iter_ == model.n_iter_ + 3


def test_distances_come_back_as_distances(points, tmp_path):
    D = np.abs(points[:, :1] - points[:, 0])
    model = make(kernel=IsolationKernel(20, metric="precomputed")).fit(D)
    loaded = saved(model, tmp_path)
    assert loaded.transform(D[:9] + 0.5).tobytes() == model.transform(D[:9] + 0.5).tobytes()


def test_parameters_come_back_as_they_were(points, tmp_path):
    model = make(
        kernel=IsolationKernel((5, 0.5), n_partitions=30),
        schedule=RULES,
        objective=NeRV(0.7, dof=2.5),
        memory_limit="1GB",
        start=START,
        callback=lambda state: None,
    ).fit(points)
    loaded = saved(model, tmp_path)
    before, after = model.get_params(deep=False), loaded.get_params(deep=False)
    assert repr(after.pop("kernel")) == repr(before.pop("kernel"))
    np.testing.assert_array_equal(after.pop("start"), before.pop("start"))
    for name in ("callback", "memory_limit", "n_jobs"):  # they do not affect the map
        assert after.pop(name) is None
        del before[name]
    assert after == before
    assert loaded.fit(points).embedding_.tobytes() == model.embedding_.tobytes()


def test_names_of_columns_come_back(points, tmp_path):
    frame = pd.DataFrame(points, columns=list("abcde"))
    loaded = saved(make().fit(frame), tmp_path)
    assert loaded.feature_names_in_.tolist() == list("abcde")
    assert loaded.feature_names_in_.dtype == object
    assert loaded.transform(frame).shape == (N, 2)
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.transform(frame[list("bacde")])
    assert loaded.get_feature_names_out().tolist() == ["tsne0", "tsne1"]


def test_a_landmark_model_keeps_the_samples_of_the_pool_alone(points, tmp_path, monkeypatch):
    monkeypatch.setattr(isosne.tsne.input, "POOL", 2000)
    many = np.random.default_rng(3).normal(size=(2000, 5))
    kernel = IsolationKernel(4, n_partitions=10)  # 40 samples at most
    model = make(kernel=kernel, landmarks=60).fit(many)
    assert len(model.kernel_.pool_) == 2000
    loaded = saved(model, tmp_path)
    assert len(loaded.kernel_.pool_) <= 40
    np.testing.assert_array_equal(loaded.kernel_.cells(many), model.kernel_.cells(many))


def test_a_model_that_was_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        make().save(tmp_path / "model.isosne")
    assert list(tmp_path.iterdir()) == []


class OwnKernel(KNNKernel):
    """A kernel that no other version of isosne knows."""


class SquaredError:
    """An objective of a user."""

    def value(self, P, Q):
        return ((P - Q) ** 2).sum()

    def derivative(self, P, Q):
        return 2 * (Q - P)


@pytest.mark.parametrize("settings", [{"kernel": OwnKernel(9)}, {"objective": SquaredError()}])
def test_what_no_file_can_hold_is_refused(points, tmp_path, settings):
    model = make(**settings).fit(points)
    (value,) = settings.values()
    sentence = (
        f"Cannot write {value!r} to a file: parameters must be numbers, text, arrays or objects of "
        "isosne. Pass one of these."
    )
    with refuses(DataError, sentence):
        model.save(tmp_path / "model.isosne")
    with refuses(DataError, sentence):
        make(**settings).fit(points, checkpoint=tmp_path / "run.isosne")
    assert list(tmp_path.iterdir()) == []
