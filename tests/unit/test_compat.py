"""`isosne.compat`: scikit-learn's parameters, and what each of them becomes."""

import inspect

import numpy as np
import pandas as pd
import pytest
import sklearn.manifold
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import isosne
from isosne import GaussianKernel, OwnerKernel, Phase, Schedule, State, Tree, compat
from isosne.errors import ParameterError
from tests.conftest import refuses

X = load_iris().data[::2]
PARAMETERS = inspect.signature(compat.TSNE).parameters


def test_the_parameters_are_those_of_scikit_learn():
    theirs = inspect.signature(sklearn.manifold.TSNE).parameters
    assert list(PARAMETERS) == list(theirs)
    assert [p.kind for p in PARAMETERS.values()] == [p.kind for p in theirs.values()]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"n_iter": 1000}, "'n_iter'. Use max_iter=1000."),
        ({"n_epochs": 200}, "'n_epochs'. Use max_iter=200."),
        ({"initialization": np.zeros((40, 2))}, "'initialization'. Use init=initialization."),
        ({"seed": 3}, "'seed'. Use random_state=3."),
        ({"perplexty": 30}, "'perplexty'. Did you mean 'perplexity'?"),
        ({"colour": "red"}, f"'colour'. Its parameters are {', '.join(PARAMETERS)}."),
    ],
)
def test_an_unknown_parameter_names_what_to_use_instead(given, sentence):
    with refuses(TypeError, f"TSNE has no parameter {sentence}"):
        compat.TSNE(**given)


def test_without_parameters_it_is_the_map_of_isosne():
    ours = compat.TSNE(random_state=0).fit(X)
    expected = isosne.TSNE(random_state=0).fit(X)
    np.testing.assert_array_equal(ours.embedding_, expected.embedding_)
    assert ours.kl_divergence_ == expected.kl_divergence_
    assert ours.n_iter_ == expected.n_iter_
    assert ours.n_features_in_ == 4


