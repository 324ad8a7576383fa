"""Make the pictures of docs/structure.md: python docs/structure_pictures.py."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import minmax_scale

from isosne import TSNE, IsolationOutliers, LeidenClustering
from isosne.plots import plot_map
from isosne.structure import null_test

DOCS = Path(__file__).parent
SIDE, DPI = 3.6, 150


def main() -> None:
    """Write both pictures."""
    X = load_digits().data
    model = TSNE(random_state=0).fit(X)
    scores = IsolationOutliers(random_state=0).fit(X).score_samples(X)
    figure, axes = plt.subplots(1, 2, figsize=(2.4 * SIDE, SIDE), layout="constrained")
    clusters = LeidenClustering(random_state=0).fit(model)
    plot_map(model.embedding_, clusters.labels_, kind="labels", title="cluster", ax=axes[0])
    plot_map(model.embedding_, 1 - scores / scores.max(), title="outlier score", ax=axes[1])
    figure.savefig(DOCS / "structure.png", dpi=DPI)

    blob = np.random.default_rng(0).normal(size=(500, 10))
    data = {"digits": X, "breast cancer": minmax_scale(load_breast_cancer().data), "Gaussian": blob}
    figure, axes = plt.subplots(1, 3, figsize=(3.1 * SIDE, SIDE), layout="constrained")
    for ax, (name, points) in zip(axes, data.items(), strict=True):
        test = null_test(points, n_rows=500)
        x, y = TSNE(random_state=0).fit_transform(points).T
        # One color scale for all maps, which plot_map does not have.
        drawn = ax.scatter(x, y, s=4, c=test.point_p_values, vmin=0, vmax=1)
        ax.set(title=f"{name}, p = {test.p_value:.2g}", xticks=[], yticks=[])
        ax.set_aspect("equal", adjustable="datalim")
    figure.colorbar(drawn, ax=axes, label="p-value of the point", shrink=0.9)
    figure.savefig(DOCS / "null.png", dpi=DPI)


if __name__ == "__main__":
    main()
