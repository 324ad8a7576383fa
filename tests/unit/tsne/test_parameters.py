"""The parameters of TSNE: which there are, what replaces others, names and objects."""

import inspect
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import isosne.tsne.plan
from isosne import (
    JSE,
    KL,
    TSNE,
    Alignment,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    Landmarks,
    Mesh,
    NeRV,
    OwnerKernel,
    Phase,
    Schedule,
    Sparse,
    Tree,
)
from isosne.errors import ParameterError
from isosne.tsne.hints import HINTS
from tests.unit.tsne.conftest import make, refuses

COMPOSED = {
    "kernel": IsolationKernel(8, n_partitions=20),
    "objective": KL(dof=0.5),
    "schedule": Schedule((Phase(5),)),
    "affinities": Sparse(neighbors="exact"),
    "forces": Tree(theta=0.4),
    "landmarks": Landmarks(30, choice="spread"),
    "random_state": 0,
    "n_jobs": 1,
}


def test_there_are_at_most_fifteen_parameters_and_the_kernel_comes_first():
    parameters = inspect.signature(TSNE).parameters
    assert len(parameters) <= 15
    assert next(iter(parameters)) == "kernel"
    positional = [p.name for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
    assert positional == ["kernel"]
    assert set(TSNE().get_params(deep=False)) == set(parameters)


# --- parameters that TSNE does not have

PAGE = Path(__file__).parents[3] / "docs" / "other-packages.md"
ROWS = dict(re.findall(r"^\| `(TSNE\(\w+=.*?\))` \| (.*?) \|$", PAGE.read_text(), re.MULTILINE))


@pytest.mark.parametrize(("call", "advice"), ROWS.items())
def test_a_parameter_of_another_package_names_its_equivalent_as_documented(call, advice):
    name = call[5:].partition("=")[0]
    with refuses(TypeError, f"TSNE has no parameter {name!r}. Use {advice}."):
        eval(call)


def test_every_hint_is_on_the_page_and_can_be_typed():
    assert {call[5:].partition("=")[0] for call in ROWS} == set(HINTS)
    codes = [advice for advice in ROWS.values() if re.fullmatch(r"\w+=[^;.]*[)']", advice)]
    assert len(codes) >= 12
    for code in codes:
        names = {name: getattr(isosne, name) for name in re.findall(r"\b[A-Z]\w+", code)}
        assert isinstance(eval(f"TSNE({code})", {"TSNE": TSNE, **names}), TSNE)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"init": np.zeros((50, 2))}, "TSNE has no parameter 'init'. Use start=init."),
        ({"kernl": "knn"}, "TSNE has no parameter 'kernl'. Did you mean 'kernel'?"),
        (
            {"perplexty": 30},
            (
                "TSNE has no parameter 'perplexty'. If 'perplexity' is meant, use "
                "kernel=GaussianKernel(perplexity=30)."
            ),
        ),
        (
            {"seed": 1, "init": "pca"},
            (
                "TSNE has no parameter 'seed'. Use random_state=1. "
                "TSNE has no parameter 'init'. Use start='pca'."
            ),
        ),
    ],
)
def test_other_parameters_name_what_may_be_meant(given, sentence):
    with refuses(TypeError, sentence):
        TSNE(**given)


def test_the_first_parameter_is_the_kernel_and_not_a_number():
    with refuses(
        TypeError,
        "The first parameter of TSNE is the kernel, not the number of dimensions as in other "
        "packages. Use TSNE(n_components=2).",
    ):
        TSNE(2)


class WithPerplexity(TSNE):
    """A subclass of a user, with parameters of its own."""

    def __init__(self, perplexity=30, **others):
        super().__init__(GaussianKernel(perplexity))
        self.perplexity = perplexity


def test_a_subclass_may_have_other_parameters():
    assert WithPerplexity(2, psi=3).kernel.perplexity == 2


# --- company of scikit-learn


def test_objects_are_cloned_set_pickled_and_printed(points):
    model = TSNE(**COMPOSED)
    copy = clone(model)
    for name, value in COMPOSED.items():
        if name != "kernel":
            assert getattr(copy, name) == value
    assert copy.kernel is not model.kernel
    assert repr(copy) == repr(model)
    assert pickle.loads(pickle.dumps(model)).forces == Tree(theta=0.4)
    again = TSNE().set_params(**model.get_params(deep=False))
    assert again.fit(points).embedding_.tobytes() == model.fit(points).embedding_.tobytes()
    fitted = pickle.loads(pickle.dumps(model))
    assert fitted.plan_ == model.plan_
    assert fitted.transform(points).tobytes() == model.transform(points).tobytes()


# --- names are objects with their defaults

