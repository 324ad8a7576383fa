"""
One point per group of rows
===========================

Sometimes a point of the map should be a patient, a document or a set of images: a
group of rows. Here each group is a pile of 20 to 60 handwritten digits, drawn from
one of six mixtures of the ten digits. Groups are compared by the distributions of
their rows.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline

from isosne import TSNE, GroupFeatures, plots
from isosne.quality import knn_accuracy

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
mixtures = rng.dirichlet(np.full(10, 0.5), 6)


def draw(n_groups):
    """Return piles of digits, and the mixture of each."""
    kinds = rng.integers(0, 6, n_groups)
    chances = [mixtures[kind][y] / np.bincount(y)[y] for kind in kinds]
    sizes = rng.integers(20, 61, n_groups)
    piles = zip(chances, sizes, strict=True)
    return [X[rng.choice(len(X), n, p=p / p.sum())] for p, n in piles], kinds


groups, kinds = draw(300)

# %%
# A map of the means of the groups, and one of the groups.

model = make_pipeline(GroupFeatures(random_state=0), TSNE(random_state=0))
means = np.array([group.mean(axis=0) for group in groups])
maps = {
    "means of the groups": TSNE(random_state=0).fit_transform(means),
    "groups": model.fit_transform(groups),
}
labels = [f"mixture {kind + 1}" for kind in kinds]
plots.plot_maps(maps, labels, columns=2)[0].figure

# %%
# How often the 10 nearest groups on the map have the same mixture.

for name, Y in maps.items():
    print(f"{name:20s} {knn_accuracy(Y, kinds):.2f}")

# %%
# New groups are placed on the map.

new, new_kinds = draw(5)
places = model.transform(new)
distances = np.linalg.norm(places[:, None] - maps["groups"], axis=2)
print("mixture of the new groups ", new_kinds + 1)
print("of the nearest group      ", kinds[distances.argmin(axis=1)] + 1)
