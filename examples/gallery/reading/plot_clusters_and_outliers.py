"""
Clusters, outliers, and whether structure is real
=================================================

Clusters are found in the joint probabilities that the map is made from, not in the
coordinates of the map. Outliers come from the same family of kernels. A test
compares the data with random data that have the same columns and correlations.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from isosne import TSNE, IsolationOutliers, LeidenClustering, plots
from isosne.structure import null_test

X, y = load_digits(return_X_y=True)
model = TSNE(random_state=0).fit(X)
clusters = LeidenClustering(random_state=0).fit(model)
print(f"{clusters.n_clusters_} clusters, stability {clusters.stability_:.2f}")
print(f"agreement with the digits: {adjusted_rand_score(y, clusters.labels_):.2f}")
plots.plot_map(model.embedding_, clusters.labels_, kind="labels").figure

# %%
# The most unusual digits, marked on the map.

scores = IsolationOutliers(random_state=0).fit(X).score_samples(X)
unusual = np.argsort(scores)[:12]
plots.plot_map(model.embedding_, y, mark=unusual, annotate=True).figure

# %%
# Would random data look as clustered? With 19 draws, the smallest possible p-value
# is 0.05.

print(null_test(X[:500], n_draws=19, random_state=0))
noise = np.random.default_rng(0).normal(size=(500, 20))
print(null_test(noise, n_draws=19, random_state=0))