SAME = {
    "mesh": ({"forces": "mesh"}, {"forces": Mesh(accuracy=0.01)}),
    "tree": ({"forces": "tree"}, {"forces": Tree(theta=0.5)}),
    "exact": ({"affinities": "sparse", "forces": "exact"}, {"affinities": Sparse()}),
    "landmarks": ({"landmarks": 40}, {"landmarks": Landmarks(np.int64(40))}),
    "objective": ({"objective": "kl"}, {"objective": KL()}),
    "nerv": ({"objective": "nerv"}, {"objective": NeRV(0.9)}),
    "jse": ({"objective": "jse"}, {"objective": JSE(0.5, dof=1.0)}),
    "kernel": (
        {"kernel": "isolation"},
        {"kernel": IsolationKernel([64, 16, 4], n_partitions=200)},
    ),
    "gaussian": ({"kernel": "gaussian"}, {"kernel": GaussianKernel(79 / 3)}),
    "knn": ({"kernel": "knn"}, {"kernel": KNNKernel(7)}),
}


@pytest.mark.parametrize("name", SAME)
def test_a_name_stands_for_an_object(points, name):
    first, *others = (make(**settings).fit(points) for settings in SAME[name])
    for other in others:
        assert other.embedding_.tobytes() == first.embedding_.tobytes()
        assert other.plan_.forces == first.plan_.forces
        assert other.plan_.affinities == first.plan_.affinities


WIDE = {
    "start": np.random.default_rng(6).normal(scale=100, size=(80, 2)),
    "schedule": Schedule((Phase(20),)),
}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # in a narrow map all pairs are near, and computed one by one
        ({"forces": Mesh(0.01), **WIDE}, {"forces": Mesh(0.1), **WIDE}),
        ({"forces": Tree(0.2)}, {"forces": Tree(0.9)}),
        ({"landmarks": Landmarks(30)}, {"landmarks": Landmarks(30, choice="spread")}),
        ({"objective": KL()}, {"objective": KL(dof=3)}),
        ({"objective": JSE(0.5)}, {"objective": JSE(0.5, dof=3)}),
    ],
    ids=str,
)
def test_parameters_of_objects_are_used(monkeypatch, points, one, other):
    monkeypatch.setattr(isosne.tsne.plan, "FEWEST_FOR_MESH", len(points))
    a, b = (make(**settings).fit(points) for settings in (one, other))
    assert a.embedding_.tobytes() != b.embedding_.tobytes()


# --- values that are refused


RANGES = {
    "accuracy must be a number from 0.003 to 0.2; got accuracy={!r}. 0.03 is as accurate as other "
    "packages; 0.01 gives better maps.": lambda v: Mesh(accuracy=v),
    "theta must be a number from 0 to 1; got theta={!r}. 0.5 is usual; 0 is exact.": Tree,
    "neighbors must be one of 'auto', 'exact', 'approximate'; got neighbors={!r}. 'auto' chooses "
    "by the number of points.": Sparse,
    "choice must be one of 'uniform', 'spread'; got choice={!r}. 'spread' takes more landmarks "
    "from sparse regions.": lambda v: Landmarks(50, choice=v),
    "dof must be a number above 0; got dof={!r}. 1 is the usual Student's t.": KL,
    "trade_off must be a number from 0 to 1; got trade_off={!r}. Choose a value in that "
    "range.": NeRV,
    "mixture must be a number between 0 and 1, exclusive; got mixture={!r}. Choose a value in that "
    "range.": JSE,
}


@pytest.mark.parametrize(("sentence", "build"), RANGES.items())
@pytest.mark.parametrize("value", [-0.5, "fine", None, True, float("nan"), ["auto"]])
def test_an_object_refuses_what_is_outside_its_range(build, sentence, value):
    with refuses(ParameterError, sentence.format(value)):
        build(value)


def test_a_refusal_carries_its_fields(points):
    with pytest.raises(ParameterError) as caught:
        make(n_components=7).fit(points)
    error = caught.value
    assert (error.parameter, error.value) == ("n_components", 7)
    assert error.rule == "be an integer from 1 to 3"
    assert re.fullmatch(r"Maps have .*\.", error.hint)


def test_numbers_of_numpy_are_numbers(points):
    previous = make().fit(points).embedding_
    expected = make(align_to=Alignment(previous, strength=2), n_jobs=1).fit(points)
    found = make(align_to=Alignment(previous, strength=np.float16(2)), n_jobs=np.int64(1))
    np.testing.assert_array_equal(found.fit(points).embedding_, expected.embedding_)


@pytest.mark.parametrize("parameter", ["n_jobs", "landmarks", "exaggeration", "n_components"])
def test_a_duration_is_no_number(points, parameter):
    with pytest.raises(ParameterError, match=f"^{parameter} must be "):
        TSNE(**{parameter: np.timedelta64(2, "D")}).fit(points)


def test_a_cell_must_not_be_infinitely_small(points):
    with pytest.raises(ParameterError, match=r"^cell_size must be 'auto', a number of points "):
        TSNE(OwnerKernel(1e-320)).fit(points)
