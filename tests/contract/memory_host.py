"""Measure the peak memory of fits against their plans.

``python -m tests.contract.memory_host`` prints a table of all cases, each measured in a process of
its own; with the name of a case it prints the plan and the peak of that case as JSON. The peak is
the resident memory beyond that before the fit. A fit of few points comes first, so that compiled
code is loaded and all threads are started: what they take is not part of a plan.
"""

import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow
from scipy.sparse import csr_array

from isosne import (
    TSNE,
    GaussianKernel,
    IsolationKernel,
    NeRV,
    OwnerKernel,
    Schedule,
    Sparse,
    nearest_neighbors,
)

N_FEW = 1500
# Sparse affinities are sorted along a curve at steps 50 and 300, from one copy to the next.
STEPS = Schedule.annealed(n_iter=310)
FEW_STEPS = Schedule.annealed(n_iter=160)


class Case(NamedTuple):
    """A fit: number of rows and columns, parameters of `TSNE`, and what holds the rows."""

    n: int
    d: int
    settings: Mapping[str, Any] = MappingProxyType({})
    source: str = "array"


DRAWN, EXACT = IsolationKernel(n_partitions=200), IsolationKernel(n_partitions="exact")
CELLS, GAUSSIAN = IsolationKernel(64, n_partitions=200), GaussianKernel(30)
SPARSE, DENSE, SAMPLED = ({"affinities": form} for form in ("sparse", "dense", "sampled"))
CASES = {
    "owner, 5,000 x 50": Case(5000, 50),
    "owner, 9,000 x 784": Case(9000, 784),
    "owner, 9,000 x 784, float32": Case(9000, 784, source="float32"),
    "owner, 40,000 x 20": Case(40_000, 20),
    "owner, 40,000 x 20, 3-D": Case(40_000, 20, {"n_components": 3, "schedule": FEW_STEPS}),
    "owner, 100,000 x 50": Case(100_000, 50),
    "owner, spectral, 20,000 x 20": Case(20_000, 20, {"start": "spectral"}),
    "owner, tree, 40,000 x 20": Case(40_000, 20, {"forces": "tree"}),
    "owner, mesh, 25,000 x 20, 3-D": Case(25_000, 20, {"forces": "mesh", "n_components": 3}),
    "owner, CSR, 10,000 x 20,000": Case(10_000, 20_000, source="csr"),
    "owner, distances, 4,000": Case(
        4000, 20, {"kernel": OwnerKernel(metric="precomputed")}, "distances"
    ),
    "owner, listed distances, 20,000": Case(
        20_000, 20, {"kernel": OwnerKernel(metric="precomputed")}, "listed"
    ),
    "owner, frame, 40,000 x 50": Case(40_000, 50, source="frame"),
    "owner, mixed table, 10,000 x 20": Case(10_000, 20, source="mixed"),
    "owner, npy, 20,000 x 300": Case(20_000, 300, source="npy"),
    "owner, csv, 20,000 x 100": Case(20_000, 100, source="csv"),
    "owner, parquet, 20,000 x 300": Case(20_000, 300, source="parquet"),
    "owner, landmarks, npy, 100,000 x 100": Case(100_000, 100, {"landmarks": 10_000}, "npy"),
    "Gaussian, dense, 6,000 x 784": Case(6000, 784, {"kernel": GAUSSIAN, **DENSE}),
    "Gaussian, dense, two scales, 5,000 x 20": Case(
        5000, 20, {"kernel": GaussianKernel([10, 100]), **DENSE}
    ),
    "Gaussian, sparse, 40,000 x 20": Case(40_000, 20, {"kernel": GAUSSIAN, **SPARSE}),
    "NeRV, dense, 3,000 x 20": Case(3000, 20, {"objective": NeRV(0.9)}),
    "isolation, dense, 6,000 x 784": Case(6000, 784, {"kernel": DRAWN, **DENSE}),
    "isolation, forest, 6,000 x 50": Case(
        6000, 50, {"kernel": IsolationKernel(256, n_partitions=200, partition="forest"), **DENSE}
    ),
    "isolation, closed form, 8,000 x 784": Case(8000, 784, {"kernel": EXACT, **SPARSE}),
    "isolation, closed form, 100,000 x 50": Case(100_000, 50, {"kernel": EXACT, **SPARSE}),
    "isolation, sampled, 7,000 x 784": Case(7000, 784, {"kernel": CELLS, **SAMPLED}),
    "isolation, sampled, 100,000 x 50": Case(
        100_000,
        50,
        {"kernel": IsolationKernel(1000, n_partitions=200), **SAMPLED, "schedule": FEW_STEPS},
    ),
    "affinities, dense, 4,000": Case(4000, 20, {"kernel": "precomputed"}, "distances"),
    "affinities, CSR, 20,000": Case(20_000, 20, {"kernel": "precomputed"}, "listed"),
}


