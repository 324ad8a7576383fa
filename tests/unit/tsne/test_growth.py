"""Maps that grow: new rows join, and rows that are far from all others are reported."""

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

from isosne import TSNE, IsolationKernel, OwnerKernel, PrecomputedKernel, Schedule
from isosne.errors import FarRowsWarning, ParameterError
from isosne.layout.anchors import radius_of
from isosne.quality import compare
from isosne.rows import open_rows
from isosne.rows.scaled import Scale, ScaledRows
from isosne.tsne.extension import gathering
from tests.unit.tsne.conftest import (
    ROUTES,
    Interruption,
    interrupted,
    make,
    other_run,
    refuses,
    saved,
)

STEPS = {"n_iter": 15}


@pytest.fixture(autouse=True)
def mesh_of_few_points(monkeypatch):
    monkeypatch.setattr("isosne.tsne.plan.FEWEST_FOR_MESH", 60)


@pytest.mark.parametrize("route", ROUTES)
def test_new_rows_follow_the_fitted_rows(points, route):
    model = make(**ROUTES[route]).fit(points[:60])
    before = model.embedding_
    assert model.extend(points[60:], **STEPS) is model
    assert model.embedding_.shape == (80, before.shape[1])
    assert np.isfinite(model.embedding_).all()
    assert model.kernel_.X_fit_.shape == (80, 5)
    assert model.plan_.n_points == 80
    assert model.n_iter_ == 15
    assert model.alignment_.rows.tolist() == list(range(60))
    np.testing.assert_allclose(model.alignment_.places, np.sqrt(80 / 60) * before, rtol=1e-6)
    assert model.transform(points[:3]).shape == (3, before.shape[1])


@pytest.mark.parametrize("route", ["dense", "sparse, mesh"])
def test_an_extension_has_the_same_bytes_with_any_number_of_threads(points, route):
    one, two = (
        make(**ROUTES[route], n_jobs=n_jobs).fit(points[:60]).extend(points[60:], **STEPS)
        for n_jobs in (1, 2)
    )
    assert one.embedding_.tobytes() == two.embedding_.tobytes()


