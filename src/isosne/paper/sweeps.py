"""Maps over the grids of the results table, a results file for each set and each way to map it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.preprocessing import maxabs_scale, minmax_scale

from isosne._types import Array, Points
from isosne.datasets import DataSet, Record, load, record
from isosne.kernels.psi import resolve_psi
from isosne.paper.grids import choose_grid, grid_values, is_affordable_exactly
from isosne.paper.settings import Settings, paper_tsne
from isosne.studies.parameter_sweep import Sweep, sweep

Grid = dict[str, list[Any]]


class Way(NamedTuple):
    """A kernel with the part of a grid on which it is tried; `title` is its column in tables."""

    name: str
    title: str
    kernel: str
    grid: Callable[[list[int], int], Grid]


def _exact_values(values: list[int], n: int) -> list[int]:
    return [psi for psi in values if is_affordable_exactly(psi, n)]


def _exact_rule(n: int) -> list[str]:
    return ["auto"] if is_affordable_exactly(min(resolve_psi("auto", n)), n) else []


WAYS = (
    Way("gaussian", "GK", "gaussian", lambda values, n: {"perplexity": values}),
    Way(
        "isolation",
        "IK",
        "isolation",
        lambda values, n: {"psi": values, "n_partitions": [200]},
    ),
    Way(
        "exact",
        "IK exact",
        "isolation",
        lambda values, n: {"psi": _exact_values(values, n), "n_partitions": ["exact"]},
    ),
    Way(
        "scales",
        "IK 3 scales",
        "isolation",
        lambda values, n: {"psi": ["auto"], "n_partitions": [200]},
    ),
    Way(
        "scales-exact",
        "IK 3 scales exact",
        "isolation",
        lambda values, n: {"psi": _exact_rule(n), "n_partitions": ["exact"]},
    ),
)
"""Ways to map a set: the paper's two, and two that go beyond it, alone and together."""


@dataclass(frozen=True)
class MeasuredSet:
    """All that was measured of the maps of one set; `sweeps` go by the name of the way."""

    paper: Record
    data: DataSet
    grid: str
    sweeps: dict[str, Sweep]

    @property
    def is_stand_in(self) -> bool:
        """Whether the set is known to differ from the paper's."""
        return (*self.data.X.shape, len(self.data.classes)) != self.paper.sizes


def measure_set(name: str, settings: Settings) -> MeasuredSet:
    """Map a set in all ways over its grid; what was finished before is read from the files."""
    data = load(name, folder=settings.data)
    n = data.X.shape[0]
    grid = settings.grid or choose_grid(n, quick=settings.quick)
    X = scale_points(data.X)
    values = grid_values(grid, n)
    sweeps = {}
    for way in WAYS:
        found = measure_points(f"{name}-{way.name}", X, data.y, way, values, settings)
        if found is not None:
            sweeps[way.name] = found
    return MeasuredSet(record(name), data, grid, sweeps)


def measure_points(
    file: str, X: Points, labels: Array, way: Way, values: list[int], settings: Settings
) -> Sweep | None:
    """Return the sweep of one way over the values; None if no value is left for it."""
    grid = way.grid(values, X.shape[0])
    n_maps = math.prod(map(len, grid.values()))
    if not n_maps:
        return None
    folder = settings.out / "sweeps"
    folder.mkdir(parents=True, exist_ok=True)
    done: list[dict[str, Any]] = []
    found = sweep(
        X,
        way.kernel,
        grid,
        labels=labels,
        estimator=paper_tsne(),
        results=folder / f"{file}.jsonl",
        n_jobs=settings.n_jobs,
        callback=done.append,
    )
    seconds = sum(row["seconds"] for row in done)
    settings.say(f"{file}: {n_maps} maps, {len(done)} of them now, in {seconds:.0f} s of fitting")
    return found


def scale_points(X: Points) -> Points:
    """Return the points with each attribute scaled to 0..1.

    Sparse attributes are divided by their largest value, which is the same for those that have a
    zero and no negative value.
    """
    if issparse(X):
        return csr_array(maxabs_scale(X))
    scaled: Array = minmax_scale(np.asarray(X, dtype=np.float64))
    return scaled
