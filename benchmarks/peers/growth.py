"""Time against the number of points, a line per method."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from sklearn.isotonic import isotonic_regression

Row = dict[str, Any]
COLORS = {
    "isosne": "#d7191c",
    "isosne-3": "#e76300",
    "sklearnex": "#2b7bc4",
    "opentsne": "#5b5f6b",
    "umap": "#832db6",
    "pacmap": "#00857c",
    "sklearn": "#9a7d0a",
}
LABEL_GAP = 0.045
"""Least distance between two labels, as a share of the height of the axes."""


def draw_growth(rows: list[Row], source: str, path: Path) -> None:
    """Draw warm seconds against n on logarithmic axes; nothing is drawn for a single size."""
    rows = [row for row in rows if "failed" not in row]
    sizes = sorted({row["n_points"] for row in rows})
    if len(sizes) < 2:
        return
    figure, axis = plt.subplots(figsize=(8.5, 5.5), layout="constrained")
    ends = []
    for key, color in COLORS.items():
        line = [row for row in rows if row["key"] == key]
        if line:
            n, seconds = ([row[name] for row in line] for name in ("n_points", "warm_seconds"))
            width = 2.6 if key == "isosne" else 1.5
            axis.plot(n, seconds, "o-", color=color, linewidth=width, markersize=2 * width)
            ends.append(line[-1])
    set_axes(axis, sizes)
    add_labels(axis, [row for row in ends if row["n_points"] == sizes[-1]])
    for row in ends:
        if row["n_points"] < sizes[-1]:  # above its end: to the right are other lines
            place = row["n_points"], row["warm_seconds"]
            style = {"color": COLORS[row["key"]], "ha": "center", "va": "bottom"}
            axis.annotate(row["method"], place, (0, 6), textcoords="offset points", **style)
    how = f"median of {rows[0]['n_seeds']} runs, {rows[0]['threads']} threads"
    axis.set_title(f"Seconds per map of n points ({how})\n{source}", fontsize=11, loc="left")
    figure.savefig(path, dpi=160)
    plt.close(figure)


def set_axes(axis: Any, sizes: list[int]) -> None:
    """Make both axes logarithmic, with plain numbers at the sizes and at 1, 2, 5, 10, ..."""
    axis.set(xscale="log", yscale="log", xlabel="n", ylabel="seconds")
    axis.set_xticks(sizes, [f"{n:,}" for n in sizes])
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    for ticks in (axis.xaxis, axis.yaxis):
        ticks.set_minor_locator(NullLocator())
    axis.grid(color="#e4e4e4", linewidth=0.8)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)


def add_labels(axis: Any, ends: list[Row]) -> None:
    """Write the names beside the ends of lines, moved up or down until none overlap."""
    ends = sorted(ends, key=lambda row: row["warm_seconds"])
    at_ends = [axis.transData.transform((row["n_points"], row["warm_seconds"])) for row in ends]
    heights = [axis.transAxes.inverted().transform(point)[1] for point in at_ends]
    steps = LABEL_GAP * np.arange(len(ends))
    for row, height in zip(ends, isotonic_regression(heights - steps) + steps, strict=True):
        axis.annotate(
            row["method"],
            (row["n_points"], height),
            (10, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            va="center",
            color=COLORS[row["key"]],
            weight="bold" if row["key"] == "isosne" else "normal",
            annotation_clip=False,
        )
