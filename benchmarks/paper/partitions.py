"""Figures of the isolation kernel: cells of data with two densities, contours (App. B)."""

from typing import Any

import numpy as np

from benchmarks.paper.artifacts import format_table, write_json, write_markdown
from benchmarks.paper.data import load
from benchmarks.paper.evaluation import scale_points
from benchmarks.paper.settings import SEED, Settings
from isosne import IsolationKernel
from isosne._types import Array
from isosne.errors import DataError
from isosne.plots import plot_cells, plot_contours, save_figure

CELLS_TITLE = "Cells for two densities: the left half is sparse, the right half dense"
CONTOURS_TITLE = "Similarity to the point (0.5, 0.5) (Appendix B)"
CENTER = np.array([[0.5, 0.5]])  # the paper's reference point
RADII = (0.05, 0.1, 0.2)
"""Circles on which the similarity is averaged; chosen."""
N_DIRECTIONS = 72
"""Points per circle: every 5 degrees, a multiple of 8 for axes and diagonals."""
PARKINSON_COLUMNS = [11, 20]
"""The 12th and the 21st attribute, as in the paper's figure."""


def reproduce_cells(settings: Settings) -> None:
    """Write one partitioning for psi 16 and 64, and the mean number of cells in each half."""
    X = two_densities()
    rows = []
    for psi in (16, 64):
        kernel = IsolationKernel(psi, n_partitions=200, random_state=SEED).fit(X)
        axes = plot_cells(kernel, partition=0)
        save_figure(axes, settings.out / f"cells-{psi}.png")
        dense = X[kernel.partitions_[0].samples, 0] > 0.5
        rows.append(
            {
                "psi": psi,
                "sparse half": (~dense).sum(axis=1).mean(),
                "dense half": dense.sum(axis=1).mean(),
            }
        )
    lines = [[row["psi"], f"{row['sparse half']:.1f}", f"{row['dense half']:.1f}"] for row in rows]
    parts = [
        (
            "Mean number of cells with their center in each half, over 200 partitionings. The "
            "dense half has four times as many points."
        ),
        format_table(["psi", "sparse half", "dense half"], lines),
        "\n".join(f"![psi {psi}](cells-{psi}.png)" for psi in (16, 64)),
    ]
    write_markdown(settings, "cells", CELLS_TITLE, parts)
    write_json(settings, "cells", rows)


def reproduce_contours(settings: Settings) -> None:
    """Write contours for uniform data and for Parkinson, and numbers for their shape."""
    rng = np.random.default_rng(SEED)
    uniform = rng.random((1000, 2))
    cases: dict[str, tuple[Array, str, tuple[int, ...]]] = {
        "uniform": (uniform, "voronoi", (16, 64, 128)),
        "uniform-forest": (uniform, "forest", (16, 64, 128)),
        "uniform-spheres": (uniform, "spheres", (16, 64, 128)),
    }
    notes = (
        "Cells are Voronoi cells; those of *forest* are axis-parallel. Those of *spheres*, which "
        "are not in the paper, end at the nearest other sampled point."
    )
    try:
        parkinson = scale_points(load("parkinson", folder=settings.data).X)[:, PARKINSON_COLUMNS]
        cases["parkinson"] = (parkinson, "voronoi", (16, 64, 128))
    except DataError as error:
        notes += f" Parkinson is not available. {error}"
    rows: list[dict[str, Any]] = []
    pictures = []
    for name, (X, partition, psis) in cases.items():
        for psi in psis:
            kernel = IsolationKernel(
                psi, n_partitions=400, partition=partition, random_state=SEED
            ).fit(X)
            file = f"contours-{name}-{psi}.png"
            axes = plot_contours(kernel, CENTER[0], resolution=100 if settings.quick else 200)
            save_figure(axes, settings.out / file)
            pictures.append(f"![{name}, psi {psi}]({file})")
            rows.append({"points": name, "psi": psi, **measure_rings(kernel)})
            settings.report(f"contours: {name} {psi}")
    header = list(rows[0])
    lines = [
        [f"{value:.3f}" if isinstance(value, float) else value for value in row.values()]
        for row in rows
    ]
    explanation = (
        "Mean similarity on circles around the point. For the second circle also the ratio of the "
        "smallest to the largest similarity, which is near 1 for round contours, and the ratio of "
        "diagonals to axes, which is below 1 for a diamond. The paper: round contours for uniform "
        "data, sharper for larger psi, and a diamond for axis-parallel cells. "
        f"{notes}"
    )
    write_markdown(
        settings,
        "contours",
        CONTOURS_TITLE,
        [explanation, format_table(header, lines), "\n".join(pictures)],
    )
    write_json(settings, "contours", rows)


def two_densities(n: int = 1000) -> Array:
    """Return points in the unit square, four times as many in the right half as in the left."""
    rng = np.random.default_rng(SEED)
    X = rng.random((n, 2))
    X[:, 0] = np.where(np.arange(n) < n // 5, X[:, 0] / 2, 0.5 + X[:, 0] / 2)
    return X


def measure_rings(kernel: IsolationKernel) -> dict[str, float]:
    """Compute the mean similarity to the center on circles, and its shape on the second one."""
    angles = 2 * np.pi * np.arange(N_DIRECTIONS) / N_DIRECTIONS
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    found = {r: kernel.similarity(CENTER, CENTER + r * directions)[0] for r in RADII}
    numbers = {f"at {r}": float(values.mean()) for r, values in found.items()}
    ring = found[RADII[1]].reshape(8, -1)[:, 0]  # every 45 degrees
    numbers["smallest / largest"] = float(found[RADII[1]].min() / found[RADII[1]].max())
    numbers["diagonals / axes"] = float(ring[1::2].sum() / ring[::2].sum())
    return numbers
