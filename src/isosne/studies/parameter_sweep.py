"""Maps over a grid of a kernel's parameters, each measured; results are kept on disk as they come.

The results file has one JSON object a line: first what the sweep is about, then a line for each map
that is finished. A sweep that was killed goes on after its last whole line.
"""

import hashlib
import itertools
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import csr_array
from sklearn.base import clone

from isosne._checks import check_count, check_points
from isosne._files import encode_json, writing_to
from isosne._numba import n_threads
from isosne._types import Points
from isosne.errors import DataError, IsosneWarning, MissingPackageError, ParameterError
from isosne.kernels.registry import KERNELS, make_kernel
from isosne.quality import auc_rnx, report
from isosne.tsne.estimator import TSNE

FORMAT = 1
SMALL = 2000
"""Points up to which maps are made side by side, one thread each."""
LOWER_IS_BETTER = ("davies_bouldin", "kl_divergence")
MEASURES = (
    "auc_rnx",
    "auc_rnx_standard_error",
    "trustworthiness",
    "continuity",
    "davies_bouldin",
    "calinski_harabasz",
    "knn_accuracy",
)


def paper_grid(n_points: int) -> list[int]:
    """Return the paper's grid of psi or perplexity for a number of points.

    Parameters
    ----------
    n_points : int
        Number of points.

    Returns
    -------
    list of int
        5, 9, ..., 97 and 0.01 n, 0.05 n, ..., 0.97 n, ascending, from 2 to n - 1.

    Notes
    -----
    Table "Parameters and their search ranges". Departures from the paper: 1 is left out, as psi = 1
    makes the isolation kernel constant.

    Examples
    --------
    >>> from isosne.studies.parameter_sweep import paper_grid
    >>> paper_grid(20)
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]
    """
    check_count(n_points, "n_points", low=4, hint="Pass the number of rows.")
    shares = {round(share / 100 * n_points) for share in range(1, 98, 4)}
    return sorted(value for value in {*range(1, 98, 4), *shares} if 2 <= value < n_points)


@dataclass(frozen=True)
class Sweep:
    """Results of a sweep: a row for each point of the grid, in the order of the grid."""

    rows: tuple[dict[str, Any], ...]
    measure: str

    @property
    def best(self) -> dict[str, Any]:
        """The row with the best value of the measure; of equal ones the first."""
        return self.best_by(self.measure)

    def best_by(self, measure: str) -> dict[str, Any]:
        """Return the row with the best value of a measure.

        Parameters
        ----------
        measure : str
            A column.

        Returns
        -------
        dict
            The row.
        """
        if any(measure not in row for row in self.rows):
            raise ParameterError(
                f"measure must be a column of the sweep; got {measure!r}. "
                f"Choose one of {', '.join(self.rows[0])}."
            )
        sign = -1 if measure in LOWER_IS_BETTER else 1
        return max(self.rows, key=lambda row: sign * row[measure])

    def to_frame(self) -> Any:
        """Return the rows as a pandas frame.

        Returns
        -------
        pandas.DataFrame
            A column for each parameter and measure.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingPackageError(
                "A frame needs the package pandas, which is not installed. "
                "Run pip install pandas, or use `rows`."
            ) from None
        return pd.DataFrame(list(self.rows))


def sweep(
    X: Any,
    kernel: str = "isolation",
    grid: Iterable[Any] | Mapping[str, Iterable[Any]] | None = None,
    *,
    labels: Any = None,
    estimator: TSNE | None = None,
    measure: str = "auc_rnx",
    results: str | Path | None = None,
    n_jobs: int | None = None,
    callback: Callable[[dict[str, Any]], object] | None = None,
) -> Sweep:
    """Map the points with every kernel of a grid, and measure every map.

    Parameters
    ----------
    X : array, CSR or data frame of shape (n_samples, n_features)
        The points.
    kernel : {"isolation", "gaussian", "adaptive", "knn"}, default="isolation"
        The kernel.
    grid : values, dict of values or None, default=None
        Values of psi, perplexity or k; or a dict from names of the kernel's parameters to values,
        all combinations of which are tried. None: the paper's grid.
    labels : array of shape (n_samples,) or None, default=None
        Classes, for DB, CH and kNN accuracy.
    estimator : TSNE or None, default=None
        Everything else about the maps: schedule, start, seed. None: ``TSNE(random_state=0)``.
    measure : str, default="auc_rnx"
        What `best` goes by. The default needs no labels.
    results : path or None, default=None
        File for the rows, written as they come; a sweep that was stopped goes on from it.
    n_jobs : int or None, default=None
        Number of threads, or of processes for small data; None: as many as Numba uses.
    callback : callable or None, default=None
        Called with each row when it is finished.

    Returns
    -------
    Sweep
        Rows in the order of the grid; `best` is the one to take.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from isosne.studies.parameter_sweep import sweep
    >>> found = sweep(load_wine().data, "isolation", [8, 64], n_jobs=1)
    >>> [row["psi"] for row in found.rows]
    [8, 64]
    """
    points = check_points(X, min_rows=4)
    template = TSNE(random_state=0) if estimator is None else estimator
    tasks = _combinations(kernel, grid, points.shape[0])
    for task in tasks:  # what one map would refuse is refused before the first
        make_kernel(kernel, task)._check_parameters(points.shape[0])
    about = _describe(points, labels, kernel, template)
    done = {} if results is None else _open(Path(results), about)
    waiting = [task for task in tasks if _key(task) not in done]
    for row in _run(points, labels, kernel, template, waiting, n_jobs or n_threads()):
        done[_key({name: row[name] for name in tasks[0]})] = row
        if results is not None:
            _append(Path(results), row)
        if callback is not None:
            callback(row)
    found = Sweep(tuple(done[_key(task)] for task in tasks), measure)
    found.best_by(measure)
    return found


def _combinations(kernel: str, grid: Any, n_points: int) -> list[dict[str, Any]]:
    names = [name for name, entry in KERNELS.items() if entry.main_parameter]
    if kernel not in names:
        raise ParameterError(
            "kernel",
            f"be one of {', '.join(map(repr, names))}",
            kernel,
            "Choose one of these names.",
        )
    if grid is None:
        grid = paper_grid(n_points)
    if not isinstance(grid, Mapping):
        grid = {KERNELS[kernel].main_parameter: grid}
    values = [list(options) for options in grid.values()]
    tasks = [dict(zip(grid, chosen, strict=True)) for chosen in itertools.product(*values)]
    if not tasks:
        raise ParameterError("grid must hold at least one value; got none. Pass [16, 64, 256].")
    return tasks


def _run(
    points: Points,
    labels: Any,
    kernel: str,
    template: TSNE,
    tasks: Sequence[dict[str, Any]],
    n_workers: int,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each task, in any order."""
    if points.shape[0] > SMALL or n_workers == 1 or len(tasks) < 2:
        for task in tasks:
            yield measure_map(points, labels, kernel, template, task, n_workers)
        return
    pool = Parallel(n_workers, return_as="generator_unordered", inner_max_num_threads=1)
    yield from pool(
        delayed(measure_map)(points, labels, kernel, template, task, 1) for task in tasks
    )


