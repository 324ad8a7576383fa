"""
Tables with text and missing values
===================================

A data frame with numbers, categories and missing values can be mapped as it is,
without imputing and without one-hot encoding. Rows are compared by isolation
trees, which need no distance.

The table has measurements of 344 penguins of three species (K. B. Gorman and
others, 2014; package palmerpenguins).
"""

import numpy as np
import pandas as pd
from palmerpenguins import load_penguins
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import minmax_scale

from isosne import TSNE, plots
from isosne.quality import knn_accuracy

penguins = load_penguins()
species = penguins.pop("species")  # the label, which the maps do not see
penguins.head()

# %%
# The plan says how many columns of each kind there are. ``table_`` lists them.

model = TSNE(random_state=0).fit(penguins)
print(model.plan_)
for column in model.table_.columns_:
    print(column)

# %%
# For comparison, the usual preparation: medians and modes replace missing values,
# numbers are scaled to the range 0 to 1, and categories become columns of 0 and 1.


def encode(table):
    """Return a table as numbers."""
    numbers = table.select_dtypes("number")
    text = table.select_dtypes(exclude="number")
    numbers = SimpleImputer(strategy="median").fit_transform(numbers)
    text = SimpleImputer(strategy="most_frequent").fit_transform(text)
    return np.hstack([minmax_scale(numbers), pd.get_dummies(pd.DataFrame(text))])


# %%
# Both are repeated with a third of the cells removed. The number in the title is
# the accuracy of the 10 nearest neighbors on the map in predicting the species.

is_removed = np.random.default_rng(0).random(penguins.shape) < 1 / 3
maps = {}
for state, table in (
    ("complete", penguins),
    ("a third removed", penguins.mask(is_removed)),
):
    encoded = encode(table).astype(float)
    for name, Y in (
        ("isosne", TSNE(random_state=0).fit_transform(table)),
        ("one-hot", TSNE("gaussian", random_state=0).fit_transform(encoded)),
    ):
        maps[f"{name}, {state}: {knn_accuracy(Y, species):.2f}"] = Y
plots.plot_maps(maps, species, columns=2)[0].figure

# %%
# The complete table is easy for both, although one-hot encoding splits it by island
# and sex. With a third of the cells removed, imputed values pull penguins of
# different species together; the trees keep most of them apart.
