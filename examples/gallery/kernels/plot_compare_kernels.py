"""
Five kernels on the same data
=============================

The kernel decides how similar two points are. All five kernels of isosne map the
handwritten digits, each with its default settings.

R_NX(10) is the share of the 10 nearest neighbors that a map preserves, corrected
for chance. AUC_RNX combines neighborhoods of all sizes. For both, higher is
better.
"""

from sklearn.datasets import load_digits

from isosne import TSNE, plots, quality

X, y = load_digits(return_X_y=True)
X, y = X[:1000], y[:1000]
maps = {}
for kernel in ["owner", "isolation", "gaussian", "adaptive", "knn"]:
    Y = TSNE(kernel, random_state=0).fit_transform(X)
    found = quality.compare(X, Y)
    near, area = found.curve().r[9], float(found.auc())
    maps[f"{kernel}\nR_NX(10) {near:.3f}, AUC_RNX {area:.3f}"] = Y

axes = plots.plot_maps(maps, y, columns=3)
axes[0].figure

# %%
# On these data, the maps of the first three kernels look alike. Kernels differ more
# where clusters have very different densities: see :doc:`plot_five_clusters`.
