"""scikit-learn's own tests of t-SNE, run against `isosne.compat` with scikit-learn's defaults.

Its installed test module is imported, and the estimator in it replaced; nothing of it is copied.
Some of its cases test functions of scikit-learn alone; they are counted, and pass as they are.
"""

from math import prod

import pytest
from sklearn.manifold.tests import test_t_sne as theirs

from isosne import compat

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

NOT_APPLICABLE = {
    "test_init_ndarray": (1, "starts with all points at one place, which isosne refuses"),
    "test_init_ndarray_precomputed": (1, "the same"),
    **dict.fromkeys(
        (
            "test_verbose",
            "test_min_grad_norm",
            "test_n_iter_without_progress",
            "test_accessible_kl_divergence",
        ),
        (1, "reads scikit-learn's progress messages on standard output"),
    ),
    **dict.fromkeys(
        (
            "test_n_components_range",
            "test_non_positive_computed_distances",
            "test_pca_initialization_not_compatible_with_precomputed_kernel",
        ),
        (1, "expects the words of scikit-learn for what isosne refuses, too"),
    ),
    "test_tsne_perplexity_validation": (2, "the same"),
    "test_exact_no_precomputed_sparse": (2, "the same, and another type of error"),
    "test_tsne_with_mahalanobis_distance": (1, "expects an error without metric_params"),
    "test_high_perplexity_precomputed_sparse_distances": (
        2,
        "has ones on the diagonal of a matrix of distances, which isosne refuses before it counts",
    ),
    "test_bh_match_exact": (
        1,
        "asks for a perplexity of 29.5 among 29 others, which no bandwidth has",
    ),
    "test_tsne_with_different_distance_metrics": (
        3,
        (
            "with cosine, wants the bits of a map from distances that scikit-learn rounds "
            "otherwise; with manhattan and barnes_hut, is expected to fail by its authors"
        ),
    ),
}
"""Tests that do not apply to isosne: how many of their cases, and why."""

TESTS = {name: test for name, test in vars(theirs).items() if name.startswith("test_")}


class AsScikitLearn(compat.TSNE):
    """`isosne.compat.TSNE` with the defaults and the step count of scikit-learn."""

    def __init__(
        self,
        n_components=2,
        *,
        perplexity=30.0,
        early_exaggeration=12.0,
        learning_rate="auto",
        max_iter=1000,
        n_iter_without_progress=300,
        min_grad_norm=1e-7,
        metric="euclidean",
        metric_params=None,
        init="pca",
        verbose=0,
        random_state=None,
        method="barnes_hut",
        angle=0.5,
        n_jobs=None,
    ):
        given = {
            name: value for name, value in locals().items() if name not in ("self", "__class__")
        }
        super().__init__(**given)

    def fit(self, X, y=None):
        super().fit(X)
        self.n_iter_ -= 1  # scikit-learn counts from 0
        return self


@pytest.fixture(autouse=True)
def isosne_in_place_of_scikit_learn(monkeypatch):
    monkeypatch.setattr(theirs, "TSNE", AsScikitLearn)


globals().update({name: test for name, test in TESTS.items() if name not in NOT_APPLICABLE})


def test_the_metric_whose_distances_are_the_same_bits():
    theirs.test_tsne_with_different_distance_metrics(
        "manhattan", theirs.manhattan_distances, "exact"
    )


def n_cases(test):
    """Return the number of cases of a test: all combinations of its parameters."""
    marks = getattr(test, "pytestmark", [])
    return prod(len(mark.args[1]) for mark in marks if mark.name == "parametrize")


def test_at_least_59_of_79_cases_apply():
    assert set(NOT_APPLICABLE) < set(TESTS)
    total = sum(map(n_cases, TESTS.values()))
    left_out = sum(n for n, _ in NOT_APPLICABLE.values())
    assert (total, total - left_out) == (79, 59) or total > 79  # later versions may have more
