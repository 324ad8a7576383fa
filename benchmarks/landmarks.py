"""A map of some rows of a file, and coordinates for the others: growth, rate and quality.

Growth: deformed digits in the manner of MNIST8M, one byte per pixel, in a file of up to 6.4 GB that
is read and deleted again. Quality: rows placed from landmarks beside a map of all rows.
"""

import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.digits import write_deformed_digits
from benchmarks.harness import in_fresh_process, table
from benchmarks.kernels import read
from isosne import TSNE
from isosne.quality import calinski_harabasz, compare
from isosne.rows import open_rows
from isosne.tsne.place import placed_blocks

N_LANDMARKS = 10_000
MOST_PLACED = 810_000
N_QUERIES = 3000
"""Points whose neighborhoods are compared."""


def grow(path: str, n_landmarks: int, n_placed: int) -> list[float]:
    """Return seconds of the fit, CH, rows placed per second, and peak MB."""
    rows = open_rows(path)
    labels = np.load(Path(path).with_name("digits.labels.npy"))
    few = rows.read(slice(0, 6000))
    TSNE(landmarks=5000, random_state=0).fit(few).place(few)
    start = time.perf_counter()
    model = TSNE(landmarks=n_landmarks, random_state=0).fit(path)
    fit = time.perf_counter() - start
    ch = calinski_harabasz(model.embedding_, labels[model.landmark_indices_])
    model.transform(rows.read(slice(0, 100)))
    start = time.perf_counter()
    n_done = 0
    for places in placed_blocks(model, rows):
        n_done += len(places)
        if n_done >= n_placed:
            break
    speed = n_done / (time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [fit, ch, speed, peak]


def place(name: str, counts: list[int]) -> list[list[Any]]:
    """Return a row per number of landmarks: seconds, rows per second, quality and density."""
    X, _ = read(name)
    TSNE(landmarks=5000, random_state=0).fit(X[:6000]).place(X[:6000])
    marked = np.arange(0, len(X), len(X) // counts[0])  # stand for landmarks on the map of all rows
    found = [["all rows", *judge(X, TSNE(random_state=0), marked)]]
    for count in counts:
        found.append([f"{count:,}", *judge(X, TSNE(landmarks=count, random_state=0))])
    return found


def judge(X: Any, model: TSNE, marked: np.ndarray | None = None) -> list[Any]:
    """Return the figures of a map of all rows, or of landmarks if no rows are marked."""
    start = time.perf_counter()
    Y = model.fit(X).embedding_
    seconds, rate = time.perf_counter() - start, "-"
    if marked is None:
        marked = model.landmark_indices_
        model.place(X[:1000])
        start = time.perf_counter()
        Y = model.place(X)
        rate = f"{len(X) / (time.perf_counter() - start):,.0f}"
    compared = compare(X, Y, n_queries=N_QUERIES, random_state=0)
    curve = compared.curve()
    quality = [curve.r[curve.k == k][0] for k in (10, 100)]
    return [seconds, rate, compared.auc().value, *quality, *nearest_mark(Y, marked)]


def nearest_mark(Y: np.ndarray, marked: np.ndarray) -> list[float]:
    """Return percentiles 10, 50, 90 of the distance from other rows to the nearest landmark.

    In units of the median distance between a landmark and the next; 0.39, 1 and 1.8 if rows are
    spread evenly.
    """
    landmarks = cKDTree(Y[marked])
    spacing = np.median(landmarks.query(Y[marked], 2)[0][:, 1])
    others = np.delete(np.arange(len(Y)), marked)
    return list(np.percentile(landmarks.query(Y[others])[0] / spacing, [10, 50, 90]))


def run(quick: bool) -> str:
    """Return the tables."""
    sizes = (8_100, 81_000) if quick else (81_000, 810_000, 8_100_000)
    n_landmarks = 1_000 if quick else N_LANDMARKS
    found = []
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "digits.npy"
            write_deformed_digits(path, n, random_state=0)
            mb = path.stat().st_size / 1e6
            figures = in_fresh_process(grow, str(path), n_landmarks, MOST_PLACED)
            found.append([f"{n:,}", f"{mb:,.0f}", *figures])
    header = ["rows", "MB", "fit, s", "CH", "rows placed per second", "peak MB"]
    growth = f"### {n_landmarks:,} landmarks of n deformed digits\n\n{table(header, found)}"
    name, counts = ("usps", [1_500]) if quick else ("mnist70k", [10_000, 20_000, 35_000, 50_000])
    placed = in_fresh_process(place, name, counts)
    header = ["landmarks", "fit, s", "rows placed per second", "AUC_RNX", "R(10)", "R(100)"]
    header += ["to landmark, p10", "p50", "p90"]
    return f"{growth}\n\n### All rows of {name} placed from landmarks\n\n{table(header, placed)}"
