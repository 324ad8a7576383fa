"""Maps whose rows stay near their places on a previous map."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from isosne import TSNE, Alignment, Landmarks
from isosne.errors import DataError, IsosneError, ParameterError
from isosne.quality import compare
from isosne.quality.procrustes import find_similarity
from tests.unit.tsne.conftest import ROUTES, make, refuses, saved

N = 80
PREVIOUS = np.random.default_rng(5).normal(scale=8, size=(N, 2)).astype(np.float32)


@pytest.fixture(autouse=True)
def mesh_of_few_points(monkeypatch):
    monkeypatch.setattr("isosne.tsne.plan.FEWEST_FOR_MESH", N)


@pytest.mark.parametrize("route", ROUTES)
def test_rows_stay_the_nearer_to_their_places_the_stronger_the_pull(points, route):
    settings = ROUTES[route]
    n_components = settings.get("n_components", 2)
    previous = np.random.default_rng(5).normal(scale=8, size=(N, n_components))
    found = [
        make(**settings, align_to=Alignment(previous, s)).fit(points).displacement_.mean()
        for s in (0, 100, 1e6)
    ]
    assert found[0] > 2 * found[1] > 20 * found[2]
    assert found[2] < 1e-3


@pytest.mark.parametrize("route", ["dense", "sparse, mesh"])
def test_the_map_does_not_depend_on_the_number_of_threads(points, route):
    settings = {
        **ROUTES[route],
        "align_to": Alignment(PREVIOUS[:60], ids=np.arange(N), previous_ids=np.arange(60)),
    }
    one, two = (make(**settings, n_jobs=n_jobs).fit(points) for n_jobs in (1, 2))
    assert one.embedding_.tobytes() == two.embedding_.tobytes()


def test_a_model_an_array_and_a_frame_are_previous_maps(points):
    before = make(start=PREVIOUS).fit(points)
    found = [
        make(align_to=align_to).fit(points).embedding_.tobytes()
        for align_to in (
            before,
            before.embedding_,
            Alignment(before),
            Alignment(before.embedding_.astype(np.float64), strength=10),
            pd.DataFrame(before.embedding_),
        )
    ]
    assert len(set(found)) == 1


def test_frames_are_matched_by_their_index(points):
    names = np.array([f"row {i}" for i in range(N)])
    frame = pd.DataFrame(points, names, [f"f{c}" for c in range(5)])
    order = np.random.default_rng(0).permutation(60)
    previous = pd.DataFrame(PREVIOUS[:60][order], names[:60][order])
    by_index = make(align_to=Alignment(previous, 100)).fit(frame)
    assert by_index.alignment_.rows.tolist() == list(range(60))
    ids = {"ids": names, "previous_ids": names[:60]}
    by_id = make(align_to=Alignment(PREVIOUS[:60], 100, **ids)).fit(points)
    assert by_index.embedding_.tobytes() == by_id.embedding_.tobytes()


def test_the_previous_map_grows_with_the_number_of_points(points):
    ids = {"ids": np.arange(N), "previous_ids": np.arange(20)}
    grown = make(align_to=Alignment(PREVIOUS[:20], **ids)).fit(points)
    assert grown.alignment_.scale == 2  # sqrt(80 / 20)
    np.testing.assert_allclose(grown.alignment_.places, 2 * PREVIOUS[:20])


def test_a_named_start_is_kept_and_the_pull_does_the_rest(points):
    model = make(start="random", align_to=Alignment(PREVIOUS, 1e6)).fit(points)
    assert model.plan_.start == "random"
    np.testing.assert_allclose(model.embedding_, PREVIOUS, atol=0.1)  # it still swings a little


def test_landmarks_are_aligned_by_the_identifiers_of_all_rows(points):
    ids = np.arange(N)[::-1] + 100
    align_to = Alignment(PREVIOUS, 1e6, ids=ids, previous_ids=ids)
    model = make(landmarks=Landmarks(50), align_to=align_to).fit(points)
    places = math.sqrt(50 / N) * PREVIOUS[model.landmark_indices_]
    np.testing.assert_allclose(model.embedding_, places, atol=0.02)


def test_the_objective_is_reported_without_the_pull(points):
    model = make(align_to=Alignment(PREVIOUS, 1e3)).fit(points)
    values, factors = model.affinities_
    P = values * (factors[:, None] + factors.astype(np.float64))
    w = 1 / (1 + ((model.embedding_[:, None] - model.embedding_) ** 2).sum(axis=2))
    np.fill_diagonal(w, 0)
    there = P > 0
    divergence = (P[there] * np.log(P[there] / (w / w.sum())[there])).sum()
    assert model.kl_divergence_ == pytest.approx(divergence, rel=1e-4)
    assert model.trace_[-1, 1] == model.kl_divergence_


def test_the_plan_tells_which_rows_are_held(points):
    align_to = Alignment(PREVIOUS[:60], 3, ids=np.arange(N), previous_ids=np.arange(20, 80))
    plan = make(align_to=align_to).plan(points)
    assert plan.start == "previous map"
    assert plan.alignment == (
        "60 of 80 rows have a place on the previous map, scaled by 1.15; strength 3"
    )
    assert f"start       previous map\nalignment   {plan.alignment}\n" in str(plan)
    again = TSNE(**plan.parameters).fit(points)
    assert again.embedding_.tobytes() == make(align_to=align_to).fit(points).embedding_.tobytes()
    assert "alignment" not in str(make().plan(points))


def test_a_saved_model_keeps_its_alignment(points, tmp_path):
    names = [f"row {i}" for i in range(N)]
    before = make(start=PREVIOUS[:60]).fit(points[:60])
    align_to = Alignment(before, 1e6, ids=names, previous_ids=pd.Index(names[:60]))
    model = make(align_to=align_to).fit(points)
    loaded = saved(model, tmp_path)
    for name in ("rows", "places", "strength", "scale"):
        np.testing.assert_array_equal(
            getattr(loaded.alignment_, name), getattr(model.alignment_, name)
        )
    assert loaded.plan_.alignment == model.plan_.alignment
    np.testing.assert_array_equal(loaded.displacement_, model.displacement_)
    assert repr(loaded.align_to) == repr(align_to)
    again = make(align_to=loaded.align_to).fit(points)  # it holds what a new fit needs
    assert again.embedding_.tobytes() == model.embedding_.tobytes()
    for held in (model, loaded):
        assert held.continue_fit(15).displacement_.max() < 1e-3


def test_an_estimator_with_an_alignment_can_be_cloned(points):
    before = make(start=PREVIOUS).fit(points)
    model = make(align_to=Alignment(before))
    assert repr(model).count("Alignment(strength=10.0)") == 1
    twin = clone(model).fit(points)
    assert twin.embedding_.tobytes() == model.fit(points).embedding_.tobytes()


def test_a_model_of_other_columns_is_no_previous_map(points):
    before = make().fit(points)
    n_columns = points.shape[1]
    sentence = (
        f"align_to must be a map of the same kind of data; it was fitted on {n_columns} columns, "
        f"and X has {n_columns - 1}. Pass its embedding_ to align to it all the same."
    )
    with refuses(DataError, sentence):
        make(align_to=before).fit(points[:, 1:])
    make(align_to=before.embedding_).fit(points[:, 1:])


def test_parameters_of_an_alignment_are_checked():
    sentence = (
        "strength must be a number from 0 to 1e+09; got strength=-1. 10 is the default; 0 only "
        "starts from the previous map."
    )
    with refuses(ParameterError, sentence):
        Alignment(PREVIOUS, strength=-1)
    sentence = (
        "previous_ids must be given if the other identifiers are; got previous_ids=None. Pass "
        "both, or neither to match rows by position."
    )
    with refuses(ParameterError, sentence):
        Alignment(PREVIOUS, ids=[1])


REFUSED = {
    "align_to must be a fitted TSNE, coordinates, or an Alignment; this estimator is not fitted. "
    "Fit it first. sklearn.base.clone returns estimators that are not fitted: pass "
    "Alignment(model), which it copies.": {"align_to": TSNE()},
    "Without identifiers, the previous map must have one point for each row of the input; it has "
    "60, and the input has 80 rows. Pass Alignment(previous, ids=..., previous_ids=...).": {
        "align_to": PREVIOUS[:60]
    },
    "align_to must be a map of 2 dimension(s); got shape (80, 1). Pass a map with as many columns "
    "as n_components.": {"align_to": PREVIOUS[:, :1]},
    "align_to must have rows in common with the input; none of 80 identifiers is among the 80 of "
    "the previous map. Pass identifiers of the same kind for both.": {
        "align_to": Alignment(PREVIOUS, ids=range(N), previous_ids=range(N, 2 * N))
    },
    "At least one landmark must have a place on the previous map; none of 8 has. Draw more "
    "landmarks, or map all rows.": {
        "align_to": Alignment(PREVIOUS[:1], ids=np.arange(N), previous_ids=[0]),
        "landmarks": 8,
    },
    "align_to must be finite; got 160 NaN and 0 infinite value(s), the first in row 0 (counting "
    "from 0), column 0. Leave out or impute the rows that hold them.": {
        "align_to": np.full((N, 2), np.nan)
    },
}


@pytest.mark.parametrize(("sentence", "settings"), REFUSED.items())
def test_previous_maps_that_do_not_fit_are_refused(points, settings, sentence):
    with refuses(IsosneError, sentence):
        make(**settings).fit(points)


@pytest.mark.slow
def test_the_default_strength_keeps_places_and_quality():
    """Digits of which half are known: docs/decisions/0017 has the figures of whole series."""
    X = load_digits().data[np.random.default_rng(0).permutation(1797)][:800]
    before = TSNE(random_state=0).fit(X[:400])
    ids = {"ids": range(800), "previous_ids": range(400)}
    free = TSNE(random_state=0).fit(X)
    held = TSNE(align_to=Alignment(before, **ids), random_state=0).fit(X)
    quality = [compare(X, model.embedding_).auc().value for model in (free, held)]
    assert quality[1] > 0.97 * quality[0]
    places = held.alignment_.places
    moved = find_similarity(free.embedding_[:400], places).apply(free.embedding_[:400])
    freely = held.alignment_.displacement(moved).mean()
    assert held.displacement_.mean() < min(0.1, freely / 2)


@pytest.mark.slow
def test_a_map_aligned_to_itself_or_started_from_itself_stays_as_good():
    """From some 4,000 rows on, the automatic momentum of small starts would wreck wide ones."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 12)) + 3 * rng.normal(size=(60, 12))[rng.integers(0, 60, 5000)]
    before = TSNE(random_state=0).fit(X)
    for held in ({"align_to": before}, {"start": before.embedding_}):
        after = TSNE(random_state=0, **held).fit(X)
        assert after.kl_divergence_ < 1.03 * before.kl_divergence_


@pytest.mark.parametrize("name", ["start", "align_to"])
@pytest.mark.parametrize(
    ("places", "shape"),
    [
        (np.zeros((N, 2)), "coincide"),
        (1e-300 * PREVIOUS, "coincide"),
        (PREVIOUS[:, :1] @ [[1, 2]], "lie on a line"),
    ],
    ids=["zeros", "below float32", "line"],
)
def test_maps_that_no_force_would_unfold_are_refused(points, name, places, shape):
    with refuses(
        DataError,
        f"The points of {name} must spread in all 2 dimensions of the map; they {shape}, and no "
        "force would take them out of it. Add random numbers to the coordinates.",
    ):
        make(**{name: places}).fit(points)
