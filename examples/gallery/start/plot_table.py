"""
A table with columns in different units
=======================================

t-SNE compares rows by their distances. If the columns of a table have different
units, the column with the largest numbers decides which rows are near. Scale the
columns first.

The wine data have 13 measurements of 178 wines. Proline has values up to 1,680,
the hue at most 1.7.
"""

import warnings

from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from isosne import TSNE, plots, quality
from isosne.errors import ColumnsWarning

wine = load_wine(as_frame=True)
table = wine.data
table.describe().loc[["min", "max"]].T.round(2)

# %%
# ``fit`` warns of such a column: "Column 'proline' dominates the distances". Here
# it is mapped all the same, to see what happens. The 10-NN accuracy is the share of
# wines whose cultivar is predicted by their 10 nearest neighbors in the map.

warnings.simplefilter("ignore", ColumnsWarning)
scaled = minmax_scale(table)
maps = {
    "columns as they are": TSNE(random_state=0).fit_transform(table),
    "columns scaled to 0..1": TSNE(random_state=0).fit_transform(scaled),
}
titles = {
    f"{name}\n10-NN accuracy {quality.knn_accuracy(Y, wine.target):.2f}": Y
    for name, Y in maps.items()
}
axes = plots.plot_maps(titles, wine.target, names=wine.target_names)
axes[0].figure

# %%
# On the command line, ``--scale minmax`` does the same::
#
#     isosne datasets export wine
#     isosne embed wine.csv --id id --label target --scale minmax -o map.parquet
