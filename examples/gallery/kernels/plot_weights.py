"""
Rows with weights
=================

Tables are often summaries: distinct rows with counts, or centroids of many rows.
With the counts as weights, a row counts as often as it stands for rows.
"""

import numpy as np
from sklearn.datasets import load_digits

from isosne import TSNE, plots

X, y = load_digits(return_X_y=True)

# %%
# A summary: 500 digits stand for all 1,797, each for those that are nearest to it.

chosen = np.sort(np.random.default_rng(0).choice(len(X), 500, replace=False))
nearest = ((X[:, None] - X[chosen]) ** 2).sum(axis=2).argmin(axis=1)
counts = np.bincount(nearest)
print(f"weights from {counts.min()} to {counts.max()}, {counts.sum():,} in all")

# %%
# The map of the summary without weights, and with them.

model = TSNE(random_state=0).fit(X[chosen], sample_weight=counts)
maps = {
    "no weights": TSNE(random_state=0).fit_transform(X[chosen]),
    "weights": model.embedding_,
}
plots.plot_maps(maps, color=y[chosen])[0].figure

# %%
# All digits, placed on the map of the summary.

plots.plot_map(model.transform(X), y, title="All digits on this map").figure
