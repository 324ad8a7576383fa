"""The figure of Appendix C: AUC_RNX of five clusters as their dimension grows."""

import math
from typing import Any

from isosne.datasets import make_growing_clusters
from isosne.paper.grids import grid_values
from isosne.paper.outputs import table, write_page, write_values
from isosne.paper.settings import SEED, Settings
from isosne.paper.sweeps import WAYS, measure_points
from isosne.plots import plot_lines, save_figure

TITLE = "AUC_RNX of the five clusters as their dimension grows (Appendix C)"
DIMENSIONS, QUICK_DIMENSIONS = (10, 30, 100, 300, 1000), (10, 100)
TRIED = tuple(way for way in WAYS if way.name in ("gaussian", "isolation", "scales"))


def reproduce(settings: Settings) -> None:
    """Write the best AUC_RNX of each kernel for each dimension."""
    dimensions = QUICK_DIMENSIONS if settings.quick else DIMENSIONS
    grid = settings.grid or ("least" if settings.quick else "thin")
    rows: list[dict[str, Any]] = []
    for dimension in dimensions:
        X, y = make_growing_clusters(dimension, random_state=SEED)
        row: dict[str, Any] = {"dimension": dimension}
        for way in TRIED:
            values = grid_values(grid, len(X))
            found = measure_points(f"growth-{dimension}-{way.name}", X, y, way, values, settings)
            if found is not None:
                row[way.title] = found.best["auc_rnx"]
        rows.append(row)
    titles = [way.title for way in TRIED]
    powers = [math.log10(dimension) for dimension in dimensions]
    lines = {title: (powers, [row[title] for row in rows]) for title in titles}
    axes = plot_lines(lines, x_label="dimensions of a cluster, powers of 10", y_label="AUC_RNX")
    save_figure(axes, settings.out / "growth.png")
    cells = [[row["dimension"], *(f"{row[title]:.3f}" for title in titles)] for row in rows]
    parts = [
        (
            f"Best AUC_RNX over all k, on the {grid} grid; 250 points a cluster, mapped unscaled. "
            "The paper prints no figures, only that both kernels fall as the dimension grows."
        ),
        table(["dimensions of a cluster", *titles], cells),
        "![AUC_RNX](growth.png)",
    ]
    write_page(settings, "growth", TITLE, parts)
    write_values(settings, "growth", rows)
