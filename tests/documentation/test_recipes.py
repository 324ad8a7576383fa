"""Recipes of the page how-to: the distances and rows that they promise."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import haversine_distances

from isosne import TSNE, OwnerKernel, nearest_neighbors
from tests.documentation.test_snippets import CODE, DOCS


def run_recipe(word, **names):
    """Run the code of the how-to page that contains a word; return what it defines."""
    blocks = CODE.findall((DOCS / "how-to.md").read_text("utf-8"))
    namespace = {"TSNE": TSNE, "OwnerKernel": OwnerKernel, **names}
    exec(next(block for block in blocks if word in block), namespace)
    return namespace


def order(D):
    return np.argsort(D + 10 * np.eye(len(D)), axis=1)[:, :20]


def test_centered_rows_have_the_neighbors_of_their_correlation():
    X = np.random.default_rng(0).normal(size=(60, 8)) + 5
    centered = run_recipe("centered", X=X)["centered"]
    found = nearest_neighbors(centered, 20, metric="cosine")
    np.testing.assert_array_equal(found.indices, order(1 - np.corrcoef(X)))


def test_unit_vectors_have_the_neighbors_of_the_great_circle():
    found = run_recipe("sphere")
    D = haversine_distances(np.radians(found["places"]))
    np.testing.assert_array_equal(nearest_neighbors(found["sphere"], 20).indices, order(D))


@pytest.mark.gallery
def test_means_of_neighbors_on_the_map_recover_rows():
    X = load_digits().data
    is_new = np.arange(len(X)) % 10 == 0
    model = TSNE(random_state=0).fit(X[~is_new])
    inverse = run_recipe("inverse", X=X[~is_new], Y=model.embedding_)["inverse"]
    found = inverse.predict(model.transform(X[is_new]))
    explained = r2_score(X[is_new], found, multioutput="variance_weighted")
    assert round(explained, 2) == 0.78  # the figure on the page
