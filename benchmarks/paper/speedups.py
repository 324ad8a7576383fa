"""Appendices E and F: faster versions of step 3 with both kernels, by a mesh and by opt-SNE.

The paper ran FIt-SNE and opt-SNE with the Gaussian kernel only. Here the corresponding methods
also run with the isolation kernel.
"""

import time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.paper.artifacts import format_table, write_json, write_markdown
from benchmarks.paper.data import load
from benchmarks.paper.evaluation import scale_points
from benchmarks.paper.geometry import nesting
from benchmarks.paper.settings import SEED, Settings
from isosne import TSNE, GaussianKernel, IsolationKernel
from isosne._types import Array
from isosne.datasets import make_five_clusters
from isosne.errors import DataError
from isosne.plots import plot_maps, save_figure
from isosne.quality import calinski_harabasz, compare

TITLE = "Faster maps with both kernels: mesh forces and opt-SNE's schedule (Appendices E and F)"
ROUTES: dict[str, dict[str, Any]] = {
    "all pairs": {"affinities": "dense", "schedule": "standard"},
    "mesh": {"affinities": "sparse", "forces": "mesh", "schedule": "standard"},
    "opt-SNE": {"affinities": "dense", "schedule": "opt_sne"},
}


class Case(NamedTuple):
    """A data set, and its perplexity and psi."""

    name: str
    X: Array
    y: Array
    perplexity: int
    psi: int


def reproduce(settings: Settings) -> None:
    """Write the maps of each data set by each method, and their measures."""
    rows: list[dict[str, Any]] = []
    parts = [
        (
            "nested: the largest fraction of clusters 1-3 inside another, as in table-1. Standard "
            "schedule, PCA start, seed 0. *mesh*: sparse affinities and repulsive forces by "
            "Fourier transforms. The paper's CH on 10 000 digits with the Gaussian kernel: 5926 by "
            "FIt-SNE, 6129 by opt-SNE."
        )
    ]
    pictures = []
    for case in _cases(settings):
        maps: dict[str, Array] = {}
        for route, choices in ROUTES.items():
            for kernel in (GaussianKernel(case.perplexity), IsolationKernel(case.psi)):
                row, Y = _measure(case, route, choices, kernel, settings)
                rows.append(row)
                maps[f"{row['kernel']}, {route}"] = Y
        file = f"speedups-{case.name}.png"
        mark = [0] if case.name == "five_clusters" else None
        save_figure(plot_maps(maps, color=case.y + 1, columns=2, mark=mark), settings.out / file)
        pictures.append(f"![{case.name}]({file})")
    header = ["set", "kernel", "route", "steps", "seconds", "AUC_RNX", "CH", "nested"]
    cells = [[_text(row.get(column, "")) for column in header] for row in rows]
    write_markdown(
        settings, "speedups", TITLE, [*parts, format_table(header, cells), "\n".join(pictures)]
    )
    write_json(settings, "speedups", rows)


def _cases(settings: Settings) -> list[Case]:
    """Return the five clusters, and the available data sets of the appendices."""
    five = make_five_clusters(random_state=SEED)
    cases = [Case("five_clusters", *five, 250, 250)]
    for name in settings.sets or (() if settings.quick else ("coil20", "mnist10k")):
        try:
            data = load(name, folder=settings.data)
        except DataError as error:
            settings.report(f"{name}: skipped. {error}")
            continue
        X = np.asarray(scale_points(data.X))
        cases.append(Case(name, X, data.y, 30, len(X) // 10))  # usual perplexity; psi is chosen
    return cases


def _measure(
    case: Case, route: str, choices: dict[str, Any], kernel: Any, settings: Settings
) -> tuple[dict[str, Any], Array]:
    if settings.schedule is not None:
        choices = choices | {"schedule": settings.schedule}
    model = TSNE(kernel, random_state=SEED, n_jobs=settings.n_jobs, **choices)
    began = time.perf_counter()
    Y = model.fit_transform(case.X)
    seconds = time.perf_counter() - began
    is_gaussian = isinstance(kernel, GaussianKernel)
    row: dict[str, Any] = {
        "set": case.name,
        "kernel": f"perplexity {case.perplexity}" if is_gaussian else f"psi {case.psi}",
        "route": route,
        "steps": model.n_iter_,
        "seconds": seconds,
        "AUC_RNX": float(compare(case.X, Y, n_jobs=settings.n_jobs).auc()),
        "CH": calinski_harabasz(Y, case.y),
    }
    if case.name == "five_clusters":
        row["nested"] = nesting(Y, case.y, (0, 1, 2))
    settings.report(f"speedups: {case.name} {row['kernel']} {route} {seconds:.0f} s")
    return row, Y


def _text(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:.0f}"
