"""The calls of scikit-learn's examples, in programs in which one line is changed."""

import numpy as np
import pytest
import sklearn.manifold

from isosne import compat

pytestmark = pytest.mark.slow
LINE = "from sklearn import manifold"
CHANGED = "from isosne import compat as manifold"
PERPLEXITY = """
from sklearn import datasets
from sklearn import manifold
circles, y = datasets.make_circles(n_samples=150, factor=0.5, noise=0.05, random_state=0)
curve, color = datasets.make_s_curve(150, random_state=0)
side = np.linspace(0, 1, 15)
grid = np.column_stack([axis.ravel() for axis in np.meshgrid(side, side)])
maps = [
    manifold.TSNE(
        n_components=2,
        init="random",
        random_state=0,
        perplexity=perplexity,
        learning_rate="auto",
        max_iter=300,
    ).fit_transform(X)
    for X in (circles, curve, grid)
    for perplexity in (5, 30, 50, 100)
]
"""
SPHERE = """
from sklearn import manifold
from sklearn.utils import check_random_state
rng = check_random_state(0)
p, t = rng.rand(1000) * (2 * np.pi - 0.55), rng.rand(1000) * np.pi
kept = (t < np.pi - np.pi / 8) & (t > np.pi / 8)
p, t = p[kept], t[kept]
X = np.column_stack([np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)])
methods = {
    "LLE": manifold.LocallyLinearEmbedding(n_neighbors=10, n_components=2, random_state=42),
    "Isomap": manifold.Isomap(n_neighbors=10, n_components=2),
    "Spectral": manifold.SpectralEmbedding(n_components=2, n_neighbors=10, random_state=42),
    "t-SNE": manifold.TSNE(n_components=2, random_state=0),
}
maps = [method.fit_transform(X) for method in methods.values()]
"""
METHODS = """
from sklearn import datasets
from sklearn import manifold
X, color = datasets.make_s_curve(1500, random_state=0)
isomap = manifold.Isomap(n_neighbors=12, n_components=2, p=1)
tsne = manifold.TSNE(
    n_components=2, perplexity=30, init="random", max_iter=250, random_state=0
)
maps = [method.fit_transform(X) for method in (isomap, tsne)]
kept = manifold.trustworthiness(X, maps[-1])
"""


@pytest.mark.parametrize(
    "script",
    [PERPLEXITY, SPHERE, METHODS],
    ids=["plot_t_sne_perplexity", "plot_manifold_sphere", "plot_compare_methods"],
)
def test_an_example_runs_with_one_line_changed(script):
    assert script.count(LINE) == 1
    names = {"np": np}
    exec(script.replace(LINE, CHANGED), names)
    assert names["manifold"] is compat
    for Y in names["maps"]:
        assert Y.shape[1] == 2
        assert np.isfinite(Y).all()
    assert names["maps"][-1].dtype == np.float32  # a map of isosne
    X = names.get("X", names.get("grid"))
    assert sklearn.manifold.trustworthiness(X, names["maps"][-1]) > 0.98
