"""Placing 10^6, 10^7 and 10^8 rows as a job: rates and memory, extrapolated to 10^9.

The rows are computed from their numbers as they are placed (`MixtureRows`), so the
input takes no space. A job of more rows than can be placed in the given seconds is stopped then;
its rate is that of the parts which were placed until then.
"""

import resource
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.harness import in_fresh_process, table
from benchmarks.mixture import MixtureRows
from isosne import TSNE, PlacedFiles, place_files

N_LANDMARKS, N_FEATURES = 10_000, 20
TARGET = 10**9
N_PARTS = 100
MOST_ROWS = 10**6
"""Rows of a part: a hundredth of all, at most a million."""


class TimeUpError(Exception):
    """Stops a job."""


class Clock:
    """Stops a job after some seconds; counts from the end of the first part."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self.states: list[tuple[float, PlacedFiles]] = []

    def __call__(self, state: PlacedFiles) -> None:
        """Take note of a part that is placed."""
        self.states.append((time.perf_counter(), state))
        elapsed = self.states[-1][0] - self.states[0][0]
        if self._seconds is not None and elapsed > self._seconds:
            raise TimeUpError

    @property
    def rows_per_second(self) -> float:
        """Rate of the parts after the first, in which compiled functions are loaded."""
        (began, first), (ended, last) = self.states[1], self.states[-1]
        return (last.n_rows - first.n_rows) / (ended - began)


def place(n_rows: int, seconds: float | None) -> list[Any]:
    """Return the figures of a job of n rows that is stopped after some seconds, None: never."""
    rows = MixtureRows(n_rows, N_FEATURES)
    began = time.perf_counter()
    model = TSNE(landmarks=N_LANDMARKS, random_state=0).fit(rows)
    fit_seconds = time.perf_counter() - began
    parts = rows.split(min(MOST_ROWS, n_rows // N_PARTS))
    clock = Clock(seconds)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model.save(folder / "model.isosne")
        began = time.perf_counter()
        with suppress(TimeUpError):
            place_files(folder / "model.isosne", parts, folder / "out", callback=clock)
        took = time.perf_counter() - began
        done = clock.states[-1][1]
        written = sum(path.stat().st_size for path in (folder / "out").glob("*.parquet"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        f"{n_rows:,}",
        fit_seconds,
        f"{done.n_rows:,}",
        took,
        f"{clock.rows_per_second:,.0f}",
        f"{peak:.0f}",
        f"{written / done.n_rows:.1f}",
        clock.rows_per_second,
    ]


def run(quick: bool, *, seconds: float = 60.0, full: int = 0) -> str:
    """Return the table; jobs of up to `full` rows are not stopped."""
    sizes = (10**5, 10**6) if quick else (10**6, 10**7, 10**8)
    limits = [None if n <= full else seconds for n in sizes]
    jobs = [in_fresh_process(place, n, limit) for n, limit in zip(sizes, limits, strict=True)]
    header = ["rows", "fit, s", "rows placed", "in, s", "rows per second", "peak MB"]
    header += ["bytes written per row"]
    rate = jobs[-1][-1]
    title = f"### {N_FEATURES} columns, {N_LANDMARKS:,} landmarks, as jobs"
    told = (
        f"Extrapolated from {sizes[-1]:,} rows: {TARGET:,} rows take "
        f"{TARGET / rate / 3600:.2g} hours on this machine."
    )
    return f"{title}\n\n{table(header, [row[:-1] for row in jobs])}\n\n{told}"