def measure_map(
    points: Points, labels: Any, kernel: str, template: TSNE, task: Mapping[str, Any], n_jobs: int
) -> dict[str, Any]:
    """Return the parameters of one map and all that is measured of it."""
    model = clone(template).set_params(kernel=make_kernel(kernel, task), n_jobs=n_jobs)
    began = time.perf_counter()
    with warnings.catch_warnings():  # a grid reaches values that isolate points: rows count them
        warnings.simplefilter("ignore", IsosneWarning)
        warnings.filterwarnings("ignore", "Stopped from the keyboard", RuntimeWarning)
        Y = model.fit(points).embedding_
    seconds = time.perf_counter() - began
    metric = model.kernel_.metric_
    judged = report(
        points, Y, labels, metric=metric.name, p=metric.p, n_jobs=n_jobs, random_state=0
    )
    by_paper = auc_rnx(
        points, Y, ks="paper", metric=metric.name, p=metric.p, n_jobs=n_jobs, random_state=0
    )
    measured = {name: value for name, value in judged.as_dict().items() if name in MEASURES}
    return {
        **task,
        "kl_divergence": float(model.kl_divergence_),
        **measured,
        "auc_rnx_paper": float(by_paper),
        "n_isolated": len(model.isolated_),
        "seconds": round(seconds, 3),
    }


def _key(task: Mapping[str, Any]) -> str:
    return encode_json(task)


def _describe(points: Points, labels: Any, kernel: str, template: TSNE) -> dict[str, Any]:
    """Return what a results file must agree on to be continued."""
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


def _open(path: Path, about: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the rows of a results file, which is made if it is not there."""
    if not path.exists() or path.stat().st_size == 0:
        _append(path, about)
        return {}
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    try:
        first, *rows = [json.loads(line) for line in whole.splitlines()]
        tasks = [{name: row[name] for name in row if _is_parameter(name, row)} for row in rows]
    except (ValueError, TypeError, KeyError):
        raise DataError(
            f"A results file must hold one JSON object a line; got something else in {path}. "
            "Move it away, or name another file."
        ) from None
    if first != json.loads(encode_json(about)):
        raise DataError(
            f"The results in {path} belong to a sweep of other points or settings. "
            "Name another file."
        )
    if len(whole) < len(content):  # the last line was cut off: its map is made again
        with path.open("r+b") as file:
            file.truncate(len(whole))
    return {_key(task): row for task, row in zip(tasks, rows, strict=True)}


def _is_parameter(name: str, row: Mapping[str, Any]) -> bool:
    """Return whether a column stands before the first measure."""
    names = list(row)
    return names.index(name) < names.index("kl_divergence")


def _append(path: Path, row: Mapping[str, Any]) -> None:
    """Add a line to a file, and see that it reaches the disk."""
    with writing_to(path), path.open("ab") as file:
        file.write(encode_json(row).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
