"""Times of a mixed table beside a numeric one of the same size."""

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import in_fresh_process, table, timed

N_COLUMNS, N_GROUPS, N_BINS, GAPS = 30, 40, 8, 0.05


def make(n: int) -> tuple[np.ndarray, pd.DataFrame]:
    """Return n rows in groups: numbers; and a table, half of it binned, with 5 % of gaps."""
    rng = np.random.default_rng(0)
    centers = 3 * rng.normal(size=(N_GROUPS, N_COLUMNS))
    X = centers[rng.integers(0, N_GROUPS, n)] + rng.normal(size=(n, N_COLUMNS))
    frame = pd.DataFrame(X, columns=[f"c{c}" for c in range(N_COLUMNS)])
    for name in frame.columns[: N_COLUMNS // 2]:
        frame[name] = pd.cut(frame[name], N_BINS).astype(str)
    return X, frame.mask(rng.random(frame.shape) < GAPS)


def fit(n: int, is_mixed: bool) -> tuple[float, float]:
    """Return seconds and peak MB of a map; the loops were compiled on few rows before."""
    from isosne import TSNE, Schedule

    for size in (2_000, 20_000):  # both searches
        TSNE(random_state=0, schedule=Schedule.annealed(n_iter=260)).fit(make(size)[is_mixed])
    data = make(n)[is_mixed]
    seconds, peak, _ = timed(lambda: TSNE(random_state=0).fit(data))
    return seconds, peak


def measure(n: int) -> list[dict[str, Any]]:
    """Return seconds and peak memory of both."""
    found = []
    for name, is_mixed in (("numeric", False), ("mixed", True)):
        seconds, peak = in_fresh_process(fit, n, is_mixed)
        found.append({"table": name, "n": n, "seconds": seconds, "peak_mb": peak})
    return found


def show(found: list[dict[str, Any]]) -> str:
    """Return the times in a table."""
    numeric = found[0]["seconds"]
    rows = [
        [f"{f['n']:,} x {N_COLUMNS}, {f['table']}", f["seconds"], f["seconds"] / numeric]
        for f in found
    ]
    return table(["table", "seconds", "ratio"], rows)
