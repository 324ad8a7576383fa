"""
Handwritten digits
==================

A map of 1,797 handwritten digits with the default settings. Each digit is an image
of 8 x 8 pixels, so each point has 64 columns. The labels color the points; the map
does not use them.
"""

from sklearn.datasets import load_digits

from isosne import TSNE, plots, quality

X, y = load_digits(return_X_y=True)
model = TSNE(random_state=0).fit(X)
plots.plot_map(model.embedding_, y, title="1,797 handwritten digits").figure

# %%
# The report measures how well the map preserves neighborhoods, and how well it
# separates the labels. See :doc:`/reading-a-map` for the measures.

quality.report(X, model.embedding_, y)

# %%
# In a notebook, a fitted model shows its map and the plan of its run.

model
