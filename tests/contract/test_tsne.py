"""What TSNE refuses, word for word, and what it leaves behind."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from isosne import (
    TSNE,
    AdaptiveGaussianKernel,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    Mesh,
    Sparse,
)
from isosne.errors import DataError, IsosneError, ParameterError
from isosne.layout.objectives import JSE, NeRV
from isosne.layout.schedules import Phase, Schedule
from tests.conftest import refuses

X = np.random.default_rng(0).normal(size=(40, 3))
SHORT = Schedule((Phase(10, exaggeration=4, step=10), Phase(10, step=10)))


def make(**more):
    return TSNE(**{"schedule": SHORT, "random_state": 0, "n_jobs": 1} | more)


def sentence(parameter, rule, hint):
    """The form of all refusals, to be filled with the value received."""
    return f"{parameter} must {rule}; got {parameter}={{!r}}. {hint}"


COMPONENTS = sentence(
    "n_components", "be an integer from 1 to 3", "Maps have one, two or three dimensions."
)
FORCES = sentence(
    "forces",
    "be one of 'auto', 'exact', 'mesh', 'tree', or Mesh(...) or Tree(...)",
    "'auto' chooses by the number of points.",
)
EXAGGERATION = sentence("exaggeration", "be a number from 1 up", "1 changes nothing.")
LIMIT = sentence(
    "memory_limit",
    "be a number of bytes or a size such as '1.5GB'",
    "Leave it out to use the memory that is free.",
)
KERNEL = sentence(
    "kernel",
    "be one of 'isolation', 'owner', 'gaussian', 'adaptive', 'knn', 'precomputed', a kernel "
    "object, or an object with the methods fit(X) and similarity(A, B)",
    "Pass for example IsolationKernel(psi=64).",
)
OBJECTIVE = sentence(
    "objective",
    "be 'kl', 'nerv', 'jse', an object KL, NeRV or JSE, or one with the methods value(P, Q) "
    "and derivative(P, Q)",
    "Pass for example NeRV(trade_off=0.8).",
)
SCHEDULE = sentence(
    "schedule",
    "be one of 'annealed', 'standard', 'paper', 'opt_sne', or a Schedule",
    "Pass your own as Schedule((Phase(...), ...)).",
)
AFFINITIES = sentence(
    "affinities",
    "be one of 'auto', 'dense', 'sparse', 'sampled', or Sparse(...)",
    "'auto' chooses by size and memory.",
)
JOBS = sentence(
    "n_jobs", "be None or an integer from 1 up", "None uses as many threads as Numba does."
)
SEED = sentence(
    "random_state",
    "be None, an integer from 0 up, a numpy Generator or a RandomState",
    "Pass an integer for a repeatable result.",
)
START = sentence(
    "start",
    "be one of 'auto', 'pca', 'spectral', 'random' or an array",
    "Choose a name, or pass coordinates (n_samples, n_components).",
)
ALL_PAIRS = (
    "affinities must be 'dense', because {} compares all pairs; got affinities={{!r}}. "
    "Leave it out."
)
REFUSALS = [
    *[({"n_components": v}, COMPONENTS.format(v)) for v in (0, 4, 2.0, True, "two", None)],
    *[({"forces": v}, FORCES.format(v)) for v in ("fft", "", None, 1)],
    *[({"kernel": v}, KERNEL.format(v)) for v in ("linear", "", None, 7, IsolationKernel)],
    *[({"objective": v}, OBJECTIVE.format(v)) for v in ("ls", None, 1, NeRV, [])],
    *[({"schedule": v}, SCHEDULE.format(v)) for v in ("fast", None, 750)],
    *[({"affinities": v}, AFFINITIES.format(v)) for v in ("all", None, 3)],
    *[
        ({"exaggeration": v}, EXAGGERATION.format(v))
        for v in (0.5, 0, -1, True, "much", float("nan"), float("inf"))
    ],
    *[({"memory_limit": v}, LIMIT.format(v)) for v in ("lots", 0, -5, True)],
    *[({"n_jobs": v}, JOBS.format(v)) for v in (0, -1, 1.5, True, "all")],
    *[({"random_state": v}, SEED.format(v)) for v in (-1, 0.5, "seed", True)],
    *[({"start": v}, START.format(v)) for v in ("umap", "")],
    *[
        (
            {"objective": objective, "affinities": v},
            ALL_PAIRS.format(type(objective).__name__).format(v),
        )
        for objective in (NeRV(), JSE(0.25))
        for v in ("sparse", "sampled")
    ],
    (
        {"forces": "mesh", "affinities": "dense"},
        sentence(
            "forces",
            "be 'exact' with affinities='dense'",
            "Exact forces cost nothing more when all pairs are available. "
            "Choose forces='exact', or affinities='sparse'.",
        ).format(Mesh()),
    ),
    (
        {"kernel": "gaussian", "affinities": "sampled"},
        sentence(
            "affinities",
            "be 'dense' or 'sparse', because the kernel has no cells to draw from",
            "Leave it out.",
        ).format("sampled"),
    ),
    (
        {
            "kernel": GaussianKernel(5, metric="manhattan"),
            "affinities": Sparse(neighbors="approximate"),
        },
        sentence(
            "metric",
            (
                "be one of 'euclidean', 'cosine', 'mahalanobis', with a dense X, for the "
                "approximate neighbor search"
            ),
            "Choose the exact search.",
        ).format("manhattan"),
    ),
]


@pytest.mark.parametrize(("settings", "sentence"), REFUSALS, ids=lambda value: str(value)[:40])
def test_parameters_out_of_range_are_refused_and_nothing_is_left_behind(settings, sentence):
    model = make(**settings)
    with refuses(ParameterError, sentence):
        model.fit(X)
    assert vars(model).keys() == model.get_params(deep=False).keys()


BAD_KERNELS = [
    *(IsolationKernel(8, n_partitions="many"), IsolationKernel(8, n_partitions=None)),
    *(KNNKernel("few"), KNNKernel(None), AdaptiveGaussianKernel(None)),
    *(GaussianKernel("low"), GaussianKernel(float("nan"))),
]


@pytest.mark.parametrize("kernel", BAD_KERNELS, ids=str)
def test_parameters_of_a_kernel_are_refused_in_its_own_words(kernel):
    with pytest.raises(ParameterError) as expected:
        clone(kernel).fit(X)
    with refuses(ParameterError, str(expected.value)):
        make(kernel=kernel).fit(X)


@pytest.mark.parametrize(
    ("start", "shape"),
    [
        *[(np.zeros(shape), shape) for shape in ((39, 2), (40, 3), (40,))],
        (np.full((40, 2), np.nan), (40, 2)),
        *[(start, ()) for start in ([["a", "b"]] * 40, object(), 5)],
    ],
)
def test_starts_that_are_no_coordinates_of_the_points_are_refused(start, shape):
    sentence = (
        "A start must have shape (40, 2), and real numbers up to 1e+09 in size; "
        f"got shape {shape}. Pass one row for each point."
    )
    with refuses(DataError, sentence):
        make(start=start).fit(X)


@pytest.mark.parametrize("n_iter", [0, 2.5, True, None])
def test_the_number_of_further_steps_is_checked(n_iter):
    model = make().fit(X)
    sentence = (
        f"n_iter must be an integer from 1 up; got n_iter={n_iter!r}. "
        "Pass the number of further steps."
    )
    with refuses(ParameterError, sentence):
        model.continue_fit(n_iter)
    assert model.n_iter_ == 20


@pytest.mark.parametrize(
    "ask",
    [lambda m: m.transform(X), lambda m: m.continue_fit(3), lambda m: m.get_feature_names_out()],
    ids=["transform", "continue_fit", "names"],
)
def test_an_unfitted_map_answers_nothing(ask):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        ask(make())


def assert_unchanged(model, before):
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


BAD_DATA = {
    "nan": np.where(np.eye(40, 3) > 0, np.nan, X),
    "one row": X[:1],
    "text": np.array([["a", "b"], ["c", "d"]]),
    "one-dimensional": X[:, 0],
}


@pytest.mark.parametrize("data", BAD_DATA.values(), ids=BAD_DATA)
def test_refused_data_leave_everything_as_it_was(data):
    for model in (make(), make().fit(X)):
        before = dict(vars(model))
        with pytest.raises(DataError):
            model.fit(data)
        assert_unchanged(model, before)
    assert np.array_equal(model.transform(X), model.embedding_)


@pytest.mark.parametrize(("settings", "sentence"), REFUSALS[::8], ids=lambda value: str(value)[:40])
def test_a_refused_second_fit_leaves_the_first_as_it_was(settings, sentence):
    model = make().fit(X)
    before = dict(vars(model))
    places = model.transform(X[:5] + 0.25)
    old = {name: getattr(model, name) for name in settings}
    with pytest.raises(IsosneError):
        model.set_params(**settings).fit(X[:30])
    assert_unchanged(model.set_params(**old), before)
    assert model.transform(X[:5] + 0.25).tobytes() == places.tobytes()
    assert model.continue_fit(5).n_iter_ == 25


def test_refused_queries_leave_the_map_as_it_was():
    model = make().fit(X)
    before = model.embedding_.tobytes()
    for data in (BAD_DATA["nan"], X[:, :2], X[0]):
        with pytest.raises(DataError):
            model.transform(data)
    assert model.embedding_.tobytes() == before
