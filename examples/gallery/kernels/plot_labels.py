"""
Guide a map by labels
=====================

Labels, where they are known, can guide a map: a share of the affinities of each row
goes to rows with the same label. A guided map separates the classes, even those of
random labels. The label test says how much of it is in the data.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import minmax_scale

from isosne import TSNE, OwnerKernel, plots
from isosne.structure import label_test

X, y = load_breast_cancer(return_X_y=True)
X = minmax_scale(X)
names = {0: "malignant", 1: "benign"}

# %%
# The same rows without labels, and with the labels of half of them; -1 is unknown.

guided = TSNE(OwnerKernel(label_weight=0.4), random_state=0)
rng = np.random.default_rng(0)
half = np.where(rng.random(len(y)) < 0.5, y, -1)
random = rng.permutation(y)
maps = {
    "no labels": TSNE(random_state=0).fit_transform(X),
    "half of the labels": guided.fit_transform(X, half),
}
plots.plot_maps(maps, color=[names[c] for c in y])[0].figure

# %%
# Random labels separate a little as well: that part is the labels' own doing.

plots.plot_map(
    guided.fit_transform(X, random), [f"random {c}" for c in random]
).figure

# %%
# Scores of labels that the map has seen, of permuted ones, and of labels that were
# held out. Only the last compares with the map without labels.

print(label_test(guided, X, y))
