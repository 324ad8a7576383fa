"""Parameter sweeps: one map for each kernel of a grid, with its quality measures.

The results file is in JSON Lines format: the first line describes the sweep, each further line is
a finished map. It is replaced as a whole after each map, and an interrupted sweep resumes from it.
"""

import hashlib
import itertools
import json
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import csr_array
from sklearn.base import clone

from isosne._checks import check_points
from isosne._files import encode_json, whole_file
from isosne._html import columns_table
from isosne._numba import n_threads
from isosne._types import Points
from isosne.errors import DataError, IsosneWarning, ParameterError, suggest
from isosne.kernels.registry import KERNELS, make_kernel
from isosne.quality import report
from isosne.quality.inputs import MIN_POINTS
from isosne.studies.judged_maps import CLASS_MEASURES
from isosne.tsne.estimator import TSNE

FORMAT = 1  # version of the results file
MAX_PARALLEL_POINTS = 2000  # up to which maps are made in processes of one thread; not measured
FIRST_MEASURE = "kl_divergence"  # column of a row after its parameters
LOWER_IS_BETTER = ("davies_bouldin", FIRST_MEASURE)
NEIGHBORHOODS = ("auc_rnx", "auc_rnx_standard_error", "trustworthiness", "continuity")
MEASURES = (*NEIGHBORHOODS, *CLASS_MEASURES)


def paper_grid(n_points: int) -> list[int]:
    """Return the values of psi or perplexity that the paper tries: 5, 9, ..., 97 and 0.01 n to n.

    Table "Parameters and their search ranges", without 1, for which the isolation kernel is
    constant.
    """
    shares = {round(share / 100 * n_points) for share in range(1, 98, 4)}
    return sorted(value for value in {*range(1, 98, 4), *shares} if 2 <= value < n_points)


@dataclass(frozen=True)
class Sweep:
    """Results of a sweep: one row for each combination of the grid, in the order of the grid.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isosne.studies import sweep
    >>> found = sweep(load_iris().data, "owner", [2, 4], n_jobs=1)
    >>> [row["cell_size"] for row in found.rows]
    [2, 4]
    """

    rows: tuple[dict[str, Any], ...]
    measure: str

    @property
    def best(self) -> dict[str, Any]:
        """The row with the best value of the measure; the first one of several."""
        return self.best_by(self.measure)

    def best_by(self, measure: str) -> dict[str, Any]:
        """Return the row with the best value of a measure; the first one of several."""
        for row in self.rows:
            _check_measure(measure, row)
        sign = -1 if measure in LOWER_IS_BETTER else 1
        return max(self.rows, key=lambda row: sign * row[measure])

    def __repr__(self) -> str:
        return f"{aligned(self.rows, list(self.rows[0]))}\nbest by {self.measure}: " + ", ".join(
            f"{name} {show_cell(self.best[name])}"
            for name in itertools.takewhile(lambda name: name != FIRST_MEASURE, self.best)
        )

    def _repr_html_(self) -> str:
        cells = ([*map(show_cell, row.values())] for row in self.rows)
        return columns_table(list(self.rows[0]), cells, marked=self.rows.index(self.best))


