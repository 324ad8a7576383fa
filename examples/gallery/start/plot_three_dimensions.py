"""
Maps in three dimensions and in one
===================================

``n_components`` sets the number of dimensions of the map. More dimensions preserve
more neighbors, and are harder to read.
"""

from sklearn.datasets import load_digits

from isosne import TSNE, plots, quality

X, y = load_digits(return_X_y=True)
maps = {n: TSNE(n_components=n, random_state=0).fit_transform(X) for n in (1, 2, 3)}
for n, Y in maps.items():
    print(f"{n} dimensions: AUC_RNX {quality.compare(X, Y).auc().value:.3f}")

# %%
plots.plot_map(maps[3], y).figure

# %%
# A map in one dimension is drawn with one lane per class.

plots.plot_map(maps[1], y).figure
