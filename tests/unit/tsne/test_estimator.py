"""TSNE from end to end."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from isosne import (
    JSE,
    AdaptiveGaussianKernel,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    NeRV,
    Phase,
    Schedule,
)
from isosne._types import DenseMatrix, SparseMatrix
from isosne.errors import (
    DivergedError,
    IsolatedPointsWarning,
    IsosneError,
    IsosneWarning,
    ParameterError,
)
from tests.unit.tsne.conftest import make, refuses

STARTS = ["pca", "spectral", "random"]


@pytest.fixture(scope="module")
def digits():
    return load_digits().data


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


def test_fit_transform_gives_the_map_of_fit(points):
    model = make()
    Y = model.fit_transform(points)
    np.testing.assert_array_equal(Y, model.embedding_)
    np.testing.assert_array_equal(Y, make().fit(points).embedding_)


def test_zero_is_a_seed(points):
    assert np.array_equal(
        make(random_state=0).fit_transform(points), make(random_state=0).fit_transform(points)
    )
    assert not np.array_equal(
        make(random_state=0).fit_transform(points), make(random_state=1).fit_transform(points)
    )
    assert not np.array_equal(
        make(random_state=None).fit_transform(points), make(random_state=None).fit_transform(points)
    )


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


@pytest.mark.parametrize("n_components", [1, 2])
def test_more_steps_leave_a_map_that_was_handed_out_as_it_was(points, n_components):
    model = make(n_components=n_components)
    Y = model.fit_transform(points)
    before = Y.copy()
    model.continue_fit(20)
    np.testing.assert_array_equal(Y, before)
    assert not np.array_equal(model.embedding_, before)


# --- further points

KERNELS = {
    "drawn": IsolationKernel(8),
    "exact": IsolationKernel(8, n_partitions="exact"),
    "several psi": IsolationKernel([4, 16]),
    "several exact psi": IsolationKernel([4, 16], n_partitions="exact"),
    "forest": IsolationKernel(8, partition="forest"),
    "gaussian": GaussianKernel(10),
    "several perplexities": GaussianKernel([5, 15]),
    "adaptive": AdaptiveGaussianKernel(7),
    "knn": KNNKernel(7),
}


@pytest.fixture(scope="module")
def fitted(points):
    """Maps of the points with each kernel, each made when it is first asked for."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = make(KERNELS[name]).fit(points)
        return made[name]

    return get


@pytest.mark.parametrize("name", KERNELS)
def test_copies_of_fitted_points_get_exactly_their_coordinates(points, fitted, name):
    model = fitted(name)
    np.testing.assert_array_equal(model.transform(points), model.embedding_)
    mixed = np.vstack([points[7] + 0.3, points[3], points[7]])
    placed = model.transform(mixed)
    np.testing.assert_array_equal(placed[1:], model.embedding_[[3, 7]])
    assert np.isfinite(placed).all()
    assert placed.dtype == np.float32


# --- threads


# --- forms of input


def test_precomputed_distances_make_the_map_of_their_points(points):
    D = np.linalg.norm(points[:, None] - points, axis=2)
    start = 1e-4 * np.random.default_rng(1).normal(size=(80, 2))
    for kernel in (
        IsolationKernel(8, n_partitions="exact"),
        GaussianKernel(10),
        IsolationKernel(8, random_state=0),
    ):
        from_points = make(kernel, start=start).fit(points)
        from_distances = make(clone(kernel).set_params(metric="precomputed"), start=start).fit(D)
        # distances are rounded differently on the two ways
        scale = np.abs(from_points.embedding_).max()
        np.testing.assert_allclose(
            from_distances.embedding_, from_points.embedding_, atol=1e-2 * scale
        )
        np.testing.assert_array_equal(
            from_distances.transform(D[:5]), from_distances.embedding_[:5]
        )
        new = np.linalg.norm(points[:3, None] + 0.3 - points, axis=2)
        assert np.isfinite(from_distances.transform(new)).all()


