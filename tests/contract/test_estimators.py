import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import estimator_checks_generator

from isosne import (
    AdaptiveGaussianKernel,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    OwnerKernel,
    PrecomputedKernel,
    TableForest,
)

# Every kernel in its default form, and forms of the isolation kernel.
KERNELS = [
    IsolationKernel(random_state=0),
    IsolationKernel(n_partitions="exact"),
    IsolationKernel(partition="forest", n_partitions=10, random_state=0),
    IsolationKernel(psi=[3, 2], n_partitions=5, metric="manhattan", random_state=0),
    OwnerKernel(random_state=0),
    GaussianKernel(),
    AdaptiveGaussianKernel(),
    KNNKernel(),
    PrecomputedKernel(),
]


def checks_of_scikit_learn():
    """Every check of every kernel, but those of array types that a default SciPy does not take."""
    for kernel in (*KERNELS, TableForest(2, n_trees=5, random_state=0)):
        for estimator, check in estimator_checks_generator(kernel):
            name = getattr(check, "func", check).__name__
            if "array_api" not in name:
                yield pytest.param(estimator, check, id=f"{kernel!r}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(checks_of_scikit_learn()))
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", KERNELS[:-1], ids=repr)
def test_a_clone_has_the_parameters_and_nothing_fitted(kernel, two_blobs):
    fitted = clone(kernel).fit(two_blobs)
    copy = clone(fitted)
    assert copy.get_params() == kernel.get_params()
    assert vars(copy) == copy.get_params()


def test_parameters_are_kept_as_given_and_can_be_set(two_blobs):
    psi = [2, 3]
    kernel = IsolationKernel(psi, n_partitions=10, random_state=0)
    assert kernel.psi is psi
    kernel.fit(two_blobs)
    assert kernel.psi is psi
    kernel.set_params(psi=7, n_partitions=5).fit(two_blobs)
    assert kernel.psi_ == (7,)
    assert kernel.cells().shape == (60, 5)


def test_all_but_psi_is_keyword_only():
    with pytest.raises(TypeError, match="positional"):
        IsolationKernel(2, 200)


@pytest.mark.parametrize("partition", ["voronoi", "forest"])
def test_a_linear_classifier_on_the_feature_map_learns_what_a_line_cannot(partition):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)  # opposite quadrants: no line parts them
    kernel = IsolationKernel(16, n_partitions=50, partition=partition, random_state=0)
    model = make_pipeline(StandardScaler(), kernel, LinearSVC(random_state=0))
    model.fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.85
    assert LinearSVC(random_state=0).fit(X[:200], y[:200]).score(X[200:], y[200:]) < 0.7


def test_psi_can_be_searched_for_in_a_grid(two_blobs):
    y = np.repeat([0, 1], 30)
    kernel = IsolationKernel(2, n_partitions=10, random_state=0)
    search = GridSearchCV(
        make_pipeline(kernel, LinearSVC(random_state=0)), {"isolationkernel__psi": [2, 4]}, cv=2
    )
    assert search.fit(two_blobs, y).best_score_ == 1
