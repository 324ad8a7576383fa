"""Figure of Appendix C: AUC_RNX of five clusters as their dimension grows."""

import math
from typing import Any

from benchmarks.paper.artifacts import format_table, write_json, write_markdown
from benchmarks.paper.evaluation import METHODS, measure_points
from benchmarks.paper.grids import grid_values
from benchmarks.paper.settings import SEED, Settings
from isosne.datasets import make_five_clusters
from isosne.plots import plot_lines, save_figure

TITLE = "AUC_RNX of the five clusters as their dimension grows (Appendix C)"
DIMENSIONS, QUICK_DIMENSIONS = (10, 30, 100, 300, 1000), (10, 100)
"""Dimensions per cluster; chosen."""
TRIED = tuple(method for method in METHODS if method.name in ("gaussian", "isolation", "scales"))


def reproduce(settings: Settings) -> None:
    """Write the best AUC_RNX of each method for each dimension."""
    dimensions = QUICK_DIMENSIONS if settings.quick else DIMENSIONS
    grid = settings.grid or ("least" if settings.quick else "thin")
    rows: list[dict[str, Any]] = []
    for dimension in dimensions:
        X, y = make_five_clusters(dimension=dimension, random_state=SEED)
        row: dict[str, Any] = {"dimension": dimension}
        for method in TRIED:
            values = grid_values(grid, len(X))
            found = measure_points(
                f"growth-{dimension}-{method.name}", X, y, method, values, settings
            )
            if found is not None:
                row[method.title] = found.best["auc_rnx"]
        rows.append(row)
    titles = [method.title for method in TRIED]
    powers = [math.log10(dimension) for dimension in dimensions]
    lines = {title: (powers, [row[title] for row in rows]) for title in titles}
    axes = plot_lines(lines, x_label="log10 of the dimensions per cluster", y_label="AUC_RNX")
    save_figure(axes, settings.out / "growth.png")
    cells = [[row["dimension"], *(f"{row[title]:.3f}" for title in titles)] for row in rows]
    parts = [
        (
            f"Best AUC_RNX over all k, on the {grid} grid; 250 points per cluster, unscaled. The "
            "paper prints no values, only that AUC_RNX falls with the dimension for both kernels."
        ),
        format_table(["dimensions per cluster", *titles], cells),
        "![AUC_RNX](growth.png)",
    ]
    write_markdown(settings, "growth", TITLE, parts)
    write_json(settings, "growth", rows)
