"""A misspelled name: the error suggests the name that was meant, in Python and in commands."""

import numpy as np
import pytest

from isosne import TSNE, Landmarks, OwnerKernel, Sparse, compat, datasets, nearest_neighbors, plots
from isosne.errors import ParameterError, find_similar, suggest
from isosne.quality import compare
from isosne.structure import null_test
from isosne.studies import sweep

X = np.random.default_rng(0).normal(size=(30, 3))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ownr", "owner"),
        ("OWNER", "owner"),
        ("gausian", "Gaussian"),
        ("umap", None),
        ("", None),
        (None, None),
        (3, None),
        (np.zeros(3), None),
    ],
)
def test_the_most_similar_name_is_found_whatever_its_case(value, expected):
    assert find_similar(value, ["owner", "isolation", "Gaussian"]) == expected


def test_without_a_similar_name_the_other_hint_is_given():
    assert suggest("wien", ["wine", "iris"], "List them.") == "Did you mean 'wine'?"
    assert suggest("mnist", ["wine", "iris"], "List them.") == "List them."
    assert suggest("ab", ["ac"], "List them.", similarity=0.5) == "Did you mean 'ac'?"


@pytest.mark.parametrize(
    ("run", "meant"),
    [
        (lambda: TSNE("ownr").fit(X), "owner"),
        (lambda: TSNE("gausian").fit(X), "gaussian"),
        (lambda: TSNE(OwnerKernel(metric="eucledian")).fit(X), "euclidean"),
        (lambda: TSNE(schedule="anealed").fit(X), "annealed"),
        (lambda: TSNE(objective="kll").fit(X), "kl"),
        (lambda: TSNE(forces="msh").fit(X), "mesh"),
        (lambda: TSNE(affinities="spars").fit(X), "sparse"),
        (lambda: TSNE(start="randm").fit(X), "random"),
        (lambda: Sparse(neighbors="approx"), "approximate"),
        (lambda: Landmarks(10, choice="uniforn"), "uniform"),
        (lambda: nearest_neighbors(X, 1, metric="Cosine"), "cosine"),
        (lambda: compare(X, X[:, :2]).auc("papr"), "paper"),
        (lambda: plots.plot_map(X[:, :2], style="drak"), "dark"),
        (lambda: plots.plot_map(X[:, :2], X[:, 0], kind="value"), "values"),
        (lambda: compat.TSNE(init="pac").fit(X), "pca"),
        (lambda: compat.TSNE(method="barnes-hut").fit(X), "barnes_hut"),
        (lambda: sweep(X, "isolaton"), "isolation"),
        (lambda: null_test(X, keep="colums"), "columns"),
        (lambda: datasets.load("wien"), "wine"),
    ],
)
def test_an_unknown_name_is_refused_with_the_one_that_was_meant(run, meant):
    with pytest.raises(ParameterError) as refused:
        run()
    assert str(refused.value).endswith(f" Did you mean {meant!r}?")


@pytest.mark.parametrize(
    ("measure", "labels", "hint"),
    [
        ("auc_rnk", None, "Did you mean 'auc_rnx'?"),
        ("knn_acuracy", [0, 1] * 15, "Did you mean 'knn_accuracy'?"),
        (
            "knn_accuracy",
            None,
            (
                "Choose one of psi, kl_divergence, auc_rnx, auc_rnx_standard_error, "
                "trustworthiness, continuity, auc_rnx_paper, n_isolated, seconds."
            ),
        ),
    ],
)
def test_an_unknown_measure_is_refused_before_the_first_map(measure, labels, hint):
    rows = []
    with pytest.raises(ParameterError) as refused:
        sweep(X, "isolation", [4], measure=measure, labels=labels, callback=rows.append)
    assert str(refused.value) == (
        f"measure must be a column of the sweep; got measure={measure!r}. {hint}"
    )
    assert rows == []
