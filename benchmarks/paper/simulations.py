"""Maps of the simulated data with the paper's parameters: Table 1, Table 2 and Appendix A.

The data are not scaled: scaling each attribute would give all clusters the same width.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.paper.artifacts import format_table, write_json, write_markdown
from benchmarks.paper.geometry import (
    cluster_points,
    distance_in_spreads,
    distance_to_clusters,
    nesting,
    project_between,
)
from benchmarks.paper.settings import SEED, Settings
from isosne._types import Array
from isosne.datasets import make_five_clusters, make_shared_clusters, make_two_clusters
from isosne.kernels.registry import KERNELS, make_kernel
from isosne.plots import plot_maps, save_figure
from isosne.quality import compare

Numbers = dict[str, float]


class Simulation(NamedTuple):
    """A table of maps: the data, the parameters of both kernels, and what to measure."""

    title: str
    explanation: str
    make_points: Callable[..., tuple[Array, Array]]
    values: dict[str, tuple[int, int, int]]
    measure: Callable[[Array, Array], Numbers]


def measure_five(Y: Array, y: Array) -> Numbers:
    """Measure whether clusters 1 to 3 are separate, and whether the origin is close to them."""
    return {
        "largest fraction of clusters 1-3 inside another": nesting(Y, y, (0, 1, 2)),
        "origin to the farthest of clusters 1-3": distance_to_clusters(Y, y, (0, 1, 2)),
    }


def measure_two(Y: Array, y: Array) -> Numbers:
    """Measure the position of the origin relative to the two clusters."""
    centers = [cluster_points(Y, y, label).mean(axis=0) for label in (0, 1)]
    along, aside = project_between(Y[0], *centers)
    return {
        "origin along the line of centers": along,
        "distance from the line": aside,
        "origin, in radii of the map": distance_in_spreads(Y),
    }


def measure_shared(Y: Array, y: Array) -> Numbers:
    """Measure the position of the small third cluster relative to the two others."""
    centers = [cluster_points(Y, y, label).mean(axis=0) for label in range(3)]
    along, aside = project_between(centers[2], *centers[:2])
    return {
        "cluster 3 along the line of centers": along,
        "distance from the line": aside,
        "origin, in radii of the map": distance_in_spreads(Y),
    }


# Perplexities and psi are those of the paper's tables.
SIMULATIONS = {
    "table-1": Simulation(
        "Five clusters in 50 dimensions, three of which share the origin (Table 1)",
        "Fraction of points: 0 is separate, 1 is entirely inside. Distances are relative to the "
        "width of the map: 0 is touching. The paper: with the Gaussian kernel the origin belongs "
        "to one cluster; with the isolation kernel three clusters share it.",
        make_five_clusters,
        {"gaussian": (50, 250, 500), "isolation": (50, 250, 500)},
        measure_five,
    ),
    "table-2": Simulation(
        "Two clusters in 200 dimensions with equal density (Table 2)",
        "On the line of centers 0 is cluster 1, 0.5 the middle, and 1 cluster 2. The distance from "
        "the line is relative to the distance of the centers, that of the origin to the radius of "
        "the map. The paper: with perplexity 300 the origin is moved to the opposite corner; with "
        "the isolation kernel it stays between the clusters.",
        make_two_clusters,
        {"gaussian": (50, 210, 300), "isolation": (50, 210, 300)},
        measure_two,
    ),
    "appendix-a": Simulation(
        "Three clusters with shared attributes, the third with 20 points (Appendix A)",
        "On the line of centers 0 is cluster 1 and 1 is cluster 2. The paper: with a small psi "
        "cluster 3 lies between the two others; with perplexity 250 points near the origin are "
        "moved far away.",
        make_shared_clusters,
        {"gaussian": (2, 50, 250), "isolation": (2, 20, 250)},
        measure_shared,
    ),
}


def reproduce(name: str, settings: Settings) -> None:
    """Write a figure of the maps of a simulation, and a table of their measures."""
    simulation = SIMULATIONS[name]
    X, y = simulation.make_points(random_state=SEED)
    maps: dict[str, Array] = {}
    rows: list[dict[str, Any]] = []
    for kernel, values in simulation.values.items():
        parameter = KERNELS[kernel].main_parameter
        for value in values:
            made = make_kernel(kernel, {parameter: value})
            Y = settings.make_tsne(kernel=made, n_jobs=settings.n_jobs).fit_transform(X)
            maps[f"{kernel}, {parameter} {value}"] = Y
            numbers = {"AUC_RNX": float(compare(X, Y).auc()), **simulation.measure(Y, y)}
            rows.append({"kernel": kernel, parameter: value, **numbers})
            settings.report(f"{name}: {kernel} {value}")
    axes = plot_maps(maps, color=y + 1, columns=3, mark=[0])
    save_figure(axes, settings.out / f"{name}.png")
    measures = [key for key in rows[0] if key not in ("kernel", "psi", "perplexity")]
    lines = [
        [title, *(f"{row[measure]:.3f}" for measure in measures)]
        for title, row in zip(maps, rows, strict=True)
    ]
    table = format_table(["map", *measures], lines)
    parts = [simulation.explanation, table, f"![maps]({name}.png)"]
    write_markdown(settings, name, simulation.title, parts)
    write_json(settings, name, rows)
