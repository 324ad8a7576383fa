"""The parameters of TSNE: which there are, what replaces others, names and objects."""

import inspect
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

import isosne.tsne.choices
from isosne import (
    JSE,
    KL,
    TSNE,
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
    compat,
)
from isosne.errors import ParameterError
from isosne.layout.force_methods import Exact
from isosne.tsne import foreign_parameters
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


# --- keywords of earlier versions and of other packages

MOVED = {
    "dof": (2.0, "objective=KL(dof=2.0)"),
    "neighbors": ("exact", "affinities=Sparse(neighbors='exact')"),
    "mesh_accuracy": (0.02, "forces=Mesh(accuracy=0.02)"),
    "theta": (0.4, "forces=Tree(theta=0.4)"),
    "landmark_choice": ("spread", "landmarks=Landmarks(n, choice='spread')"),
}
PAGE = Path(__file__).parents[3] / "docs" / "other-packages.md"


ROW = r"^\| `(TSNE\((\w+)=.*?\))` \| (.*?) \| (.*?) \|$"


def sentences_of_the_page():
    """Return each call on the page, and the sentence beside or below it."""
    text, found = PAGE.read_text(), {}
    for call, name, packages, advice in re.findall(ROW, text, re.MULTILINE):
        sentence = f"TSNE has no parameter '{name}', which is a parameter of {packages}. {advice}"
        if name in inspect.signature(compat.TSNE).parameters:
            sentence += " Or use isosne.compat.TSNE, which has the parameters of scikit-learn."
        found[call] = sentence.replace("`", "")
    for call, sentence in re.findall(r">>> (TSNE.*)\nTypeError: ([^`]*)\n```", text):
        assert found.setdefault(call, " ".join(sentence.split())) == " ".join(sentence.split())
    return found


@pytest.mark.parametrize("name", MOVED)
def test_a_keyword_of_an_earlier_version_names_what_it_is_now(name):
    value, now = MOVED[name]
    sentence = f"TSNE has no parameter {name!r}, which has moved. Use {now}."
    with refuses(TypeError, sentence):
        TSNE(**{name: value})


@pytest.mark.parametrize(("call", "sentence"), sentences_of_the_page().items())
def test_a_keyword_of_another_package_names_its_equivalent_as_documented(call, sentence):
    with refuses(TypeError, sentence):
        eval(call, dict(globals(), function=print))


def test_every_keyword_is_on_the_page():
    calls = sentences_of_the_page()
    for name in foreign_parameters.ELSEWHERE:
        assert any(f"({name}=" in call for call in calls), name
    assert "TSNE(2)" in calls


def test_what_a_sentence_names_can_be_typed():
    n_typed = 0
    for sentence in sentences_of_the_page().values():
        sentence = sentence.partition(" Or use")[0]
        for code in re.findall(r"[uU]se (\w+=.*?)(?:, w|\.$|;|\. Instead| for )", sentence):
            model = eval(f"TSNE({code})", dict(globals(), function=print))
            assert isinstance(model, TSNE)
            n_typed += 1
    assert n_typed >= 22
    for _, now in MOVED.values():
        assert isinstance(eval(f"TSNE({now})", dict(globals(), n=30)), TSNE)


def test_long_values_are_not_repeated():
    sentence = (
        "TSNE has no parameter 'init', which is a parameter of scikit-learn and UMAP. "
        "Use start=init. Or use isosne.compat.TSNE, which has the parameters of scikit-learn."
    )
    with refuses(TypeError, sentence):
        TSNE(init=np.zeros((50, 2)))


def test_the_adapted_keywords_are_those_of_the_adapter():
    theirs = set(inspect.signature(compat.TSNE).parameters)
    assert set(foreign_parameters.ADAPTED) == theirs & set(foreign_parameters.ELSEWHERE)


def test_a_first_parameter_of_a_subclass_may_be_a_number():
    assert WithPerplexity(2).perplexity == 2


def test_other_positions_raise_python_s_own_error():
    with pytest.raises(TypeError, match=r"takes from 1 to 2 positional arguments but 3 were given"):
        TSNE("isolation", 2)


# --- parameters of kernels, and misspelled ones

