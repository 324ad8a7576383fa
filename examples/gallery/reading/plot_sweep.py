"""
Choose a scale by measuring
===========================

:func:`~isosne.studies.sweep` computes one map for each value of a parameter, with
all measures. AUC_RNX needs no labels, so it can be used to choose a value.
"""

from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from isosne import TSNE, plots, quality
from isosne.studies import sweep

X, y = load_wine(return_X_y=True)
X = minmax_scale(X)
found = sweep(
    X,
    "owner",
    [2, 4, 8, 16, 32],
    labels=y,
    estimator=TSNE(random_state=0),
    n_jobs=1,
)
found

# %%
sizes = [row["cell_size"] for row in found.rows]
areas = [row["auc_rnx"] for row in found.rows]
default = float(
    quality.compare(X, TSNE(random_state=0).fit_transform(X)).auc().value
)
ax = plots.plot_lines(
    {
        "one cell size": (sizes, areas),
        "default (several)": (sizes, [default] * len(sizes)),
    },
    x_label="cell size",
    y_label="AUC_RNX",
)
ax.figure

# %%
# With ``results="sweep.jsonl"``, finished maps are kept in a file, and an
# interrupted sweep resumes.
