"""
Handwritten digits
==================

A map of 1,797 handwritten digits with the default settings. Each digit is an image of 8 x 8 pixels, so each row has 64
columns.
"""

from sklearn.datasets import load_digits

from isosne import TSNE, plots, quality

X, y = load_digits(return_X_y=True)
model = TSNE(random_state=0).fit(X)
plots.plot_map(model.embedding_, y, title="1,797 handwritten digits").figure

# %%
# How well does the map preserve neighborhoods?

quality.report(X, model.embedding_, y)

# %%
# The fitted model:

model
