"""Estimate what placing many rows costs, from rates that are measured on this machine."""

import io
from dataclasses import asdict, dataclass
from time import perf_counter as now
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack
from sklearn.base import clone

from isosne._types import Array, Points
from isosne.files.sinks import AXES, Block, Layout, ParquetSink
from isosne.layout.schedules import Phase, Schedule
from isosne.sources import Rows
from isosne.tsne.estimator import TSNE
from isosne.tsne.fitted_map import PLACE_BYTES
from isosne.tsne.landmarks import Landmarks, as_landmarks
from isosne.tsne.memory_budget import size
from isosne.tsne.new_points import BLOCK_BYTES

MOST_LANDMARKS = 20_000
"""Largest number of landmarks in the measurement, which bounds its time. Chosen: beyond, the
search for the nearest landmarks grows slowly."""
FEWEST, FIRST_LANDMARKS = 300, 2_500
"""Number of landmarks for loading compiled functions, and in the first measurement; the latter is
doubled while there is time."""
SECONDS, READ_SECONDS, PLACE_SECONDS = 10.0, 2.0, 2.0
"""Seconds of the whole measurement at most, of reading, and of placing."""
GROWTH = 3.0
"""Largest factor by which preparing the search takes longer with twice the landmarks. Chosen: it is
2.1 to 2.4."""
FEW_ROWS = 1_000
"""Rows that are read or placed at a time."""
MAP_STD = 0.9
"""Standard deviation of a finished map, in units of the square root of the number of its points:
0.88 for 6,000 points in five clusters. The rate depends little on it: 13.4 microseconds per row on
a map of width 0.35, 12.3 on the finished map."""
BASE_BYTES = 330_000_000
"""Memory of Python, the libraries and compiled code (docs/large-data.md)."""


@dataclass(frozen=True)
class PlacingPlan:
    """The cost of placing rows, extrapolated from a measurement on one core.

    Parameters
    ----------
    n_rows, n_workers : int
        Number of rows, and of processes with one core each.
    read_seconds, place_seconds, write_seconds : float
        Seconds per row.
    worker_bytes : int
        Memory per worker.
    read_bytes, written_bytes : int
        Bytes of the input, and of the coordinates as Parquet.
    n_measured, n_landmarks : int
        Number of rows that were placed to measure, and of landmarks on their map.
    """

    n_rows: int
    n_workers: int
    read_seconds: float
    place_seconds: float
    write_seconds: float
    worker_bytes: int
    read_bytes: int
    written_bytes: int
    n_measured: int
    n_landmarks: int

    @property
    def seconds(self) -> float:
        """Time of the whole, if all workers are as fast as this machine."""
        per_row = self.read_seconds + self.place_seconds + self.write_seconds
        return per_row * self.n_rows / self.n_workers

    def as_dict(self) -> dict[str, Any]:
        """Return all values by name."""
        return asdict(self) | {"seconds": self.seconds}

    def __str__(self) -> str:
        parts = zip(
            ("read", "place", "write"),
            (self.read_seconds, self.place_seconds, self.write_seconds),
            strict=True,
        )
        rates = ", ".join(f"{name} {1e6 * seconds:.2f}" for name, seconds in parts)
        lines = {
            "placing": f"{self.n_rows:,} rows by {self.n_workers:,} worker(s) with one core each",
            "time": f"{show_seconds(self.seconds)}, if all cores are as fast as those here",
            "rate": f"microseconds per row, measured here: {rates} ({self.n_measured:,} rows, "
            f"{self.n_landmarks:,} landmarks)",
            "workers": f"about {size(self.worker_bytes)} of memory each",
            "reads": size(self.read_bytes),
            "writes": f"{size(self.written_bytes)} of coordinates as Parquet",
        }
        return "\n".join(f"{name:<12}{line}" for name, line in lines.items())


