"""Estimators of isosne in scikit-learn: its checks, pipelines and searches."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import estimator_checks_generator

from isosne import (
    TSNE,
    AdaptiveGaussianKernel,
    GaussianKernel,
    IsolationKernel,
    IsolationOutliers,
    KNNKernel,
    LeidenClustering,
    OwnerKernel,
    PrecomputedKernel,
    TableForest,
)
from isosne.layout.schedules import Phase, Schedule


class Map(TSNE):
    """TSNE under another name: scikit-learn excuses any class named TSNE from some checks."""


ESTIMATORS = [
    Map(schedule=Schedule((Phase(20, step=10),)), random_state=0, n_jobs=1),
    IsolationKernel(random_state=0),
    OwnerKernel(random_state=0),
    GaussianKernel(),
    AdaptiveGaussianKernel(),
    KNNKernel(),
    PrecomputedKernel(),
    TableForest(2, n_trees=5, random_state=0),
    LeidenClustering(n_runs=2, random_state=0),
    IsolationOutliers(n_partitions=20, random_state=0),
]


LEFT_OUT = "array_api", "sample_weight_equivalence", "all_zero_sample_weights"
"""Checks of array types that a default SciPy does not take, and of rows of weight 0, which are
refused. Weights equal copies in the objective (`test_copies`), not in the random numbers."""


def checks_of_scikit_learn():
    """Every check of every class, but those that are left out."""
    for model in ESTIMATORS:
        for estimator, check in estimator_checks_generator(model):
            name = getattr(check, "func", check).__name__
            if not any(part in name for part in LEFT_OUT):
                yield pytest.param(estimator, check, id=f"{type(model).__name__}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(checks_of_scikit_learn()))
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


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
