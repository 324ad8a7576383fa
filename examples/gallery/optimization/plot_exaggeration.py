"""
Compact clusters: exaggeration
==============================

Exaggeration multiplies the attractive forces. Kept until the end, it gives compact
clusters, similar to those of UMAP. It costs preserved neighbors.
"""

from sklearn.datasets import load_digits

from isosne import TSNE, plots, quality

X, y = load_digits(return_X_y=True)
maps = {}
for exaggeration in [1, 1.5, 3]:
    Y = TSNE(exaggeration=exaggeration, random_state=0).fit_transform(X)
    kept = quality.compare(X, Y, k=10).trust().agreement.mean()
    maps[f"exaggeration {exaggeration}\n{kept:.0%} of neighbors preserved"] = Y
axes = plots.plot_maps(maps, y)
axes[0].figure
