"""
One scale and several scales
============================

The cell size of the owner kernel is the mean number of points per cell. It sets
the size of the neighborhoods that the map preserves, like the perplexity of a
Gaussian kernel. The default combines several cell sizes, here nine.
"""

from sklearn.datasets import load_digits

from isosne import TSNE, OwnerKernel, plots, quality

X, y = load_digits(return_X_y=True)
X, y = X[:1000], y[:1000]
sizes = {
    "2 points": 2,
    "10 points": 10,
    "60 points": 60,
    "2 and 60 points": (2, 60),
    "auto": "auto",
}
maps = {
    name: TSNE(OwnerKernel(cell_size=size), random_state=0).fit_transform(X)
    for name, size in sizes.items()
}
axes = plots.plot_maps(maps, y, columns=3)
axes[0].figure

# %%
# The curve shows at which scale each map is good. Cells of 2 points preserve the
# nearest neighbors best. Cells of 60 points lose them. Both together, and the
# default, are good at most scales.

curves = {name: quality.compare(X, Y).curve() for name, Y in maps.items()}
plots.plot_rnx(curves).figure
