"""
What a map does not show: sizes and distances
=============================================

t-SNE preserves neighborhoods. The size of a cluster in the map and the distance between two
clusters mean little. These data show it: four clusters on a line, of very different widths and at
very different distances.
"""

import numpy as np

from isosne import TSNE, plots

rng = np.random.default_rng(0)
n, d = 150, 10
centers = np.array([0, 20, 120, 1000])
widths = np.array([1, 4, 16, 2])
y = np.repeat(np.arange(4), n)
X = rng.normal(size=(4 * n, d)) * widths[y, None]
X[:, 0] += centers[y]

Y = TSNE(random_state=0).fit_transform(X)
names = [f"center {c}, width {w}" for c, w in zip(centers, widths, strict=True)]
plots.plot_map(Y, y, names=names, kind="labels").figure

# %%
# Cluster 3 is 16 times as wide as cluster 1, and cluster 4 is 50 times as far from cluster 1 as
# cluster 2 is. The map shows neither.

data_center = np.array([X[y == c].mean(axis=0) for c in range(4)])
map_center = np.array([Y[y == c].mean(axis=0) for c in range(4)])
print("cluster   width in data   width in map   distance to 1 in data   in map")
for c in range(4):
    print(
        f"{c + 1:7} {X[y == c].std(axis=0).mean():15.1f} {Y[y == c].std(axis=0).mean():14.1f}"
        f" {np.linalg.norm(data_center[c] - data_center[0]):23.0f}"
        f" {np.linalg.norm(map_center[c] - map_center[0]):8.0f}"
    )

# %%
# What the map does show is right: there are four clusters, and which points belong to each of them.