def plan_placing(
    estimator: TSNE, rows: Rows, n_rows: int, n_workers: int, *, stored_bytes: int
) -> PlacingPlan:
    """Measure how fast this machine places rows, for some seconds, and extrapolate.

    Parameters
    ----------
    estimator : TSNE
        The parameters of the map, with landmarks.
    rows : Rows
        The input, or part of it.
    n_rows, n_workers : int
        Number of rows to place, and of processes with one core each.
    stored_bytes : int
        Bytes that `rows` take where they are stored.

    Returns
    -------
    PlacingPlan
        Time, memory, and bytes read and written.

    Notes
    -----
    No map is computed. The landmarks are the first rows, at most 20,000, and their map is that of
    the principal components, with the width of a finished map. The measurement takes at most ten
    seconds, plus the time of compiling on the first use: there are fewer landmarks and rows if the
    machine or the source is slow.
    """
    began = now()
    landmarks = as_landmarks(estimator.landmarks)
    assert landmarks is not None  # checked where the estimator was made
    n_landmarks = min(landmarks.n, MOST_LANDMARKS, rows.shape[0])
    points, read_seconds = _read_for_a_while(rows, n_landmarks)
    model, n_measured = _largest_map(estimator, points, n_landmarks, began)
    places, place_seconds = _place_for_a_while(model, points)
    n_written, write_seconds = _write(places)
    return PlacingPlan(
        n_rows=n_rows,
        n_workers=n_workers,
        read_seconds=read_seconds,
        place_seconds=place_seconds,
        write_seconds=write_seconds,
        worker_bytes=BASE_BYTES + 12 * landmarks.n * rows.shape[1] + BLOCK_BYTES + 2 * PLACE_BYTES,
        read_bytes=round(stored_bytes / rows.shape[0] * n_rows),
        written_bytes=round(n_written / len(places) * n_rows),
        n_measured=len(places),
        n_landmarks=n_measured,
    )


def _read_for_a_while(rows: Rows, n_landmarks: int) -> tuple[Points, float]:
    """Return the first rows, and the seconds per row."""
    wanted = min(rows.shape[0], n_landmarks + max(1, PLACE_BYTES // rows.row_bytes))
    parts: list[Points] = []
    began, n_read = now(), 0
    while n_read < wanted and (n_read == 0 or now() - began < READ_SECONDS):
        parts.append(rows.read(slice(n_read, min(n_read + FEW_ROWS, wanted))))
        n_read += parts[-1].shape[0]
    seconds = (now() - began) / n_read
    points: Points = csr_array(vstack(parts)) if issparse(parts[0]) else np.concatenate(parts)
    return points, seconds


def _largest_map(
    estimator: TSNE, points: Points, n_landmarks: int, began: float
) -> tuple[TSNE, int]:
    """Return a model with as many landmarks as there is time for, and their number."""
    n_landmarks = min(n_landmarks, points.shape[0])
    _unfinished_map(estimator, points, min(FEWEST, n_landmarks)).place(points[:1])
    n = min(FIRST_LANDMARKS, n_landmarks)
    while True:
        start = now()
        model = _unfinished_map(estimator, points, n)
        model.place(points[:1])  # prepares the search
        took = now() - start
        left = SECONDS - PLACE_SECONDS - (now() - began)
        if n == n_landmarks or GROWTH * took > left:
            return model, n
        n = min(2 * n, n_landmarks)


def _unfinished_map(estimator: TSNE, points: Points, n_landmarks: int) -> TSNE:
    """Return a model whose map is that of the principal components, as wide as a finished one."""
    one_step = Schedule((Phase(1),))
    model: TSNE = clone(estimator)
    model.set_params(landmarks=Landmarks(n_landmarks), schedule=one_step, start="pca")
    model.fit(points)
    width = MAP_STD * np.sqrt(n_landmarks)
    model.embedding_ = (model.embedding_ * (width / model.embedding_.std())).astype(np.float32)
    return model.set_params(n_jobs=1)  # type: ignore[no-any-return]  # of scikit-learn


def _place_for_a_while(model: TSNE, points: Points) -> tuple[Array, float]:
    """Return the places of some rows, and the seconds per row on one core."""
    found: list[Array] = []
    began, n_placed, n = now(), 0, FEW_ROWS
    while True:  # more rows each time, as many rows at a time are placed faster
        start = now()
        found.append(model.place(points[n_placed : n_placed + n]))
        took = now() - start
        n_placed, n = n_placed + len(found[-1]), 2 * n
        if n_placed == points.shape[0] or now() - began + 2 * took > PLACE_SECONDS:
            return np.concatenate(found), took / len(found[-1])


def _write(places: Array) -> tuple[int, float]:
    """Return the bytes of places as Parquet, and the seconds per row."""
    file = io.BytesIO()
    began = now()
    sink = ParquetSink(file, Layout((), AXES[: places.shape[1]], ""))
    sink.write(Block((), places))
    sink.finish()
    return file.tell(), (now() - began) / len(places)


def show_seconds(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    for unit, length in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} seconds"
