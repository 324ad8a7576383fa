"""
Pipelines and grid search
=========================

:class:`~isosne.TSNE` is a scikit-learn transformer: it works in pipelines and with
``GridSearchCV``, and returns data frames with ``set_output``.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isosne import TSNE, OwnerKernel, plots

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
pipeline = make_pipeline(StandardScaler(), PCA(10), TSNE(random_state=0))
Y = pipeline.set_output(transform="pandas").fit_transform(X)
Y.head()

# %%
plots.plot_map(Y, y, names=["malignant", "benign"]).figure

# %%
# Parameters of the kernel are named ``kernel__...``. Here, a classifier that sees
# only the map chooses the cell size by cross-validation: ``transform`` places the
# rows that were left out.

search = GridSearchCV(
    make_pipeline(
        StandardScaler(),
        PCA(10),
        TSNE(OwnerKernel(), random_state=0),
        KNeighborsClassifier(10),
    ),
    {"tsne__kernel__cell_size": [3, 10, 30, "auto"]},
    cv=3,
).fit(X, y)
for parameters, score in zip(
    search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
):
    print(f"{parameters}   accuracy {score:.3f}")

# %%
# To choose a scale without labels, use :func:`isosne.studies.sweep`.
