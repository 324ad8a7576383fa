"""
Several views of the same rows
==============================

Rows are often described twice, in different units: here digits by their pixels and
by the profile of their ink along both axes. A map of both views keeps neighbors of
each, without scaling one to the other. Rows that lack a view are mapped by the
other.
"""

import numpy as np
from sklearn.datasets import load_digits

from isosne import TSNE, plots
from isosne.quality import compare

X, y = load_digits(return_X_y=True)
images = X.reshape(-1, 8, 8)
profiles = np.concatenate([images.sum(axis=1), images.sum(axis=2)], axis=1)
views = {"pixels": X, "profiles": profiles.copy()}
views["profiles"][::3] = np.nan  # a third of the rows have no profiles

# %%
# One map of each view, and one of both.

single = {"pixels": X, "profiles": profiles}
maps = {name: TSNE(random_state=0).fit_transform(single[name]) for name in single}
model = TSNE(random_state=0).fit(views)
maps["both views"] = model.embedding_
plots.plot_maps(maps, y, columns=3)[0].figure

# %%
# The share of the 10 nearest neighbors that each map keeps, by view.

for name, Y in maps.items():
    kept = [
        compare(view, Y, k=10).trust().agreement.mean() for view in single.values()
    ]
    print(f"{name:12s} pixels {kept[0]:.2f}   profiles {kept[1]:.2f}")