def test_a_perplexity_is_that_of_a_gaussian_kernel():
    ours = compat.TSNE(2, perplexity=10, max_iter=300, random_state=0).fit_transform(X)
    schedule = Schedule.annealed(n_iter=300)
    expected = isosne.TSNE(GaussianKernel(10), schedule=schedule, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(ours, expected)


def test_every_parameter_reaches_the_estimator():
    model = compat.TSNE(
        1,
        early_exaggeration=4,
        learning_rate=20,
        max_iter=260,
        metric="minkowski",
        metric_params={"p": 3},
        init="random",
        random_state=5,
        method="barnes_hut",
        angle=0.3,
        n_jobs=-1,
    ).fit(X)
    phases = (
        Phase(250, exaggeration=4, momentum=0.5, step=20, shortest=0),
        Phase(10, momentum=0.8, step=20, shortest=0),
    )
    used = model.model_.get_params(deep=False)
    assert used["schedule"] == Schedule(phases, bounded=True)
    assert used["start"] == "random"
    assert used["forces"] == Tree(0.3)
    assert used["affinities"] == "sparse"
    assert used["random_state"] == 5
    assert used["n_jobs"] is None
    kernel = used["kernel"]
    assert isinstance(kernel, OwnerKernel)
    assert (kernel.metric, kernel.p) == ("minkowski", 3.0)
    assert model.learning_rate_ == 20
    assert model.embedding_.shape == (75, 1)


def test_the_exact_method_a_given_start_and_verbosity(capsys):
    start = X[:, :2] - X[:, :2].mean(axis=0)
    given = compat.TSNE(init=start, method="exact", max_iter=10, verbose=1).fit(X).model_
    assert (given.affinities, given.forces, given.n_iter_) == ("dense", "exact", 10)
    np.testing.assert_array_equal(given.start, start)
    assert "points" in capsys.readouterr().err


@pytest.mark.parametrize(("metric", "same"), [("l2", "euclidean"), ("cityblock", "manhattan")])
def test_other_names_of_a_metric(metric, same):
    model = compat.TSNE(metric=metric, max_iter=1).fit(X)
    assert model.model_.kernel_.metric == same


def test_other_metrics_are_computed_by_scikit_learn():
    V = np.cov(X.T)
    cases = [
        ({"metric": "braycurtis"}, pairwise_distances(X, metric="braycurtis")),
        ({"metric": lambda a, b: abs(a - b).max()}, pairwise_distances(X, metric="chebyshev")),
        (
            {"metric": "mahalanobis", "metric_params": {"V": V}},
            pairwise_distances(X, metric="mahalanobis", VI=np.linalg.inv(V)),
        ),
    ]
    for settings, D in cases:
        model = compat.TSNE(**settings, init="random", random_state=0, max_iter=20).fit(X)
        assert model.model_.kernel_.metric == "precomputed"
        np.testing.assert_allclose(model.model_.kernel_.X_fit_, D, atol=1e-12)
        assert model.n_features_in_ == 4
    model = compat.TSNE(metric="braycurtis", init="pca", max_iter=1).fit(X).model_
    assert model.start[:, 0].std() == pytest.approx(1e-4)


def test_precomputed_distances_dense_and_of_neighbors():
    D = pairwise_distances(X)
    dense = compat.TSNE(metric="precomputed", init="random", perplexity=5, max_iter=300)
    assert np.isfinite(dense.fit_transform(D)).all()
    graph = kneighbors_graph(X, 40, mode="distance")
    sparse = compat.TSNE(metric="precomputed", perplexity=5, max_iter=300).fit_transform(graph)
    assert np.isfinite(sparse).all()


def test_a_run_without_progress_or_with_a_small_gradient_ends():
    rule = compat.StopRule(100, None)
    values = {250: 9.0, 300: 2.0, 350: 1.0, 400: 1.0, 450: 1.5, 500: 1.0}
    states = (State(k, 0, X.T, 1.0, lambda k=k: values[k]) for k in values)
    # Not counted at 250; progress ends at 350, and 150 steps later are more than 100.
    assert [rule(state) for state in states] == [False] * 5 + [True]
    model = compat.TSNE(min_grad_norm=1e6, random_state=0).fit(X)
    assert model.n_iter_ == 300
    model = compat.TSNE(n_iter_without_progress=300, max_iter=500, random_state=0).fit(X)
    assert model.n_iter_ == 500


def test_new_points_frames_and_pipelines():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = compat.TSNE(max_iter=200, random_state=0).fit(frame)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.model_.transform(frame[:3]).shape == (3, 2)
    model.set_output(transform="pandas")
    assert list(model.fit_transform(frame)) == ["tsne0", "tsne1"]
    pipeline = make_pipeline(StandardScaler(), compat.TSNE(max_iter=200, random_state=0))
    assert pipeline.fit_transform(X).shape == (75, 2)


METRIC = (
    "be a metric of isosne or of sklearn.metrics.pairwise_distances; got metric='rocket'. "
    "Correct its name or its metric_params, or pass a function of two points."
)
USUAL = "'auto' suits most data."


@pytest.mark.parametrize(
    ("name", "value", "rest"),
    [
        ("init", "warm", f"be one of 'auto', 'pca', 'random'; got init='warm'. {USUAL}"),
        ("method", "fft", f"be one of 'auto', 'barnes_hut', 'exact'; got method='fft'. {USUAL}"),
        ("metric", "rocket", METRIC),
        ("learning_rate", None, f"be a number from 0 up; got learning_rate=None. {USUAL}"),
        ("max_iter", 0, "be an integer from 1 up; got max_iter=0. 1000 is usual."),
        ("min_grad_norm", -1, "be a number from 0 up; got min_grad_norm=-1. None takes all steps."),
        ("angle", 2, "be a number from 0 to 1; got angle=2. 0.5 is usual."),
    ],
)
def test_wrong_values_are_named_as_scikit_learn_names_them(name, value, rest):
    with refuses(ParameterError, f"{name} must {rest}"):
        compat.TSNE(**{name: value}).fit(X)


def checks_of_scikit_learn():
    """Every check, but those of array types that a default SciPy does not take."""
    for estimator, check in estimator_checks_generator(compat.TSNE(max_iter=20)):
        name = getattr(check, "func", check).__name__
        if "array_api" not in name:
            yield pytest.param(estimator, check, id=name)


@pytest.mark.parametrize(("estimator", "check"), list(checks_of_scikit_learn()))
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)