@pytest.mark.parametrize("kernel", [OwnerKernel(), IsolationKernel(n_partitions="exact")], ids=str)
def test_the_affinities_are_those_of_a_fit_on_all_rows(points, kernel):
    grown = make(kernel).fit(points[:60]).extend(points[60:], **STEPS)
    fresh = make(kernel).fit(points)
    for found, expected in zip(grown.affinities_, fresh.affinities_, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_exaggeration_falls_and_the_rest_is_like_the_last_phase():
    fit = Schedule.annealed(exaggeration=2)
    first, last = gathering(250, fit).phases
    assert (first.n_iter, last.n_iter) == (100, 150)
    assert first.exaggeration_at(0) == pytest.approx(8, rel=0.01)
    assert first.exaggeration_at(99) == pytest.approx(2, rel=0.01)
    assert last == replace(fit.phases[-1], n_iter=150, stop=None)
    assert gathering(1, fit).n_iter == 1
    stopping = gathering(50, Schedule.opt_sne())
    assert [phase.stop for phase in stopping.phases] == [None, None]


def test_fitted_rows_move_less_with_a_stronger_pull(points):
    moved = [
        make().fit(points[:60]).extend(points[60:], **STEPS, strength=s).displacement_.mean()
        for s in (0, 100, 1e6)
    ]
    assert moved[0] > moved[1] > 10 * moved[2]


def test_an_extended_model_can_be_saved_extended_and_continued(points, tmp_path):
    model = make().fit(points[:50]).extend(points[50:60], **STEPS)
    loaded = saved(model, tmp_path)
    np.testing.assert_array_equal(loaded.far_, model.far_)
    np.testing.assert_array_equal(loaded.displacement_, model.displacement_)
    assert loaded.continue_fit(3).n_iter_ == 18
    loaded = TSNE.load(tmp_path / "model.isosne")
    for grown in (model, loaded):
        grown.extend(points[60:], **STEPS)
    assert loaded.embedding_.tobytes() == model.embedding_.tobytes()


def test_an_interrupted_extension_resumes_with_the_same_bytes(points, tmp_path):
    path, whole = tmp_path / "state", make().fit(points[:60]).extend(points[60:], **STEPS)
    fitted = make().fit(points[:60]).set_params(callback=interrupted(9))
    with pytest.raises(Interruption):
        fitted.extend(points[60:], **STEPS, checkpoint=path, every=4)
    resumed = make().fit(points[:60]).extend(points[60:], **STEPS, checkpoint=path)
    assert resumed.embedding_.tobytes() == whole.embedding_.tobytes()
    with other_run(path, "parameter strength"):
        make().fit(points[:60]).extend(points[60:], **STEPS, strength=5, checkpoint=path)


def test_a_generator_as_seed_gives_an_extension_that_a_file_repeats(points, tmp_path):
    model = make(random_state=np.random.default_rng(3)).fit(points[:60])
    found = saved(model, tmp_path).extend(points[60:], **STEPS)
    expected = model.extend(points[60:], **STEPS)
    assert found.embedding_.tobytes() == expected.embedding_.tobytes()


def test_sparse_rows_frames_and_files_extend_a_map(points, tmp_path):
    sparse = np.where(points > 0, points, 0)
    expected = make("owner").fit(csr_array(sparse[:60])).extend(csr_array(sparse[60:]), **STEPS)
    assert isinstance(expected.kernel_.X_fit_, csr_array)
    np.testing.assert_array_equal(expected.kernel_.X_fit_.toarray(), sparse)
    whole = make().fit(points[:60]).extend(points[60:], **STEPS)
    frame = pd.DataFrame(points, columns=list("abcde"))
    by_frame = make().fit(frame[:60]).extend(frame[60:], **STEPS)
    np.save(tmp_path / "new.npy", points[60:])
    by_file = make().fit(points[:60]).extend(tmp_path / "new.npy", **STEPS)
    for found in (by_frame, by_file):
        assert found.embedding_.tobytes() == whole.embedding_.tobytes()
    with pytest.raises(ValueError, match="feature names"):
        make().fit(frame[:60]).extend(frame[60:].rename(columns={"a": "z"}))


def test_new_rows_are_scaled_like_the_fitted_rows(points):
    rows = open_rows(points[:60])
    scale = Scale.of("standard", rows)
    model = make().fit(ScaledRows(rows, scale)).extend(points[60:], **STEPS)
    np.testing.assert_allclose(model.kernel_.X_fit_, scale.apply(points), rtol=1e-6)


# --- rows that are far from all others


def test_rows_like_no_other_are_found_and_a_warning_counts_them(points):
    model = make().fit(points[:60])
    strange = np.concatenate([points[60:], points[:5] + 40])
    assert model.find_far(strange)[-5:].tolist() == [20, 21, 22, 23, 24]
    expected = (
        r"^6 of 20 new rows are farther from their nearest fitted row than 99 % of the fitted "
        r"rows are from theirs; about 0 are expected\. Their positions may be "
        r"arbitrary; far_ has their indices\.$"
    )
    with pytest.warns(FarRowsWarning, match=expected):
        model.extend(np.concatenate([points[:14], points[:6] + 40]), **STEPS)
    assert model.far_.tolist() == [74, 75, 76, 77, 78, 79]


def test_a_copy_of_a_fitted_row_is_not_far(points):
    assert len(make().fit(points).find_far(points)) == 0


def test_about_one_in_a_hundred_rows_of_the_same_distribution_is_far():
    X = np.random.default_rng(0).normal(size=(3000, 4))
    model = make(OwnerKernel(4), schedule=make().schedule).fit(X[:1500])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0.003 < len(model.find_far(X[1500:])) / 1500 < 0.02


def test_maps_that_cannot_grow_say_so(points):
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    with refuses(
        ParameterError,
        "landmarks must be None to extend a map. Rows are placed among landmarks with place; fit "
        "again to draw new landmarks.",
    ):
        make(landmarks=30).fit(points).extend(points[:5])
    sentence = (
        "kernel must compare points; this one was fitted on precomputed distances or affinities. "
        "Fit again with those of all points."
    )
    model = make(IsolationKernel(8, metric="precomputed")).fit(distances)
    with refuses(ParameterError, sentence):
        model.extend(distances[:5])
    with refuses(ParameterError, sentence):
        model.find_far(distances[:5])
    affinities = np.exp(-distances)
    np.fill_diagonal(affinities, 0)
    with refuses(ParameterError, sentence):
        make(PrecomputedKernel()).fit(affinities).extend(affinities[:5])


def test_parameters_of_an_extension_are_checked(points):
    model = make().fit(points[:60])
    sentence = "n_iter must be an integer from 1 up; got n_iter=0. Pass the number of steps."
    with refuses(ParameterError, sentence):
        model.extend(points[60:], n_iter=0)
    sentence = "strength must be a number from 0 to 1e+09; got strength=-1. "
    with refuses(ParameterError, sentence + "0 lets the fitted rows move freely."):
        model.extend(points[60:], strength=-1)


@pytest.mark.slow
def test_ten_extensions_are_nearly_as_good_as_a_fresh_fit():
    """Bounds of docs/decisions/0017: AUC_RNX at least 0.95 times, KL at most 1.08 times."""
    X = load_digits().data[np.random.default_rng(1).permutation(1797)][:1000]
    sizes = [round(386 * 1.1**k) for k in range(10)] + [1000]
    grown = TSNE(random_state=0).fit(X[: sizes[0]])
    for before, after in pairwise(sizes):
        grown.extend(X[before:after])
    fresh = TSNE(random_state=0).fit(X)
    found, expected = (compare(X, m.embedding_).auc().value for m in (grown, fresh))
    assert found > 0.95 * expected
    assert grown.kl_divergence_ < 1.08 * fresh.kl_divergence_
    # Without exaggeration, every extension makes the map wider.
    assert radius_of(grown.embedding_) < 1.3 * radius_of(fresh.embedding_)