IS_OF_KERNEL = "TSNE has no parameter {0!r}, which is a parameter of the kernel. {1}"
ARE_OF_KERNEL = "TSNE has no parameters {0}, which are parameters of the kernel. {1}"


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("cell_size", 10, "Use kernel=OwnerKernel(cell_size=10)."),
        ("psi", 16, "Use kernel=IsolationKernel(psi=16)."),
        ("psi", list(range(2, 50)), "Use kernel=IsolationKernel(psi=psi)."),
        ("k", 5, "Use kernel=KNNKernel(k=5)."),
        ("n_partitions", 200, "Use kernel=IsolationKernel(n_partitions=200)."),
        ("partition", "forest", "Use kernel=IsolationKernel(partition='forest')."),
        ("p", 3, "Use kernel=OwnerKernel(metric='minkowski', p=3)."),
    ],
)
def test_a_parameter_of_a_kernel_names_the_kernel(name, value, advice):
    with refuses(TypeError, IS_OF_KERNEL.format(name, advice)):
        TSNE(**{name: value})
    code = advice.removeprefix("Use ").removesuffix(".")
    assert isinstance(eval(f"TSNE({code})", dict(globals(), psi=4)), TSNE)


@pytest.mark.parametrize(
    ("kernel", "name", "advice"),
    [
        ("owner", "n_partitions", "Use kernel=OwnerKernel(n_partitions=9)."),
        (OwnerKernel(), "n_partitions", "Use kernel=OwnerKernel(n_partitions=9)."),
        ("adaptive", "k", "Use kernel=AdaptiveGaussianKernel(k=9)."),
        ("owner", "psi", "Use kernel=IsolationKernel(psi=9)."),
        (np.zeros(3), "psi", "Use kernel=IsolationKernel(psi=9)."),
    ],
)
def test_the_kernel_that_was_given_is_kept_if_it_has_the_parameter(kernel, name, advice):
    with refuses(TypeError, IS_OF_KERNEL.format(name, advice)):
        TSNE(kernel, **{name: 9})
    with refuses(TypeError, IS_OF_KERNEL.format(name, advice)):
        TSNE(kernel=kernel, **{name: 9})


@pytest.mark.parametrize(
    ("given", "names", "advice"),
    [
        (
            {"psi": 16, "metric": "cosine", "n_iter": 300},
            "'psi' and 'metric'",
            (
                "Use kernel=IsolationKernel(psi=16, metric='cosine'). "
                "Instead of n_iter: use schedule=Schedule.annealed(n_iter=300)."
            ),
        ),
        (
            {"psi": 16, "k": 5},
            "'psi' and 'k'",
            "Use kernel=IsolationKernel(psi=16), which has no k.",
        ),
    ],
)
def test_several_parameters_of_kernels_are_named_together(given, names, advice):
    with refuses(TypeError, ARE_OF_KERNEL.format(names, advice)):
        TSNE(**given)


ALL_OF_TSNE = (
    "Its parameters are kernel, n_components, objective, schedule, exaggeration, start, align_to, "
    "affinities, forces, landmarks, memory_limit, random_state, n_jobs, verbose and callback."
)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("kernal", "Did you mean 'kernel'?"),
        ("n_component", "Did you mean 'n_components'?"),
        ("perplexty", "If 'perplexity' is meant, use kernel=GaussianKernel(perplexity=3)."),
        ("cellsize", "If 'cell_size' is meant, use kernel=OwnerKernel(cell_size=3)."),
        ("colour", ALL_OF_TSNE),
    ],
)
def test_a_misspelled_parameter_names_the_most_similar_one(name, advice):
    with refuses(TypeError, f"TSNE has no parameter {name!r}. {advice}"):
        TSNE(**{name: 3})


class WithAnyKeyword(TSNE):
    """An estimator of a user that passes keywords on."""

    def __init__(self, **others):
        super().__init__(random_state=others["seed"])


def test_a_subclass_may_take_any_keyword():
    assert WithAnyKeyword(seed=3, colour="red").random_state == 3


class WithPerplexity(TSNE):
    """An estimator of a user, with a parameter of its own."""

    def __init__(self, perplexity=30.0, *, random_state=None):
        super().__init__(GaussianKernel(perplexity), random_state=random_state)
        self.perplexity = perplexity


def test_a_subclass_may_have_a_parameter_of_that_name():
    assert WithPerplexity(perplexity=5).kernel.perplexity == 5
    assert clone(WithPerplexity(perplexity=5)).perplexity == 5


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


def test_an_estimator_prints_what_was_set():
    assert repr(TSNE()) == "TSNE()"
    model = TSNE(forces=Mesh(accuracy=0.02), landmarks=Landmarks(50))
    assert repr(model) == (
        "TSNE(forces=Mesh(accuracy=0.02), landmarks=Landmarks(n=50, choice='uniform'))"
    )


