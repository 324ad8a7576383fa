"""Run time of steps 1 and 2, and of step 3, for both kernels: figure and table of section 5.3.

All pairs and exact forces, as in the paper; step 3 is the authors' schedule of 1000 iterations.
Each map is computed once, after compilation.
"""

import time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.paper.artifacts import format_table, write_json, write_markdown
from benchmarks.paper.data import load
from benchmarks.paper.evaluation import scale_points
from benchmarks.paper.settings import SEED, Settings
from isosne import GaussianKernel, IsolationKernel
from isosne._types import Array, Points
from isosne.errors import DataError
from isosne.plots import plot_lines, save_figure

TITLE = "Run time of steps 1 and 2, and of step 3, in seconds"
SIZES, QUICK_SIZES = (1000, 2000, 5000, 10_000), (500, 1000, 2000)
"""Numbers of points; chosen. The paper goes to 100 000."""
WARM_UP_POINTS = 300
"""Points of the maps that compile all loops."""
PSI, PERPLEXITY = 256, 30
"""Chosen; 30 is the usual default of t-SNE."""
PRINTED = {
    "wdbc": ((0.5, 4.8), (0.1, 4.6)),
    "mice": ((1.0, 12.3), (0.2, 11.9)),
    "spam": ((20.1, 203.8), (2.3, 202.1)),
    "pendig": ((35.8, 1146.6), (12.2, 1147.4)),
}
"""The paper's table in seconds: (steps 1 and 2, step 3) of the Gaussian and the isolation kernel,
on 14 cores in MATLAB."""


class Times(NamedTuple):
    """Run time of steps 1 and 2, and of step 3, in seconds."""

    similarity: float
    descent: float


def reproduce(settings: Settings) -> None:
    """Write the run times by number of points, and those of four real data sets."""
    sizes = QUICK_SIZES if settings.quick else SIZES
    for kernel in ("gaussian", "isolation"):
        time_map(kernel, make_uneven_points(WARM_UP_POINTS), settings)
    grown: dict[str, list[Times]] = {"gaussian": [], "isolation": []}
    for n in sizes:
        for kernel, times in grown.items():
            times.append(time_map(kernel, make_uneven_points(n), settings))
            settings.report(f"runtime: {kernel}, {n} points, {sum(times[-1]):.1f} s")
    real, missing = _time_sets(settings)
    _draw(sizes, grown, settings)
    parts = [
        (
            f"Two-dimensional data, psi {PSI} with t = 200, perplexity {PERPLEXITY}; all pairs, "
            "exact forces, 1000 iterations. The paper: 72 196 s (Gaussian) and 887 s (isolation) "
            "for steps 1 and 2 with 100 000 points."
        ),
        _grown_table(sizes, grown),
        "![steps 1 and 2](runtime-similarity.png)\n![step 3](runtime-descent.png)",
        "## Real data sets, ours and the paper's (14 cores, MATLAB)",
        _real_table(real),
        *missing,
    ]
    write_markdown(settings, "runtime", TITLE, parts)
    values = {"sizes": sizes, "grown": grown, "sets": real}
    write_json(settings, "runtime", values)


def time_map(kernel: str, X: Points, settings: Settings) -> Times:
    """Compute a map; return the seconds before the first iteration and from there to the end."""
    psi = min(PSI, X.shape[0] // 2)
    made = (
        GaussianKernel(PERPLEXITY)
        if kernel == "gaussian"
        else IsolationKernel(psi, n_partitions=200)
    )
    ticks: list[float] = []

    def note_first(state: Any) -> None:
        if not ticks:
            ticks.append(time.perf_counter())

    began = time.perf_counter()
    settings.make_tsne(kernel=made, callback=note_first, n_jobs=settings.n_jobs).fit(X)
    return Times(ticks[0] - began, time.perf_counter() - ticks[0])


def make_uneven_points(n: int) -> Array:
    """Return two-dimensional points with three densities."""
    rng = np.random.default_rng(SEED)
    points: Array = rng.normal(size=(n, 2)) * rng.choice([0.2, 1.0, 5.0], n)[:, None]
    return points


def _time_sets(settings: Settings) -> tuple[dict[str, dict[str, Times]], list[str]]:
    """Return the run times of the available data sets, and a sentence for each missing one."""
    chosen = settings.sets or (("wdbc",) if settings.quick else tuple(PRINTED))
    found, missing = {}, []
    for name in chosen:
        try:
            X = scale_points(load(name, folder=settings.data).X)
        except DataError as error:
            missing.append(f"{name}: not available. {error}")
            continue
        kernels = ("gaussian", "isolation")
        found[name] = {kernel: time_map(kernel, X, settings) for kernel in kernels}
        settings.report(f"runtime: {name}")
    return found, missing


def _draw(sizes: tuple[int, ...], grown: dict[str, list[Times]], settings: Settings) -> None:
    for part in Times._fields:
        lines = {k: (sizes, [getattr(t, part) for t in times]) for k, times in grown.items()}
        axes = plot_lines(lines, x_label="points", y_label="seconds", log=True)
        save_figure(axes, settings.out / f"runtime-{part}.png")


def _grown_table(sizes: tuple[int, ...], grown: dict[str, list[Times]]) -> str:
    rows = []
    for n, gaussian, isolation in zip(sizes, grown["gaussian"], grown["isolation"], strict=True):
        ratio = f"{isolation.similarity / gaussian.similarity:.2g}"
        rows.append([n, *_texts(gaussian), *_texts(isolation), ratio])
    header = ["points", "GK 1+2", "GK 3", "IK 1+2", "IK 3", "ratio of 1+2, IK / GK"]
    return format_table(header, rows)


def _real_table(real: dict[str, dict[str, Times]]) -> str:
    rows = []
    for name, times in real.items():
        printed = [f"{value:g}" for pair in PRINTED.get(name, ()) for value in pair]
        ours = [*_texts(times["gaussian"]), *_texts(times["isolation"])]
        rows.append([name, *ours, *(printed or [""] * 4)])
    header = ["GK 1+2", "GK 3", "IK 1+2", "IK 3"]
    return format_table(["set", *header, *(f"paper {column}" for column in header)], rows)


def _texts(times: Times) -> list[str]:
    return [f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}" for seconds in times]