def points(n, n_features):
    """Return ten clusters, made in parts so that no more than they take was ever in use."""
    rng = np.random.default_rng(0)
    centers, X = rng.normal(0, 5, (10, n_features)), np.empty((n, n_features))
    for start in range(0, n, 1000):
        part = X[start : start + 1000]
        part[:] = centers[rng.integers(0, 10, len(part))] + rng.normal(size=part.shape)
    return X


def sparse_points(n, n_features, n_entries=60):
    """Return rows with few entries each."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, n_features, (n, n_entries), np.int32), axis=1)
    starts = np.arange(0, n * n_entries + 1, n_entries, dtype=np.int32)
    X = csr_array((rng.random(n * n_entries), columns.ravel(), starts), shape=(n, n_features))
    X.sum_duplicates()
    return X


def mixed_table(n, n_columns):
    """Return a table of numbers and words."""
    rng = np.random.default_rng(0)
    columns = {f"n{i}": rng.normal(size=n) for i in range(n_columns // 2)}
    words = [f"w{i}" for i in range(12)]
    return pd.DataFrame(columns | {f"c{i}": rng.choice(words, n) for i in range(n_columns // 2)})


def make_source(kind, n, d, folder):
    """Return the input of a fit."""
    if kind == "csr":
        return sparse_points(n, d)
    if kind == "mixed":
        return mixed_table(n, d)
    X = points(n, d)
    if kind == "float32":
        return X.astype(np.float32)
    if kind == "frame":
        return pd.DataFrame(X).add_prefix("c")
    if kind == "distances":
        return np.sqrt(((X[:, None, :2] - X[:, :2]) ** 2).sum(axis=2))
    if kind == "listed":
        found = nearest_neighbors(X, 100, method="approximate")
        starts = np.arange(0, n * 100 + 1, 100)
        graph = csr_array(
            (found.distances.ravel().astype(float), found.indices.ravel(), starts), shape=(n, n)
        )
        return graph.maximum(graph.T).tocsr()
    path = folder / f"{n}.{kind}"
    if kind == "npy":
        np.save(path, X)
    elif kind == "csv":
        pd.DataFrame(X).add_prefix("c").to_csv(path, index=False)
    elif kind == "parquet":
        pd.DataFrame(X).add_prefix("c").to_parquet(path)
    return path if kind in ("npy", "csv", "parquet") else X


def memory(entry):
    """Return an entry of the status of this process, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(entry)).split()[1])


def reset():
    """Return the memory in use, and let the peak begin there."""
    gc.collect()
    pyarrow.default_memory_pool().release_unused()  # what a plan and a warm-up have read
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return memory("VmRSS")


def warm_up(case, plan, folder):
    """Map few rows as the plan does."""
    settings = {"affinities": plan.affinities, "forces": plan.forces}
    if plan.neighbors:
        settings["affinities"] = Sparse(neighbors=plan.neighbors)
    few = TSNE(**{"random_state": 0, **case.settings, **settings, "schedule": FEW_STEPS})
    if few.landmarks:
        few.set_params(landmarks=N_FEW // 2)
    few.fit(make_source(case.source, N_FEW, case.d, folder))


def measure(case):
    """Return the plan, the peak of a fit, and that of a transform of as many rows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = TSNE(**{"schedule": STEPS, "random_state": 0, **case.settings})
        X = make_source(case.source, case.n, case.d, folder)
        plan = model.plan(X)
        warm_up(case, plan, folder)
        before = reset()
        model.fit(X)
        peak = memory("VmHWM") - before
    return {"planned": plan.bytes_needed, "peak": peak}


def run(name, n_threads=2):
    """Measure a case in a process of its own."""
    n = str(n_threads)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.contract.memory_host", name],
        env=os.environ | {"NUMBA_NUM_THREADS": n, "OPENBLAS_NUM_THREADS": n},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def main():
    """Print a case as JSON, or a table of all."""
    if len(sys.argv) > 1:
        sys.stdout.write(json.dumps(measure(CASES[sys.argv[1]])))
        return
    for name in CASES:
        found = run(name)
        planned, peak = found["planned"] / 1e6, found["peak"] / 1e6
        sys.stdout.write(f"{name:<45} {peak:8.0f} {planned:8.0f} {planned / peak:6.2f}\n")


if __name__ == "__main__":
    main()