def test_parameters_of_the_kernel_are_searched_like_others(points):
    model = make(IsolationKernel(8, n_partitions=10))
    assert "kernel__n_partitions" in model.get_params()
    maps = {}
    for parameters in ParameterGrid({"kernel__psi": [4, 16], "forces": ["auto", Exact()]}):
        candidate = clone(model).set_params(**parameters).fit(points)
        assert candidate.kernel_.psi_ == (parameters["kernel__psi"],)
        maps[parameters["kernel__psi"], str(parameters["forces"])] = candidate.embedding_.tobytes()
    assert maps[4, "auto"] == maps[4, "Exact()"] != maps[16, "auto"]
    assert model.kernel.psi == 8


def test_an_unknown_parameter_of_the_kernel_is_refused_by_scikit_learn():
    with pytest.raises(ValueError, match="Invalid parameter 'perplexity' for estimator"):
        make(IsolationKernel(8)).set_params(kernel__perplexity=3)


# --- names are objects with their defaults

SAME = {
    "mesh": ({"forces": "mesh"}, {"forces": Mesh()}, {"forces": Mesh(accuracy=0.01)}),
    "tree": (
        {"affinities": "sparse", "forces": "tree"},
        {"affinities": "sparse", "forces": Tree(theta=0.5)},
    ),
    "exact": ({"affinities": "sparse", "forces": "exact"}, {"affinities": Sparse()}),
    "landmarks": ({"landmarks": 40}, {"landmarks": Landmarks(40)}, {"landmarks": np.int64(40)}),
    "objective": ({}, {"objective": "kl"}, {"objective": KL()}),
    "nerv": ({"objective": "nerv"}, {"objective": NeRV(0.9)}),
    "jse": ({"objective": "jse"}, {"objective": JSE(0.5, dof=1.0)}),
    "kernel": (
        {"kernel": "isolation"},
        {"kernel": IsolationKernel()},
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


WIDE = np.random.default_rng(6).normal(scale=100, size=(80, 2))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # in a narrow map all pairs are near, and computed one by one
        ({"forces": Mesh(0.01), "start": WIDE}, {"forces": Mesh(0.1), "start": WIDE}),
        ({"forces": Tree(0.2)}, {"forces": Tree(0.9)}),
        ({"landmarks": Landmarks(30)}, {"landmarks": Landmarks(30, choice="spread")}),
        ({"objective": KL()}, {"objective": KL(dof=3)}),
        ({"objective": NeRV(0.5)}, {"objective": NeRV(0.5, dof=3)}),
        ({"objective": JSE(0.5)}, {"objective": JSE(0.5, dof=3)}),
    ],
    ids=str,
)
def test_parameters_of_objects_are_used(monkeypatch, points, one, other):
    monkeypatch.setattr(isosne.tsne.choices, "FEWEST_FOR_MESH", len(points))
    a, b = (make(**settings).fit(points) for settings in (one, other))
    assert a.embedding_.tobytes() != b.embedding_.tobytes()


# --- values that are refused


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda v: Mesh(accuracy=v),
            (
                "accuracy must be a number from 0.003 to 0.2; got accuracy={!r}. "
                "0.03 is as accurate as other packages; 0.01 gives better maps."
            ),
        ),
        (
            lambda v: Tree(theta=v),
            "theta must be a number from 0 to 1; got theta={!r}. 0.5 is usual; 0 is exact.",
        ),
        (
            lambda v: Sparse(neighbors=v),
            (
                "neighbors must be one of 'auto', 'exact', 'approximate'; got neighbors={!r}. "
                "'auto' chooses by the number of points."
            ),
        ),
        (
            lambda v: Landmarks(50, choice=v),
            (
                "choice must be one of 'uniform', 'spread'; got choice={!r}. "
                "'spread' takes more landmarks from sparse regions."
            ),
        ),
        (
            lambda v: KL(dof=v),
            "dof must be a number above 0; got dof={!r}. 1 is the usual Student's t.",
        ),
        (
            lambda v: NeRV(trade_off=v),
            (
                "trade_off must be a number from 0 to 1; got trade_off={!r}. "
                "Choose a value in that range."
            ),
        ),
        (
            lambda v: JSE(mixture=v),
            (
                "mixture must be a number between 0 and 1, exclusive; got mixture={!r}. "
                "Choose a value in that range."
            ),
        ),
    ],
)
@pytest.mark.parametrize("value", [-0.5, "fine", None, True, float("nan"), ["auto"]])
def test_an_object_refuses_what_is_outside_its_range(build, sentence, value):
    with refuses(ParameterError, sentence.format(value)):
        build(value)