def test_precomputed_distances_start_spectral_and_never_from_pca(points):
    D = np.linalg.norm(points[:, None] - points, axis=2)
    kernel = GaussianKernel(10, metric="precomputed")
    assert np.array_equal(
        make(kernel).fit_transform(D), make(kernel, start="spectral").fit_transform(D)
    )
    sentence = (
        "start must be 'spectral', 'random' or an array with precomputed distances or affinities; "
        "got start='pca'. Principal components need the points themselves."
    )
    with refuses(ParameterError, sentence):
        make(kernel, start="pca").fit(D)


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


def test_a_data_frame_makes_the_map_of_its_numbers(points):
    frame = pd.DataFrame(points, columns=list("abcde"))
    model = make().fit(frame)
    np.testing.assert_array_equal(model.embedding_, make().fit(points).embedding_)
    assert model.feature_names_in_.tolist() == list("abcde")
    np.testing.assert_array_equal(model.transform(frame), model.embedding_)
    expected = make().fit(points).transform(points[:5] + 0.25)
    np.testing.assert_array_equal(model.transform(frame[:5] + 0.25), expected)


def test_a_data_frame_with_other_columns_is_refused(points):
    model = make().fit(pd.DataFrame(points, columns=list("abcde")))
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(pd.DataFrame(points, columns=list("abcdf")))


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


def test_a_clone_has_the_parameters_and_nothing_fitted(points):
    model = make(objective=NeRV(0.5), n_components=1).fit(points)
    copy = clone(model)
    assert vars(copy).keys() == copy.get_params(deep=False).keys()
    assert copy.objective == NeRV(0.5)
    assert copy.kernel is not model.kernel
    assert copy.fit(points).embedding_.tobytes() == model.embedding_.tobytes()


def test_the_output_can_be_a_data_frame(points):
    frame = pd.DataFrame(points, columns=list("abcde"), index=np.arange(80) + 100)
    model = make().set_output(transform="pandas")
    Y = model.fit_transform(frame)
    assert Y.columns.tolist() == ["tsne0", "tsne1"]
    assert Y.index.tolist() == frame.index.tolist()
    placed = model.transform(frame[:3])
    assert placed.columns.tolist() == ["tsne0", "tsne1"]
    np.testing.assert_array_equal(placed.to_numpy(), model.embedding_[:3])
    assert model.get_feature_names_out().tolist() == ["tsne0", "tsne1"]


def test_a_pipeline_scales_and_maps(points):
    pipeline = make_pipeline(MinMaxScaler(), make())
    Y = pipeline.fit_transform(points * [1, 10, 100, 1000, 1e4])
    assert np.array_equal(Y, make().fit_transform(MinMaxScaler().fit_transform(points)))
    placed = pipeline.transform(points * [1, 10, 100, 1000, 1e4])
    np.testing.assert_array_equal(placed, Y)


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


def test_drawn_partners_tell_the_objective_where_points_are_alone(points):
    with pytest.warns(IsolatedPointsWarning):
        dense, sampled = (
            make(IsolationKernel(80), affinities=a).fit(points) for a in ("dense", "sampled")
        )
    assert sampled.kl_divergence_ == pytest.approx(dense.kl_divergence_, rel=0.5)


# --- small and degenerate data


def small(n):
    return np.random.default_rng(n).normal(size=(n, 3))


def one_far():
    X = np.random.default_rng(4).normal(size=(41, 3))
    X[17, 0] = 1e9
    return X


SMALL = {
    **{f"n = {n}": lambda n=n: small(n) for n in range(2, 11)},
    "equal rows": lambda: np.ones((20, 3)),
    "equal rows of zeros": lambda: np.zeros((20, 3)),
    "two equal rows": lambda: np.ones((2, 3)),
    "two points, ten times each": lambda: np.repeat([[0.0, 0.0], [1.0, 3.0]], 10, axis=0),
    "constant columns": lambda: np.hstack([np.ones((30, 2)), small(30), np.zeros((30, 1))]),
    "one column": lambda: small(30)[:, :1],
    "one far point": one_far,
}


