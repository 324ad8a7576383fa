"""
Is it structure or noise?
=========================

A map of random numbers can look as if it had clusters, above all if the
neighborhoods are small. Two checks help: compute the map again with another seed,
and compare the data with shuffled data.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from isosne import TSNE, OwnerKernel, plots, quality

rng = np.random.default_rng(0)
noise = rng.normal(size=(400, 20))
maps = {
    "noise, cells of 2 points": TSNE(
        OwnerKernel(cell_size=2), random_state=0
    ).fit_transform(noise),
    "noise, default": TSNE(random_state=0).fit_transform(noise),
    "noise, default, another seed": TSNE(random_state=1).fit_transform(noise),
}
axes = plots.plot_maps(maps)
axes[0].figure

# %%
# Shuffling each column separately removes the structure and keeps the distribution
# of each column. Neighborhoods of the wine data are preserved much better than
# those of the shuffled data: the data have structure that fits into two dimensions.

X, y = load_wine(return_X_y=True)
X = minmax_scale(X)
shuffled = rng.permuted(X, axis=0)
wine = {
    "wine": TSNE(random_state=0).fit_transform(X),
    "wine, columns shuffled": TSNE(random_state=0).fit_transform(shuffled),
}
axes = plots.plot_maps(wine, y)
axes[0].figure

# %%
print(
    f"wine             AUC_RNX {quality.compare(X, wine['wine']).auc().value:.3f}"
)
print(
    "columns shuffled AUC_RNX"
    f" {quality.compare(shuffled, wine['wine, columns shuffled']).auc().value:.3f}"
)
