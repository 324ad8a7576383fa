"""
Maps of data that grow
======================

When new rows arrive, a map that is made from scratch looks different. ``align_to``
keeps rows near their places on the previous map, and ``extend`` adds rows to a
fitted map.
"""

from itertools import pairwise

import numpy as np
from sklearn.datasets import load_digits

from isosne import TSNE, Alignment, plots

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
X, y = X[order], y[order]
days = [600, 1200, 1797]  # rows known after each of three days

separate = [TSNE(random_state=0).fit(X[:n]).embedding_ for n in days]

aligned = [TSNE(random_state=0).fit(X[: days[0]])]
for before, n in pairwise(days):
    places = Alignment(aligned[-1], ids=range(n), previous_ids=range(before))
    aligned.append(TSNE(align_to=places, random_state=0).fit(X[:n]))

maps = {f"day {d}, separate": Y for d, Y in enumerate(separate, start=1)}
maps |= {
    f"day {d}, aligned": model.embedding_
    for d, model in enumerate(aligned, start=1)
}
colors = {title: y[: len(Y)] for title, Y in maps.items()}
plots.plot_maps(maps, colors, columns=3)[0].figure

# %%
# ``displacement_`` is the distance of each row from its previous place, relative to
# the radius of the map.

for d, model in enumerate(aligned[1:], start=2):
    print(f"day {d}: rows moved by {np.mean(model.displacement_):.3f} radii")

# %%
# ``extend`` adds rows to a fitted model. New rows that are unlike all fitted rows
# are listed in ``far_``.

model = TSNE(random_state=0).fit(X[:1500])
model.extend(X[1500:])
print(len(model.embedding_), "rows,", len(model.far_), "of the new ones are far")
plots.plot_map(model.embedding_, y).figure