@pytest.mark.parametrize("kernel", ["isolation", "gaussian"])
@pytest.mark.parametrize(
    ("data", "start"),
    # every start with every third set
    [(name, STARTS[i % 3]) for i, name in enumerate(SMALL)],
)
def test_degenerate_data_give_a_finite_map_or_one_clear_error(data, kernel, start):
    X = SMALL[data]()
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


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_smallest_maps_do_not_diverge(n, start):
    for kernel in ("isolation", "gaussian"):
        model = make(kernel, start=start, schedule="standard")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IsosneWarning)
            Y = model.fit_transform(small(n))
        assert np.isfinite(Y).all()
        assert np.abs(Y).max() < 1e4


def test_a_run_without_bounds_ends_in_one_clear_sentence(points):
    model = make(schedule=Schedule((Phase(50, step=1e30),)))
    sentence = (
        "The optimization diverged at step 1 with step length 1e+30. "
        "Choose a schedule with shorter steps."
    )
    with refuses(DivergedError, sentence):
        model.fit(points)
    assert not hasattr(model, "embedding_")


# --- objectives, schedules and forms agree


@pytest.mark.parametrize("objective", [NeRV(1.0), JSE(1e-7)])
def test_mixtures_take_the_path_of_kl_in_their_limit(points, objective):
    start = np.random.default_rng(1).normal(size=(80, 2))
    schedule = Schedule((Phase(3, exaggeration=4, momentum=0.5, step=10), Phase(2, step=10)))
    kl, limit = (
        make(GaussianKernel(10), start=start, schedule=schedule, objective=o).fit_transform(points)
        for o in ("kl", objective)
    )
    # Sums of 80 terms in float32 against float64: gradients agree to about 80 * 6e-8 = 5e-6, and
    # five steps pass that on. Over many steps they would not: a gain doubles or halves with the
    # sign of a component near zero, which rounding decides.
    np.testing.assert_allclose(limit, kl, atol=5e-5 * np.abs(kl).max())


@pytest.mark.parametrize("kernel", [IsolationKernel(4), GaussianKernel(30), KNNKernel(30)], ids=str)
def test_lists_of_all_neighbors_take_the_path_of_all_pairs(points, kernel):
    start = np.random.default_rng(1).normal(size=(80, 2))
    schedule = Schedule((Phase(3, exaggeration=4, momentum=0.5, step=10), Phase(2, step=10)))
    dense, sparse = (
        make(kernel, start=start, schedule=schedule, affinities=a).fit(points)
        for a in ("dense", "sparse")
    )
    assert isinstance(sparse.affinities_, SparseMatrix)
    assert sparse.plan_.n_neighbors == 79
    # Lists hold float32 distances: probabilities agree to 2e-4, and so do five steps.
    scale = np.abs(dense.embedding_).max()
    np.testing.assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-3 * scale)


def test_opt_sne_stops_by_itself(digits):
    model = make("gaussian", schedule="opt_sne").fit(digits[:200])
    assert 30 < model.n_iter_ < 2500
    # it ends where little is left to gain
    assert model.continue_fit(250).kl_divergence_ > 0.9 * model.trace_[-6, 1]


def test_default_settings_part_two_blobs(two_blobs):
    for kernel in ("isolation", "owner", "gaussian", "adaptive", "knn"):
        Y = make(kernel, schedule="standard").fit_transform(two_blobs)
        a, b = Y[:30].mean(axis=0), Y[30:].mean(axis=0)
        along = (Y - (a + b) / 2) @ (b - a)
        assert np.array_equal(along > 0, np.arange(60) >= 30)
