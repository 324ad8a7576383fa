"""
New points on an existing map
=============================

``transform`` places new points on a finished map. The map does not change, and
each point is placed independently of the others.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from isosne import TSNE, plots

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.25, random_state=0
)
model = TSNE(random_state=0).fit(X_train)
Y_test = model.transform(X_test)

axes = plots.plot_maps(
    {"1,347 fitted digits": model.embedding_, "450 new digits": Y_test},
    {"1,347 fitted digits": y_train, "450 new digits": y_test},
)
axes[0].figure

# %%
# Most new digits are placed among fitted digits of their own class. A classifier
# that sees only the map predicts it:

classifier = KNeighborsClassifier(10).fit(model.embedding_, y_train)
print(f"accuracy {classifier.score(Y_test, y_test):.1%}")

# %%
# A copy of a fitted point gets the coordinates of that point.

print(np.array_equal(model.transform(X_train[:5]), model.embedding_[:5]))
