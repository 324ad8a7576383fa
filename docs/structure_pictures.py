"""Make the pictures of docs/structure.md: python docs/structure_pictures.py."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import minmax_scale

from isosne import TSNE, IsolationOutliers, LeidenClustering
from isosne.plots import plot_map, plot_maps, save_figure
from isosne.plots.figures import add_axes, new_figure
from isosne.structure import null_test

DOCS = Path(__file__).parent
SIDE, DPI = 3.6, 150


def main() -> None:
    """Write both pictures."""
    X = load_digits().data
    model = TSNE(random_state=0).fit(X)
    scores = IsolationOutliers(random_state=0).fit(X).score_samples(X)
    figure = new_figure(2.3 * SIDE, SIDE)
    axes = [add_axes(figure, 2, 1, 2, i) for i in (1, 2)]
    clusters = [f"{c + 1}" for c in LeidenClustering(random_state=0).fit(model).labels_]
    plot_map(model.embedding_, clusters, annotate=True, title="cluster", ax=axes[0])
    plot_map(model.embedding_, 1 - scores / scores.max(), title="outlier score", ax=axes[1])
    save_figure(figure, DOCS / "structure.png", dpi=DPI)

    blob = np.random.default_rng(0).normal(size=(500, 10))
    data = {"digits": X, "breast cancer": minmax_scale(load_breast_cancer().data), "Gaussian": blob}
    maps, p_values = {}, {}
    for name, points in data.items():
        test = null_test(points, n_rows=500)
        title = f"{name}, p = {test.p_value:.2g}"
        maps[title] = TSNE(random_state=0).fit_transform(points)
        p_values[title] = pd.Series(test.point_p_values, name="p-value of the point")
    save_figure(plot_maps(maps, p_values, kind="values"), DOCS / "null.png", dpi=DPI)


if __name__ == "__main__":
    main()
