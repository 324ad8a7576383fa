"""
What a map does not show: sizes and distances
=============================================

t-SNE preserves neighborhoods. The size of a cluster in the map and the distance
between two clusters mean little. These data show it: four clusters on a line, of
very different widths and at very different distances.
"""

import numpy as np
import pandas as pd

from isosne import TSNE, plots

rng = np.random.default_rng(0)
n, d = 150, 10
centers = np.array([0, 40, 240, 2000])
widths = np.array([1, 4, 16, 2])
y = np.repeat(np.arange(4), n)
X = rng.normal(size=(4 * n, d)) * widths[y, None]
X[:, 0] += centers[y]

Y = TSNE(random_state=0).fit_transform(X)
names = [f"center {c}, width {w}" for c, w in zip(centers, widths, strict=True)]
plots.plot_map(Y, y, names=names, kind="labels").figure

# %%
# Cluster 3 is 16 times as wide as cluster 1, and cluster 4 is 50 times as far from
# cluster 1 as cluster 2 is. The map shows neither.


def measure(points):
    """Return the width of each cluster, and its distance from the first one."""
    own = [points[y == c] for c in range(4)]
    middles = np.array([cluster.mean(axis=0) for cluster in own])
    return {
        "width": [cluster.std(axis=0).mean() for cluster in own],
        "distance from cluster 1": np.linalg.norm(middles - middles[0], axis=1),
    }


measures = {"data": measure(X), "map": measure(Y.astype(float))}
pd.concat(
    {name: pd.DataFrame(found) for name, found in measures.items()}, axis=1
).set_axis([f"cluster {c + 1}" for c in range(4)]).round(1)

# %%
# What the map does show is right: there are four clusters, and which points belong
# to each of them.
