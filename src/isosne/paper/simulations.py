"""Maps of the simulations at the paper's parameters: Table 1, Table 2 and Appendix A.

The points are mapped as they are: scaling each attribute would make all clusters equally wide.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from isosne._types import Array
from isosne.datasets import make_five_clusters, make_shared_clusters, make_two_clusters
from isosne.kernels.registry import KERNELS, make_kernel
from isosne.paper.geometry import (
    cluster,
    distance_in_spreads,
    distance_to_clusters,
    nesting,
    place_between,
)
from isosne.paper.outputs import table, write_page, write_values
from isosne.paper.settings import SEED, Settings, paper_tsne
from isosne.plots import plot_maps, save_figure
from isosne.quality import auc_rnx

Numbers = dict[str, float]


class Simulation(NamedTuple):
    """A table of maps: the points, the values of both kernels, and what to measure of a map."""

    title: str
    explanation: str
    make_points: Callable[..., tuple[Array, Array]]
    values: dict[str, tuple[int, int, int]]
    measure: Callable[[Array, Array], Numbers]


def measure_five(Y: Array, y: Array) -> Numbers:
    """Measure whether the three clusters that meet are apart, and the origin with them."""
    return {
        "largest share of one of clusters 1-3 inside another": nesting(Y, y, (0, 1, 2)),
        "origin to the farthest of clusters 1-3": distance_to_clusters(Y, y, (0, 1, 2)),
    }


def measure_two(Y: Array, y: Array) -> Numbers:
    """Measure where the origin lies beside the two clusters."""
    centers = [cluster(Y, y, label).mean(axis=0) for label in (0, 1)]
    along, aside = place_between(Y[0], *centers)
    return {
        "origin along the line of centers": along,
        "aside of it": aside,
        "origin in spreads": distance_in_spreads(Y),
    }


def measure_shared(Y: Array, y: Array) -> Numbers:
    """Measure where the small third cluster lies beside the two others."""
    centers = [cluster(Y, y, label).mean(axis=0) for label in range(3)]
    along, aside = place_between(centers[2], *centers[:2])
    return {
        "cluster 3 along the line of centers": along,
        "aside of it": aside,
        "origin in spreads": distance_in_spreads(Y),
    }


SIMULATIONS = {
    "table-1": Simulation(
        "Five clusters of 50 dimensions, three of which meet at the origin (Table 1)",
        "Shares of points: 0 is apart, 1 is wholly inside. Distances in widths of the map: 0 is "
        "touching. The paper: the Gaussian kernel ties the origin to one cluster; the isolation "
        "kernel shows three clusters that share it.",
        make_five_clusters,
        {"gaussian": (50, 250, 500), "isolation": (50, 250, 500)},
        measure_five,
    ),
    "table-2": Simulation(
        "Two clusters of 200 dimensions and equal density (Table 2)",
        "On the line of centers 0 is cluster 1, 0.5 the middle, 1 cluster 2; the distance aside is "
        "in gaps between the centers, the distance of the origin in mean radii of the map. The "
        "paper: at perplexity 300 the origin is thrown to the opposite corner; the isolation "
        "kernel keeps it in between.",
        make_two_clusters,
        {"gaussian": (50, 210, 300), "isolation": (50, 210, 300)},
        measure_two,
    ),
    "appendix-a": Simulation(
        "Three clusters with shared attributes, the third of 20 points (Appendix A)",
        "On the line of centers 0 is cluster 1, 1 is cluster 2. The paper: a small psi puts "
        "cluster 3 between the two others; with perplexity 250 points near the origin are thrown "
        "away.",
        make_shared_clusters,
        {"gaussian": (2, 50, 250), "isolation": (2, 20, 250)},
        measure_shared,
    ),
}


def reproduce(name: str, settings: Settings) -> None:
    """Write the maps of a simulation as a picture, and their numbers as a table."""
    simulation = SIMULATIONS[name]
    X, y = simulation.make_points(random_state=SEED)
    maps: dict[str, Array] = {}
    rows: list[dict[str, Any]] = []
    for kernel, values in simulation.values.items():
        for value in values:
            parameter = KERNELS[kernel].main_parameter
            model = paper_tsne(
                kernel=make_kernel(kernel, {parameter: value}), n_jobs=settings.n_jobs
            )
            Y = model.fit_transform(X)
            maps[f"{kernel}, {parameter} {value}"] = Y
            numbers = {"AUC_RNX": float(auc_rnx(X, Y)), **simulation.measure(Y, y)}
            rows.append({"kernel": kernel, parameter: value, **numbers})
            settings.say(f"{name}: {kernel} {value}")
    axes = plot_maps(maps, color=y + 1, columns=3, mark=[0])
    save_figure(axes, settings.out / f"{name}.png")
    measures = [key for key in rows[0] if key not in ("kernel", "psi", "perplexity")]
    lines = [
        [title, *(f"{row[measure]:.3f}" for measure in measures)]
        for title, row in zip(maps, rows, strict=True)
    ]
    parts = [simulation.explanation, table(["map", *measures], lines), f"![maps]({name}.png)"]
    write_page(settings, name, simulation.title, parts)
    write_values(settings, name, rows)
