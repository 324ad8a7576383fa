"""TSNE from end to end."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from isosne import GaussianKernel, IsolationKernel, Phase, Schedule
from isosne._types import DenseMatrix
from isosne.errors import DivergedError, IsolatedPointsWarning, IsosneError, IsosneWarning
from isosne.rows import open_rows
from isosne.rows.scaled import Scale, ScaledRows
from tests.unit.tsne.conftest import make, refuses

STARTS = ["pca", "spectral", "random"]


# --- what a fit gives


@pytest.mark.parametrize(
    ("kernel", "n_components"),
    [("isolation", 2), ("gaussian", 1), ("gaussian", 3), ("adaptive", 2), ("knn", 3)],
)
def test_a_fit_gives_a_centered_map_and_what_led_to_it(points, kernel, n_components):
    schedule = Schedule((Phase(20, exaggeration=4, momentum=0.5, step=20), Phase(40, step=20)))
    model = make(kernel, n_components=n_components, schedule=schedule)
    assert model.fit(points) is model
    assert model.embedding_.shape == (80, n_components)
    assert model.embedding_.dtype == np.float32
    assert model.embedding_.flags.c_contiguous
    assert np.isfinite(model.embedding_).all()
    assert np.abs(model.embedding_.mean(axis=0)).max() < 1e-5 * np.abs(model.embedding_).max()
    assert isinstance(model.affinities_, DenseMatrix)
    assert model.kernel_.X_fit_.shape == (80, 5)
    assert model.n_iter_ == 60
    assert model.isolated_.tolist() == []
    assert model.n_features_in_ == 5
    assert model.trace_[:, 0].tolist() == [50, 60]
    assert model.trace_[-1, 1] == model.kl_divergence_
    assert 0 < model.kl_divergence_ < model.trace_[0, 1]
    assert model.plan_.n_points == 80


def test_fit_transform_gives_the_map_of_fit_and_zero_is_a_seed(points):
    model = make(random_state=0)
    Y = model.fit_transform(points)
    np.testing.assert_array_equal(Y, model.embedding_)
    np.testing.assert_array_equal(Y, make(random_state=0).fit(points).embedding_)
    assert not np.array_equal(Y, make(random_state=1).fit_transform(points))
    some, other = (make(random_state=None).fit_transform(points) for _ in range(2))
    assert not np.array_equal(some, other)


def test_a_seed_of_the_kernel_goes_before_that_of_the_map(points):
    one, other = (
        make(IsolationKernel(8, random_state=3), random_state=seed).fit(points) for seed in (0, 1)
    )
    assert one.affinities_.values.tobytes() == other.affinities_.values.tobytes()
    assert one.embedding_.tobytes() != other.embedding_.tobytes()


def test_the_kernel_that_is_passed_stays_unfitted(points):
    kernel = IsolationKernel(8)
    before = dict(vars(kernel))
    make(kernel).fit(points)
    assert vars(kernel) == before


# --- more steps


def test_more_steps_are_counted_on_and_each_is_in_the_trace_once(points):
    model = make(schedule=Schedule((Phase(60), Phase(40)))).fit(points)
    assert model.n_iter_ == 100
    assert model.trace_[:, 0].tolist() == [50, 100]
    before = model.trace_.copy()
    assert model.continue_fit(20) is model
    assert model.continue_fit(30).n_iter_ == 150
    # every 50 steps, and where a run ended
    assert model.trace_[:, 0].tolist() == [50, 100, 120, 150]
    np.testing.assert_array_equal(model.trace_[:2], before)
    assert model.trace_[-1, 1] == model.kl_divergence_


def test_more_steps_leave_a_map_that_was_handed_out_as_it_was(points):
    model = make(n_components=1)
    Y = model.fit_transform(points)
    before = Y.copy()
    model.continue_fit(20)
    np.testing.assert_array_equal(Y, before)
    assert not np.array_equal(model.embedding_, before)


# --- forms of input


@pytest.mark.parametrize(
    "kernel",
    [IsolationKernel(8, n_partitions="exact"), GaussianKernel(10), IsolationKernel(8)],
    ids=str,
)
def test_precomputed_distances_make_the_map_of_their_points(points, kernel):
    D = np.linalg.norm(points[:, None] - points, axis=2)
    start = 1e-4 * np.random.default_rng(1).normal(size=(80, 2))
    expected = make(kernel, start=start).fit_transform(points)
    model = make(clone(kernel).set_params(metric="precomputed"), start=start).fit(D)
    # distances are rounded differently on the two ways
    np.testing.assert_allclose(model.embedding_, expected, atol=1e-2 * np.abs(expected).max())
    np.testing.assert_array_equal(model.transform(D[:5]), model.embedding_[:5])
    new = np.linalg.norm(points[:3, None] + 0.3 - points, axis=2)
    assert np.isfinite(model.transform(new)).all()


@pytest.mark.parametrize("kernel", ["isolation", "gaussian"])
def test_csr_makes_the_map_of_its_dense_form(kernel):
    X = np.random.default_rng(0).poisson(0.5, (90, 12)).astype(float)
    start = np.random.default_rng(1).normal(size=(90, 2))
    dense = make(kernel, start=start).fit(X)
    sparse = make(kernel, start=start).fit(csr_array(X))
    # whole numbers: distances are the same in both forms
    scale = np.abs(dense.embedding_).max()
    np.testing.assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-3 * scale)
    np.testing.assert_array_equal(sparse.transform(csr_array(X[:9])), sparse.embedding_[:9])
    assert np.isfinite(sparse.transform(csr_array(X[:9] + 1))).all()
    assert np.isfinite(make(kernel).fit(csr_array(X)).embedding_).all()


def test_a_start_is_not_moved_by_the_fit(points):
    for n_components in (1, 2):
        start = np.random.default_rng(0).normal(size=(80, n_components)).astype(np.float32)
        start = np.asfortranarray(start)
        before = start.copy()
        make(start=start, n_components=n_components).fit(points)
        np.testing.assert_array_equal(start, before)


# --- company


def test_a_pickled_model_places_points_as_before(points):
    model = make().fit(points)
    copy = pickle.loads(pickle.dumps(model))
    new = points[:9] + 0.25
    assert copy.transform(new).tobytes() == model.transform(new).tobytes()
    assert copy.continue_fit(10).embedding_.tobytes() == model.continue_fit(10).embedding_.tobytes()


FORGOTTEN = {
    "landmark_indices_": lambda X: make(landmarks=40).fit(X),
    "alignment_": lambda X: make(align_to=X[:, :2]).fit(X),
    "far_": lambda X: make().fit(X[:60]).extend(X[60:], n_iter=1),
    "input_scale_": lambda X: make().fit(ScaledRows(open_rows(X), Scale(np.ones(5), np.ones(5)))),
    "table_": lambda X: make().fit(pd.DataFrame(X, columns=list("abcde")).assign(a="x")),
    "feature_names_in_": lambda X: make().fit(pd.DataFrame(X, columns=list("abcde"))),
}


@pytest.mark.parametrize(("name", "fit"), FORGOTTEN.items(), ids=FORGOTTEN)
def test_a_later_fit_forgets_what_it_does_not_have(points, name, fit):
    model = fit(points)
    assert hasattr(model, name)
    model.set_params(landmarks=None, align_to=None).fit(points)
    assert not hasattr(model, name)
    np.testing.assert_array_equal(model.transform(points), model.embedding_)


# --- callbacks, progress and interruption


def test_a_callback_sees_every_step_and_may_end_the_run(points):
    seen = []

    def stop_at_13(state):
        seen.append((state.iteration, state.phase))
        return state.iteration == 13

    model = make(callback=stop_at_13).fit(points)
    assert seen == [(i, 0 if i <= 8 else 1) for i in range(1, 14)]
    assert model.n_iter_ == 13
    assert model.trace_[-1, 0] == 13
    full = []
    make(callback=lambda state: full.append(state.Y.T.copy())).fit(points)
    assert len(full) == 20
    np.testing.assert_array_equal(model.embedding_, full[12])


def test_an_error_in_a_callback_is_raised_and_the_map_so_far_is_kept(points):
    def fail(state):
        if state.iteration == 12:
            raise LookupError("no more")

    model = make(callback=fail)
    with pytest.raises(LookupError, match=r"^no more$"):
        model.fit(points)
    assert model.n_iter_ == 12
    assert np.isfinite(model.embedding_).all()
    np.testing.assert_array_equal(model.transform(points), model.embedding_)
    model.set_params(callback=None).continue_fit(10)
    assert model.n_iter_ == 22


def test_an_interrupt_keeps_the_map_so_far_says_so_and_goes_on_up(points):
    def interrupt(state):
        if state.iteration == 7:
            raise KeyboardInterrupt

    model = make(callback=interrupt)
    sentence = (
        "Interrupted at step 7; embedding_ holds the map so far. Call continue_fit for more steps."
    )
    with (
        pytest.warns(RuntimeWarning, match="^" + re.escape(sentence) + "$") as caught,
        pytest.raises(KeyboardInterrupt),
    ):
        model.fit(points)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    seven = make(callback=lambda state: state.iteration == 7).fit(points)
    np.testing.assert_array_equal(model.embedding_, seven.embedding_)
    assert model.n_iter_ == 7
    assert model.set_params(callback=None).continue_fit(3).n_iter_ == 10


def test_nothing_is_written_unless_it_is_asked_for(points, capfd):
    make().fit(points).transform(points + 1)
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


# --- isolated points


@pytest.mark.parametrize("affinities", ["dense", "sparse", "sampled"])
def test_points_alone_in_all_their_cells_are_named(points, affinities):
    sentence = (
        "80 of 80 points have no affinity to any other point; each is tied to its nearest "
        "neighbor. Lower psi, or raise n_partitions."
    )
    model = make(IsolationKernel(80), affinities=affinities)
    with pytest.warns(IsolatedPointsWarning, match="^" + re.escape(sentence) + "$") as caught:
        model.fit(points)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.isolated_.tolist() == list(range(80))
    assert np.isfinite(model.embedding_).all()
    places = model.transform(points + 0.1)
    assert np.isfinite(places).all()


# --- small and degenerate data


NORMAL = np.random.default_rng(4).normal(size=(41, 3))
SMALL = {
    **{f"n = {n}": NORMAL[:n] for n in range(2, 8)},
    "equal rows": np.ones((20, 3)),
    "equal rows of zeros": np.zeros((20, 3)),
    "two equal rows": np.ones((2, 3)),
    "two points, ten times each": np.repeat([[0.0, 0.0], [1.0, 3.0]], 10, axis=0),
    "constant columns": NORMAL * [1, 0, 0],
    "one column": NORMAL[:, :1],
    "one far point": np.vstack([NORMAL, [1e9, 0, 0]]),
}


@pytest.mark.parametrize("kernel", ["isolation", "gaussian"])
@pytest.mark.parametrize(
    ("data", "start"),
    # every start with every third set
    [(name, STARTS[i % 3]) for i, name in enumerate(SMALL)],
)
def test_degenerate_data_give_a_finite_map_or_one_clear_error(data, kernel, start):
    X = SMALL[data]
    # the steps of the standard schedule, and as strong an exaggeration
    schedule = Schedule((Phase(60, exaggeration=12, momentum=0.5), Phase(60)))
    model = make(kernel, start=start, schedule=schedule)
    with warnings.catch_warnings():
        # our own warnings are due here; those of NumPy and scikit-learn are not
        warnings.simplefilter("ignore", IsosneWarning)
        try:
            model.fit(X)
        except IsosneError as error:
            # what must hold; what came. What to do.
            assert re.fullmatch(r"[^;]+ must [^;]+; [^.].*\. [A-Z].*\.", str(error))  # noqa: PT017
            return
        assert model.embedding_.shape == (len(X), 2)
        assert np.isfinite(model.embedding_).all()
        assert np.isfinite(model.kl_divergence_)
        assert np.isfinite(model.transform(X + 0.5)).all()


def test_a_run_without_bounds_ends_in_one_clear_sentence(points):
    model = make(schedule=Schedule((Phase(50, step=1e30),)))
    sentence = (
        "The optimization diverged at step 1 with step length 1e+30. "
        "Choose a schedule with shorter steps."
    )
    with refuses(DivergedError, sentence):
        model.fit(points)
    assert not hasattr(model, "embedding_")
