"""Placing 10^6, 10^7 and 10^8 rows as a job: rates, memory and bookkeeping, extrapolated to 10^9.

The rows are computed from their numbers as they are placed (`isosne.sources.MixtureRows`), so the
input takes no space. A job of more rows than can be placed in the given seconds is stopped then;
its rate is that of the parts which were placed until then.
"""

import json
import resource
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.harness import in_fresh_process, table
from isosne import TSNE, PlacedFiles, Tiles, place_files
from isosne.jobs.estimate import show_seconds
from isosne.sources import MixtureRows

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


def place(n_rows: int, seconds: float | None, with_tiles: bool) -> list[Any]:
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
        tiles = Tiles(folder / "tiles", label="label") if with_tiles else None
        began = time.perf_counter()
        with suppress(TimeUpError):
            place_files(folder / "model.isosne", parts, folder / "out", tiles=tiles, callback=clock)
        took = time.perf_counter() - began
        done = clock.states[-1][1]
        records = list((folder / "out" / "_isosne" / "parts").rglob("*.json"))
        # A record of the manifest is indented by two spaces more in each of its lines.
        content = [json.dumps(json.loads(path.read_bytes()), indent=1) for path in records]
        record_bytes = sum(len(text) + 2 * text.count("\n") + 5 for text in content) / len(records)
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
        f"{record_bytes * len(parts) / 1000:.0f}",
        clock.rows_per_second,
        record_bytes,
    ]


def run(quick: bool, *, seconds: float = 60.0, full: int = 0, tiles: bool = False) -> str:
    """Return the table; jobs of up to `full` rows are not stopped."""
    sizes = (10**5, 10**6) if quick else (10**6, 10**7, 10**8)
    limits = [None if n <= full else seconds for n in sizes]
    found = [
        in_fresh_process(place, n, limit, tiles) for n, limit in zip(sizes, limits, strict=True)
    ]
    header = ["rows", "fit, s", "rows placed", "in, s", "rows per second", "peak MB"]
    header += ["bytes written per row", "manifest of all parts, kB"]
    rate, record_bytes = found[-1][-2:]
    n_parts = TARGET // MOST_ROWS
    with_tiles = ", with tiles" if tiles else ""
    title = f"### {N_FEATURES} columns, {N_LANDMARKS:,} landmarks, as jobs{with_tiles}"
    told = (
        f"Extrapolated from {sizes[-1]:,} rows: {TARGET:,} rows take "
        f"{show_seconds(TARGET / rate)} on this machine; the manifest of {n_parts:,} parts has "
        f"{record_bytes * n_parts / 1000:.0f} kB."
    )
    return f"{title}\n\n{table(header, [row[:-2] for row in found])}\n\n{told}"
