"""
Which parts of a map can be trusted
===================================

A map in two dimensions cannot preserve all neighborhoods. Trust is measured for
each point: the share of its 10 nearest neighbors in the data that are also among
its 10 nearest neighbors in the map.
"""

import numpy as np
from sklearn.datasets import load_digits

from isosne import TSNE, plots, quality

X, y = load_digits(return_X_y=True)
model = TSNE(random_state=0).fit(X)
trust = quality.compare(X, model.embedding_, k=10).trust()
plots.plot_map(model.embedding_, trust).figure

# %%
# Some classes are mapped better than others.

for digit in np.argsort(
    [trust.agreement[y == digit].mean() for digit in range(10)]
):
    own = y == digit
    print(
        f"{digit}: {trust.agreement[own].mean():.0%} preserved, "
        f"false neighbors {trust.false_neighbors[own].mean():.4f}, "
        f"missing neighbors {trust.missing_neighbors[own].mean():.4f}"
    )

# %%
# The digits with the lowest trust are the ones to look at before drawing
# conclusions.

lowest = np.argsort(trust.agreement)[:16]
plots.plot_map(
    model.embedding_, y, mark=lowest, title="The 16 points with the lowest trust"
).figure

# %%
from matplotlib.figure import Figure

figure = Figure(figsize=(8, 2.4), layout="constrained")
for ax, i in zip(figure.subplots(2, 8).flat, lowest, strict=True):
    ax.imshow(X[i].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{y[i]}", fontsize=8)
    ax.axis("off")
figure
