"""
Other objectives, and one of your own
=====================================

The objective measures how much the probabilities P of the data and Q of the map
differ. t-SNE uses the Kullback-Leibler divergence, ``KL``. ``NeRV`` and ``JSE``
also punish false neighbors: points that are close in the map and not in the data.
An objective of your own is any object with ``value(P, Q)`` and ``derivative(P,
Q)``.
"""

import numpy as np
from sklearn.datasets import load_digits

from isosne import JSE, KL, TSNE, NeRV, plots, quality

X, y = load_digits(return_X_y=True)
X, y = X[:300], y[:300]


class SquaredHellinger:
    """Half the sum of (sqrt(P) - sqrt(Q)) ** 2."""

    def value(self, P, Q):
        return 0.5 * ((np.sqrt(P) - np.sqrt(Q)) ** 2).sum()

    def derivative(self, P, Q):
        root = np.sqrt(Q, out=np.ones_like(Q), where=Q > 0)
        return 0.5 * (1 - np.sqrt(P) / root)


# %%
# Objectives other than KL compare all pairs: ``affinities="dense"`` is chosen
# automatically.

objectives = {
    "KL": KL(),
    "KL, 0.5 degrees of freedom": KL(dof=0.5),
    "NeRV": NeRV(trade_off=0.8),
    "JSE": JSE(mixture=0.5),
    "squared Hellinger distance": SquaredHellinger(),
}
maps = {}
for name, objective in objectives.items():
    Y = TSNE("gaussian", objective=objective, random_state=0).fit_transform(X)
    found = quality.report(X, Y)
    maps[
        f"{name}\ntrustworthiness {float(found.trustworthiness):.3f},"
        f" continuity {float(found.continuity):.3f}"
    ] = Y
axes = plots.plot_maps(maps, y, columns=3)
axes[0].figure
