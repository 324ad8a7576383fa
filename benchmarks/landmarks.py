"""Step 1 on all rows of a file, a map of some of them, and places for the rest.

Deformed digits in the manner of MNIST8M, one byte a pixel, in a file of up to 6.4 GB that is read
and deleted again; psi 2048 and 10 000 landmarks, as in the paper.
"""

import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.harness import in_fresh_process, table
from isosne import TSNE, IsolationKernel
from isosne.datasets import write_deformed_digits
from isosne.neighbors.metric import Metric
from isosne.quality import calinski_harabasz
from isosne.sources import open_rows
from isosne.tsne.landmarks import draw_landmarks

PSI, N_LANDMARKS = 2048, 10_000
MOST_PLACED = 810_000


def job(path: str, psi: int, n_landmarks: int, n_placed: int) -> list[float]:
    """Return seconds of step 1 and of the fit, CH, rows placed a second, and peak MB."""
    rows = open_rows(path)
    labels = np.load(Path(path).with_name("digits.labels.npy"))
    warm = TSNE(IsolationKernel(32), landmarks=300, random_state=0)
    warm.fit(rows.read(slice(0, 2000))).place(rows.read(slice(0, 2000)))
    kernel = IsolationKernel(psi, n_partitions=200, random_state=0)
    start = time.perf_counter()
    rng = np.random.default_rng(0)
    drawn = draw_landmarks(rows, n_landmarks, "uniform", Metric(), rng)
    kernel._fit_pool(drawn.pool, drawn.points).cells_at_scales()
    step_1 = time.perf_counter() - start
    del drawn
    start = time.perf_counter()
    model = TSNE(kernel, landmarks=n_landmarks, random_state=0).fit(path)
    fit = time.perf_counter() - start
    ch = calinski_harabasz(model.embedding_, labels[model.landmark_indices_])
    model.transform(rows.read(slice(0, 100)))
    start = time.perf_counter()
    n_done = 0
    for places in model.place_blocks(path):
        n_done += len(places)
        if n_done >= n_placed:
            break
    speed = n_done / (time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [step_1, fit, ch, speed, peak]


def run(quick: bool) -> str:
    """Return the table."""
    sizes = (8_100, 81_000) if quick else (81_000, 810_000, 8_100_000)
    psi, n_landmarks = (256, 1_000) if quick else (PSI, N_LANDMARKS)
    found = []
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "digits.npy"
            write_deformed_digits(path, n, random_state=0)
            mb = path.stat().st_size / 1e6
            figures = in_fresh_process(job, str(path), psi, n_landmarks, MOST_PLACED)
            found.append([f"{n:,}", f"{mb:,.0f}", *figures])
    header = ["rows", "MB", "step 1, s", "fit, s", "CH", "rows placed a second", "peak MB, all"]
    title = f"### Landmarks: {n_landmarks:,} of n deformed digits, psi {psi}"
    return f"{title}\n\n{table(header, found)}"
