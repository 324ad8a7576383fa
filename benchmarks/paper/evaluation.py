"""Evaluation of methods on a data set: parameter sweeps with one results file per method."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.preprocessing import maxabs_scale, minmax_scale

from benchmarks.paper.data import PaperSet, load
from benchmarks.paper.grids import choose_grid, grid_values, is_affordable_exactly
from benchmarks.paper.printed import PRINTED, Printed
from benchmarks.paper.records import RECORDS
from benchmarks.paper.settings import Settings
from isosne._types import Array, Points
from isosne.kernels.isolation import resolve_psi
from isosne.studies.parameter_sweep import Sweep, sweep

Grid = dict[str, list[Any]]


class Method(NamedTuple):
    """A kernel with the part of a grid on which it is tried; ``title`` is its column in tables."""

    name: str
    title: str
    kernel: str
    grid: Callable[[list[int], int], Grid]


def _exact_values(values: list[int], n: int) -> list[int]:
    return [psi for psi in values if is_affordable_exactly(psi, n)]


def _exact_rule(n: int) -> list[str]:
    return ["auto"] if is_affordable_exactly(min(resolve_psi("auto", n)), n) else []


METHODS = (
    Method("gaussian", "GK", "gaussian", lambda values, n: {"perplexity": values}),
    Method(
        "isolation",
        "IK",
        "isolation",
        lambda values, n: {"psi": values, "n_partitions": [200]},
    ),
    Method(
        "exact",
        "IK exact",
        "isolation",
        lambda values, n: {"psi": _exact_values(values, n), "n_partitions": ["exact"]},
    ),
    Method(
        "scales",
        "IK 3 scales",
        "isolation",
        lambda values, n: {"psi": ["auto"], "n_partitions": [200]},
    ),
    Method(
        "scales-exact",
        "IK 3 scales exact",
        "isolation",
        lambda values, n: {"psi": _exact_rule(n), "n_partitions": ["exact"]},
    ),
)
"""The paper's two methods, and two extensions (exact kernel, several scales) and their
combination. t = 200 is the paper's number of partitionings."""


@dataclass(frozen=True)
class MeasuredSet:
    """The sweeps of one data set, by the name of the method."""

    paper: Printed
    data: PaperSet
    grid: str
    sweeps: dict[str, Sweep]

    @property
    def is_stand_in(self) -> bool:
        """Whether the data set differs from the paper's in size."""
        return (*self.data.X.shape, len(self.data.classes)) != RECORDS[self.paper.name].sizes


def measure_set(name: str, settings: Settings) -> MeasuredSet:
    """Run all methods over the grid of a data set; finished maps are read from the files."""
    data = load(name, folder=settings.data)
    n = data.X.shape[0]
    grid = settings.grid or choose_grid(n, quick=settings.quick)
    X = scale_points(data.X)
    values = grid_values(grid, n)
    sweeps = {}
    for method in METHODS:
        found = measure_points(f"{name}-{method.name}", X, data.y, method, values, settings)
        if found is not None:
            sweeps[method.name] = found
    return MeasuredSet(PRINTED[name], data, grid, sweeps)


def measure_points(
    file: str, X: Points, labels: Array, method: Method, values: list[int], settings: Settings
) -> Sweep | None:
    """Return the sweep of one method over the values; None if it can use none of them."""
    grid = method.grid(values, X.shape[0])
    n_maps = math.prod(map(len, grid.values()))
    if not n_maps:
        return None
    folder = settings.out / "sweeps"
    folder.mkdir(parents=True, exist_ok=True)
    done: list[dict[str, Any]] = []
    found = sweep(
        X,
        method.kernel,
        grid,
        labels=labels,
        estimator=settings.make_tsne(),
        results=folder / f"{file}.jsonl",
        n_jobs=settings.n_jobs,
        callback=done.append,
    )
    seconds = sum(row["seconds"] for row in done)
    settings.report(f"{file}: {n_maps} maps, {len(done)} new, {seconds:.0f} s to fit")
    return found


def scale_points(X: Points) -> Points:
    """Return the data with each attribute scaled to 0..1.

    Sparse attributes are divided by their largest absolute value, which gives the same result for
    attributes that contain a zero and no negative value.
    """
    if issparse(X):
        return csr_array(maxabs_scale(X))
    scaled: Array = minmax_scale(np.asarray(X, dtype=np.float64))
    return scaled
