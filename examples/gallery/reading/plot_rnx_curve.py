"""
Quality at every scale: the R_NX curve
======================================

R_NX(k) is the share of the k nearest neighbors that a map preserves, corrected for
chance: 1 is perfect, and 0 is what a random map achieves. The curve shows it for
every k. AUC_RNX is the area under the curve with a logarithmic axis, so that small
neighborhoods count most.
"""

from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from isosne import TSNE, GaussianKernel, plots, quality

X, y = load_digits(return_X_y=True)
maps = {
    "isosne": TSNE(random_state=0).fit_transform(X),
    "Gaussian kernel": TSNE(
        GaussianKernel(30), schedule="standard", affinities="sparse", random_state=0
    ).fit_transform(X),
    "principal components": PCA(2).fit_transform(X),
}
curves = {name: quality.compare(X, Y).curve() for name, Y in maps.items()}
plots.plot_rnx(curves).figure

# %%
# t-SNE is far better for small neighborhoods. Principal components are better for
# the very largest: they preserve large distances.

axes = plots.plot_maps(maps, y)
axes[0].figure
