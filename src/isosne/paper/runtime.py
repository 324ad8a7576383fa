"""Run time of steps 1 and 2 and of step 3, both kernels: the figure and the table of the paper.

All pairs and exact forces, as the paper has them. Each map is made once; loops are compiled before.
Step 3 is the authors' 1000 steps.
"""

import time
from typing import Any, NamedTuple

import numpy as np

from isosne import GaussianKernel, IsolationKernel
from isosne._types import Array, Points
from isosne.datasets import load
from isosne.errors import DataError
from isosne.paper.outputs import table, write_page, write_values
from isosne.paper.settings import SEED, Settings, paper_tsne
from isosne.paper.sweeps import scale_points
from isosne.plots import plot_lines, save_figure

TITLE = "Run time of steps 1 and 2, and of step 3, in seconds"
SIZES, QUICK_SIZES = (1000, 2000, 5000, 10_000), (500, 1000, 2000)
PSI, PERPLEXITY = 256, 30
PRINTED = {
    "wdbc": ((0.5, 4.8), (0.1, 4.6)),
    "mice": ((1.0, 12.3), (0.2, 11.9)),
    "spam": ((20.1, 203.8), (2.3, 202.1)),
    "pendig": ((35.8, 1146.6), (12.2, 1147.4)),
}
"""The paper's table: steps 1 and 2, step 3; Gaussian and isolation kernel. 14 cores, MATLAB."""


class Times(NamedTuple):
    """Seconds of steps 1 and 2, and of step 3."""

    similarity: float
    descent: float


def reproduce(settings: Settings) -> None:
    """Write the times as n grows and those of four real sets."""
    sizes = QUICK_SIZES if settings.quick else SIZES
    time_map("gaussian", uneven_points(300), settings)
    time_map("isolation", uneven_points(300), settings)
    grown: dict[str, list[Times]] = {"gaussian": [], "isolation": []}
    for n in sizes:
        for kernel, times in grown.items():
            times.append(time_map(kernel, uneven_points(n), settings))
            settings.say(f"runtime: {kernel}, {n} points, {sum(times[-1]):.1f} s")
    real, missing = _time_sets(settings)
    _draw(sizes, grown, settings)
    parts = [
        (
            f"Points in the plane, psi {PSI} with t = 200, perplexity {PERPLEXITY}; all pairs, "
            "exact forces, 1000 steps of the descent. The paper: at 100 000 points 72 196 s "
            "(Gaussian) and 887 s (isolation) for steps 1 and 2."
        ),
        _grown_table(sizes, grown),
        "![steps 1 and 2](runtime-similarity.png)\n![step 3](runtime-descent.png)",
        "## Real sets, ours and the paper's (14 cores, MATLAB)",
        _real_table(real),
        *missing,
    ]
    write_page(settings, "runtime", TITLE, parts)
    values = {"sizes": sizes, "grown": grown, "sets": real}
    write_values(settings, "runtime", values)


def time_map(kernel: str, X: Points, settings: Settings) -> Times:
    """Make a map, and return the seconds to its first step and from there to the end."""
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
    paper_tsne(kernel=made, callback=note_first, n_jobs=settings.n_jobs).fit(X)
    return Times(ticks[0] - began, time.perf_counter() - ticks[0])


def uneven_points(n: int) -> Array:
    """Return points of the plane in three densities."""
    rng = np.random.default_rng(SEED)
    points: Array = rng.normal(size=(n, 2)) * rng.choice([0.2, 1.0, 5.0], n)[:, None]
    return points


def _time_sets(settings: Settings) -> tuple[dict[str, dict[str, Times]], list[str]]:
    """Return the times of the sets that can be had, and a sentence for each other."""
    chosen = settings.sets or (("wdbc",) if settings.quick else tuple(PRINTED))
    found, missing = {}, []
    for name in chosen:
        try:
            X = scale_points(load(name, folder=settings.data).X)
        except DataError as error:
            missing.append(f"{name}: not at hand. {error}")
            continue
        kernels = ("gaussian", "isolation")
        found[name] = {kernel: time_map(kernel, X, settings) for kernel in kernels}
        settings.say(f"runtime: {name}")
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
    return table(header, rows)


def _real_table(real: dict[str, dict[str, Times]]) -> str:
    rows = []
    for name, times in real.items():
        printed = [f"{value:g}" for pair in PRINTED.get(name, ()) for value in pair]
        ours = [*_texts(times["gaussian"]), *_texts(times["isolation"])]
        rows.append([name, *ours, *(printed or [""] * 4)])
    header = ["GK 1+2", "GK 3", "IK 1+2", "IK 3"]
    return table(["set", *header, *(f"paper {column}" for column in header)], rows)


def _texts(times: Times) -> list[str]:
    return [f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}" for seconds in times]
