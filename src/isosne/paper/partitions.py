"""Pictures of the kernel itself: cells of two densities, and contours around a point (App. B)."""

from typing import Any

import numpy as np

from isosne import IsolationKernel
from isosne._types import Array
from isosne.datasets import load
from isosne.errors import DataError
from isosne.paper.outputs import table, write_page, write_values
from isosne.paper.settings import SEED, Settings
from isosne.paper.sweeps import scale_points
from isosne.plots import plot_cells, plot_contours, save_figure

CELLS_TITLE = "Cells of two densities: the left half is sparse, the right half dense"
CONTOURS_TITLE = "Similarity to the point (0.5, 0.5) (Appendix B)"
CENTER = np.array([[0.5, 0.5]])
RADII = (0.05, 0.1, 0.2)
N_DIRECTIONS = 72


def reproduce_cells(settings: Settings) -> None:
    """Write one partitioning for psi 16 and 64, and how many cells each half has."""
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
            "Cells that begin in each half, on average over 200 partitionings; the dense half has "
            "four times as many points."
        ),
        table(["psi", "sparse half", "dense half"], lines),
        "\n".join(f"![psi {psi}](cells-{psi}.png)" for psi in (16, 64)),
    ]
    write_page(settings, "cells", CELLS_TITLE, parts)
    write_values(settings, "cells", rows)


def reproduce_contours(settings: Settings) -> None:
    """Write contours for uniform and for Parkinson's points, and how round they are."""
    rng = np.random.default_rng(SEED)
    uniform = rng.random((1000, 2))
    cases: dict[str, tuple[Array, str, tuple[int, ...]]] = {
        "uniform": (uniform, "voronoi", (16, 64, 128)),
        "uniform-forest": (uniform, "forest", (16, 64, 128)),
    }
    notes = "Cells are those of nearest sampled points; *forest* has axis-parallel ones."
    try:
        parkinson = scale_points(load("parkinson", folder=settings.data).X)[:, [11, 20]]
        cases["parkinson"] = (parkinson, "voronoi", (16, 64, 128))
    except DataError as error:
        notes += f" Parkinson is not at hand. {error}"
    rows: list[dict[str, Any]] = []
    pictures = []
    for name, (X, partition, psis) in cases.items():
        for psi in psis:
            kernel = IsolationKernel(
                psi, n_partitions=400, partition=partition, random_state=SEED
            ).fit(X)
            file = f"contours-{name}-{psi}.png"
            save_figure(plot_contours(kernel, CENTER[0]), settings.out / file)
            pictures.append(f"![{name}, psi {psi}]({file})")
            rows.append({"points": name, "psi": psi, **ring_numbers(kernel)})
            settings.say(f"contours: {name} {psi}")
    header = list(rows[0])
    lines = [
        [f"{value:.3f}" if isinstance(value, float) else value for value in row.values()]
        for row in rows
    ]
    explanation = (
        "Mean similarity on circles around the point; on the second circle, the smallest relative "
        "to the largest, near 1 where contours are round, and diagonals relative to axes, below 1 "
        "for a diamond. The paper: round for uniform points, sharper for larger psi, a diamond "
        f"with axis-parallel cells. {notes}"
    )
    write_page(
        settings,
        "contours",
        CONTOURS_TITLE,
        [explanation, table(header, lines), "\n".join(pictures)],
    )
    write_values(settings, "contours", rows)


def two_densities(n: int = 1000) -> Array:
    """Return points of the unit square, four times as many on the right as on the left."""
    rng = np.random.default_rng(SEED)
    X = rng.random((n, 2))
    X[:, 0] = np.where(np.arange(n) < n // 5, X[:, 0] / 2, 0.5 + X[:, 0] / 2)
    return X


def ring_numbers(kernel: IsolationKernel) -> dict[str, float]:
    """Return the mean similarity to the center on circles, and how round it is at the second."""
    angles = 2 * np.pi * np.arange(N_DIRECTIONS) / N_DIRECTIONS
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    found = {r: kernel.similarity(CENTER, CENTER + r * directions)[0] for r in RADII}
    numbers = {f"at {r}": float(values.mean()) for r, values in found.items()}
    ring = found[RADII[1]].reshape(8, -1)[:, 0]  # every 45 degrees
    numbers["smallest / largest"] = float(found[RADII[1]].min() / found[RADII[1]].max())
    numbers["diagonals / axes"] = float(ring[1::2].sum() / ring[::2].sum())
    return numbers
