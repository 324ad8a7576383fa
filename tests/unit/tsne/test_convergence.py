"""A default run on any data: the objective never rises once the exaggeration has fallen."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import coo_array

from isosne import KL, TSNE, NeRV


def graph(edges, n):
    """Return a symmetric adjacency matrix of n points."""
    i, j = np.array(edges).T
    half = coo_array((np.ones(len(i)), (i, j)), shape=(n, n)).tocsr()
    return half + half.T


def normal(n, d):
    return np.random.default_rng(0).normal(size=(n, d))


GRAPHS = {
    "pairs": graph([(i, i + 1) for i in range(0, 600, 2)], 600),
    "path": graph([(i, i + 1) for i in range(599)], 600),
    "star": graph([(0, i) for i in range(1, 600)], 600),
    "20 stars": graph([(i - i % 30, i) for i in range(600) if i % 30], 600),
    "cliques": graph([(i, j) for i in range(600) for j in range(i) if i // 20 == j // 20], 600),
}
DATA = {
    **{name: ("precomputed", {}, P) for name, P in GRAPHS.items()},
    "noise": ("owner", {}, normal(1500, 100)),
    "copies": ("owner", {}, np.repeat(normal(150, 8), 10, axis=0)),
    "gaussian": ("gaussian", {}, normal(600, 30)),
    "heavy tails": ("owner", {"objective": KL(dof=0.5)}, normal(600, 8)),
    "gaussian map": ("owner", {"objective": KL(dof=np.inf)}, normal(600, 8)),
    "nerv": ("gaussian", {"objective": NeRV(0.3)}, normal(200, 8)),
    "three dimensions": ("owner", {"n_components": 3}, normal(600, 8)),
    "given start": ("owner", {"start": 50 * normal(600, 2)}, normal(600, 8)),
}


@pytest.mark.parametrize("name", DATA)
def test_the_objective_never_rises_and_no_point_is_thrown_out(name):
    kernel, settings, X = DATA[name]
    model = TSNE(kernel, random_state=0, **settings).fit(X)
    values = [value for step, value, _ in model.trace_ if step >= 150]
    # 1e-4: forces and objective are sums of float32
    assert all(later <= earlier * (1 + 1e-4) for earlier, later in pairwise(values))
    radii = np.linalg.norm(model.embedding_ - model.embedding_.mean(axis=0), axis=1)
    assert radii.max() < 2 * np.quantile(radii, 0.95)