@pytest.mark.parametrize("accuracy", [0.0029, 0.21])
def test_an_accuracy_that_no_mesh_reaches_is_refused(accuracy):
    with pytest.raises(ParameterError, match=r"^accuracy must be a number from 0\.003 to 0\.2; "):
        Mesh(accuracy)


@pytest.mark.parametrize("value", ["all", "", None, 3, True, ["auto"], Mesh, GaussianKernel(5)])
@pytest.mark.parametrize(
    ("name", "rule"),
    [
        (
            "affinities",
            (
                "be one of 'auto', 'dense', 'sparse', 'sampled', or Sparse(...); got {}. "
                "'auto' chooses by size and memory."
            ),
        ),
        (
            "forces",
            (
                "be one of 'auto', 'exact', 'mesh', 'tree', or Mesh(...) or Tree(...); got {}. "
                "'auto' chooses by the number of points."
            ),
        ),
        (
            "schedule",
            (
                "be one of 'annealed', 'standard', 'paper', 'opt_sne', or a Schedule; got {}. "
                "Pass your own as Schedule((Phase(...), ...))."
            ),
        ),
        (
            "objective",
            (
                "be 'kl', 'nerv', 'jse', an object KL, NeRV or JSE, or one with the methods "
                "value(P, Q) and derivative(P, Q); got {}. Pass for example NeRV(trade_off=0.8)."
            ),
        ),
    ],
)
def test_other_values_are_refused(points, name, rule, value):
    sentence = f"{name} must {rule.format(f'{name}={value!r}')}"
    with refuses(ParameterError, sentence):
        make(**{name: value}).fit(points)


@pytest.mark.parametrize("value", ["all", None, 3, IsolationKernel, object, np.eye(3)], ids=str)
def test_what_is_no_kernel_is_refused(points, value):
    sentence = (
        "kernel must be one of 'isolation', 'owner', 'gaussian', 'adaptive', 'knn', 'precomputed', "
        "a kernel object, or an object with the methods fit(X) and similarity(A, B); got "
        f"kernel={' '.join(repr(value).split())}. Pass for example IsolationKernel(psi=64)."
    )
    with refuses(ParameterError, sentence):
        TSNE(kernel=value).fit(points)


def test_an_unknown_start_is_refused(points):
    sentence = (
        "start must be one of 'auto', 'pca', 'spectral', 'random' or an array; got start='zero'. "
        "Choose a name, or pass coordinates (n_samples, n_components)."
    )
    with refuses(ParameterError, sentence):
        make(start="zero").fit(points)


@pytest.mark.parametrize("value", [0.5, -1, "strong", True, float("inf")])
def test_an_exaggeration_below_one_is_refused(points, value):
    sentence = (
        f"exaggeration must be a number from 1 up; got exaggeration={value!r}. 1 changes nothing."
    )
    with refuses(ParameterError, sentence):
        make(exaggeration=value).fit(points)


@pytest.mark.parametrize("value", [0, 4, 2.0, True, "two"])
def test_a_map_of_other_dimensions_is_refused(points, value):
    sentence = (
        f"n_components must be an integer from 1 to 3; got n_components={value!r}. "
        "Maps have one, two or three dimensions."
    )
    with refuses(ParameterError, sentence):
        make(n_components=value).fit(points)


@pytest.mark.parametrize("value", [-1, 0.5, True, "today"])
def test_what_is_no_seed_is_refused(points, value):
    sentence = (
        "random_state must be None, an integer from 0 up, a numpy Generator or a RandomState; got "
        f"random_state={value!r}. Pass an integer for a repeatable result."
    )
    for call in (make(random_state=value).fit, make(random_state=value).plan):
        with refuses(ParameterError, sentence):
            call(points)


def test_a_refusal_carries_its_fields(points):
    with pytest.raises(ParameterError) as caught:
        make(n_components=7).fit(points)
    error = caught.value
    assert (error.parameter, error.value) == ("n_components", 7)
    assert error.rule == "be an integer from 1 to 3"
    assert re.fullmatch(r"Maps have .*\.", error.hint)