def show_cell(value: Any) -> str:
    """Return a value of a row as text."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def aligned(rows: Sequence[dict[str, Any]], names: list[str]) -> str:
    """Return some columns of rows as text, one line for each row."""
    cells = [names, *([show_cell(row[name]) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(map(str.rjust, line, widths)) for line in cells)


def sweep(
    X: Any,
    kernel: str = "owner",
    grid: Iterable[Any] | Mapping[str, Iterable[Any]] | None = None,
    *,
    labels: Any = None,
    estimator: TSNE | None = None,
    measure: str = "auc_rnx",
    results: str | Path | None = None,
    n_jobs: int | None = None,
    callback: Callable[[dict[str, Any]], object] | None = None,
) -> Sweep:
    """Compute and measure one map for each kernel of a parameter grid.

    Parameters
    ----------
    X : array, CSR or data frame of shape (n_samples, n_features)
        The data.
    kernel : {"isolation", "owner", "gaussian", "adaptive", "knn"}, default="owner"
        The kernel.
    grid : values, dict of values or None, default=None
        Values of psi, cell_size, perplexity or k; or a dict from parameter names of the kernel to
        values, of which all combinations are tried. None: the grid of the paper, or a similar one.
    labels : array of shape (n_samples,) or None, default=None
        The class of each point, for the class measures.
    estimator : TSNE or None, default=None
        All other settings of the maps: schedule, start, seed. None: ``TSNE(random_state=0)``.
    measure : str, default="auc_rnx"
        Measure that decides which row is `best`. The default needs no labels.
    results : path or None, default=None
        File to keep the rows in. An interrupted sweep resumes from it.
    n_jobs : int or None, default=None
        Number of threads, or of processes for small data; None uses Numba's number of threads.
    callback : callable or None, default=None
        Called with each finished row.

    Returns
    -------
    Sweep
        Rows in the order of the grid, and the best of them.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from isosne.studies import sweep
    >>> found = sweep(load_wine().data, "isolation", [8, 64], n_jobs=1)
    >>> [row["psi"] for row in found.rows]
    [8, 64]
    """
    points = check_points(X, min_rows=MIN_POINTS)
    template = TSNE(random_state=0) if estimator is None else estimator
    tasks = _combinations(kernel, grid, points.shape[0])
    for task in tasks:  # raise before the first map is computed
        make_kernel(kernel, task).check_parameters(points.shape[0])
    without = CLASS_MEASURES if labels is None else ()
    measures = [name for name in (*MEASURES, "auc_rnx_paper") if name not in without]
    _check_measure(measure, [*tasks[0], FIRST_MEASURE, *measures, "n_isolated", "seconds"])
    about = _describe(points, labels, kernel, template)
    done = {} if results is None else _read(Path(results), about)
    if results is not None:
        _write(Path(results), about, done.values())  # raise before the first map is computed
    remaining = [task for task in tasks if _key(task) not in done]
    fit = partial(measure_map, points, labels, kernel, template)
    is_small = points.shape[0] <= MAX_PARALLEL_POINTS
    for row in _run(fit, remaining, n_jobs or n_threads(), is_small=is_small):
        done[_key(row)] = row
        if results is not None:
            _write(Path(results), about, done.values())
        if callback is not None:
            callback(row)
    found = Sweep(tuple(done[_key(task)] for task in tasks), measure)
    found.best_by(measure)  # raise if the classes could not be measured
    return found


def _check_measure(measure: str, columns: Iterable[str]) -> None:
    """Raise an error if the rows of a sweep do not have a column of this name."""
    known = list(columns)
    if measure not in known:
        hint = suggest(measure, known, f"Choose one of {', '.join(known)}.")
        raise ParameterError("measure", "be a column of the sweep", measure, hint)


def _combinations(kernel: str, grid: Any, n_points: int) -> list[dict[str, Any]]:
    names = [name for name, entry in KERNELS.items() if entry.main_parameter]
    if kernel not in names:
        hint = suggest(kernel, names, "Choose one of these names.")
        raise ParameterError("kernel", f"be one of {', '.join(map(repr, names))}", kernel, hint)
    tried = paper_grid(n_points) if grid is None else grid
    if not isinstance(tried, Mapping):
        tried = {KERNELS[kernel].main_parameter: tried}
    values = [list(options) for options in tried.values()]
    tasks = [dict(zip(tried, chosen, strict=True)) for chosen in itertools.product(*values)]
    if not tasks:
        hint = "Pass, for example, [16, 64, 256]."
        raise ParameterError("grid", "contain at least one value", grid, hint)
    return tasks


def _run(
    fit: Any, tasks: Sequence[dict[str, Any]], n_workers: int, *, is_small: bool
) -> Iterator[dict[str, Any]]:
    """Yield the row of each task, in any order."""
    if not is_small or n_workers == 1 or len(tasks) < 2:
        yield from (fit(task, n_workers) for task in tasks)
        return
    pool = Parallel(
        min(n_workers, len(tasks)), return_as="generator_unordered", inner_max_num_threads=1
    )
    yield from pool(delayed(fit)(task, 1) for task in tasks)


def measure_map(
    points: Points, labels: Any, kernel: str, template: TSNE, task: Mapping[str, Any], n_jobs: int
) -> dict[str, Any]:
    """Compute one map; return its parameters and measures."""
    model = clone(template).set_params(kernel=make_kernel(kernel, task), n_jobs=n_jobs)
    began = time.perf_counter()
    with warnings.catch_warnings():  # n_isolated counts the points that a warning would report
        warnings.simplefilter("ignore", IsosneWarning)
        warnings.filterwarnings("ignore", "Interrupted at step", RuntimeWarning)
        Y = model.fit(points).embedding_
    seconds = time.perf_counter() - began
    how: dict[str, Any] = {"metric": model.kernel_.metric_.name, "p": model.kernel_.metric_.p}
    judged = report(points, Y, labels, **how, n_jobs=n_jobs, random_state=0)
    measured = {name: value for name, value in judged.as_dict().items() if name in MEASURES}
    return {
        **task,
        FIRST_MEASURE: float(model.kl_divergence_),
        **measured,
        "auc_rnx_paper": float(judged.comparison.auc("paper")),
        "n_isolated": len(model.isolated_),
        "seconds": round(seconds, 3),
    }


def _key(row: Mapping[str, Any]) -> str:
    """Return the parameters of a task or of its row as text: the columns before the measures."""
    return encode_json({name: row[name] for name in itertools.takewhile(FIRST_MEASURE.__ne__, row)})


def _describe(points: Points, labels: Any, kernel: str, template: TSNE) -> dict[str, Any]:
    """Return the description of a sweep, which must match for a results file to be continued."""
    digest = hashlib.sha256()
    parts = (points.data, points.indices) if isinstance(points, csr_array) else (points,)
    for part in (*parts, *(() if labels is None else (np.asarray(labels).astype(str),))):
        digest.update(np.ascontiguousarray(part).tobytes())
    settings = {name: repr(value) for name, value in template.get_params(deep=False).items()}
    for name in ("kernel", "n_jobs", "verbose", "callback"):
        settings.pop(name)
    return {
        "isosne_sweep": FORMAT,
        "shape": list(points.shape),
        "sha256": digest.hexdigest(),
        "kernel": kernel,
        "estimator": settings,
    }


def _read(path: Path, about: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the rows of a results file, if there is one; ignore a line that is cut off."""
    content = path.read_bytes() if path.exists() else b""
    if not content:
        return {}
    reason = "belongs to a sweep of other data or settings"
    try:
        first, *rows = map(json.loads, content[: content.rfind(b"\n") + 1].splitlines())
        if first == json.loads(encode_json(about)):
            return {_key(row): row for row in rows}
    except (ValueError, TypeError):
        reason = "is not a results file of a sweep"
    raise DataError(f"Cannot resume from {path}: it {reason}. Choose another file name.")


def _write(path: Path, about: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> None:
    """Replace a results file; if that fails, it stays as it was."""
    with whole_file(path, force=True) as file:
        file.writelines(encode_json(line).encode() + b"\n" for line in (about, *rows))
