"""Measure the peak memory of a fit in this process: `python -m tests.contract.memory_host NAME`.

Prints the plan and the peak, in bytes. The peak is the resident memory beyond that before the fit.
A fit of few points comes first, so that compiled code is loaded and all threads are started: what
they take is not part of a plan. With `--limit FACTOR`, the fit gets no more address space than the
process has then, and FACTOR times the plan.
"""

import ctypes
import gc
import json
import resource
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np

from isosne import TSNE, GaussianKernel, IsolationKernel, Sparse
from isosne._blocks import single_threaded_blas
from isosne._numba import n_threads
from isosne.layout.schedules import Phase, Schedule

N_FEW = 1500
# Neighbor lists are sorted along a curve at steps 50 and 300, from one copy to another.
FEW_STEPS, SOME_STEPS, MANY_STEPS = (
    Schedule((Phase(n_iter, exaggeration=4, step=20),)) for n_iter in (3, 52, 310)
)
ISOLATION, EXACT = IsolationKernel(), IsolationKernel(n_partitions="exact")
CELLS, GAUSSIAN = IsolationKernel(64), GaussianKernel(30)

# Name: number of rows and columns, and the parameters of TSNE.
FITS = {
    "default, 784 columns, 2-D": (9000, 784, {}),
    "default, 20 columns, 2-D": (40_000, 20, {"schedule": SOME_STEPS, "start": 30}),
    "default, 20 columns, 3-D": (25_000, 20, {"n_components": 3}),
    "dense, isolation, 20 columns, 2-D": (6000, 20, {"kernel": ISOLATION}),
    "dense, isolation, 784 columns, 3-D": (4000, 784, {"kernel": ISOLATION, "n_components": 3}),
    "dense, Gaussian, 784 columns, 2-D": (3500, 784, {"kernel": GAUSSIAN}),
    "dense, Gaussian, 20 columns, 3-D": (4500, 20, {"kernel": GAUSSIAN, "n_components": 3}),
    "sparse, isolation, 784 columns, 2-D": (
        8000,
        784,
        {"kernel": EXACT, "affinities": "sparse"},
    ),
    "sparse, isolation, 20 columns, 3-D": (
        14_000,
        20,
        {"kernel": EXACT, "affinities": "sparse", "n_components": 3},
    ),
    "sparse, Gaussian, 784 columns, 3-D": (
        12_000,
        784,
        {"kernel": GAUSSIAN, "affinities": "sparse", "n_components": 3},
    ),
    "sparse, Gaussian, 20 columns, 2-D": (
        12_000,
        20,
        {"kernel": GAUSSIAN, "affinities": "sparse", "schedule": MANY_STEPS, "start": 15},
    ),
    "sampled, isolation, 20 columns, 2-D": (
        25_000,
        20,
        {"kernel": CELLS, "affinities": "sampled"},
    ),
    "sampled, isolation, 784 columns, 3-D": (
        7000,
        784,
        {"kernel": CELLS, "affinities": "sampled", "n_components": 3},
    ),
    "landmarks of a file, isolation, 784 columns, 2-D": (
        15_000,
        784,
        {"kernel": CELLS, "landmarks": 4000},
    ),
    "landmarks, Gaussian, 20 columns, 3-D": (
        100_000,
        20,
        {"kernel": GAUSSIAN, "landmarks": 4500, "n_components": 3},
    ),
    "approximate search, isolation, 200 columns, 2-D": (21_000, 200, {"kernel": ISOLATION}),
    "mesh, Gaussian, 20 columns, 3-D": (
        8000,
        20,
        # The start is as wide as a map can be until a tree replaces the mesh.
        {
            "kernel": GAUSSIAN,
            "affinities": "sparse",
            "forces": "mesh",
            "n_components": 3,
            "start": 5.3,
        },
    ),
}
RESERVED_BYTES = 72 * 2**20
"""Addresses that a thread may reserve without using memory: 8 MB for its stack, and 64 MB for an
arena of glibc, which it gets by chance. The peak of the memory in use is compared with the plan."""


def points(n, n_features):
    """Return ten clusters, made in parts so that no more than they take was ever in use."""
    rng = np.random.default_rng(0)
    centers, X = rng.normal(0, 5, (10, n_features)), np.empty((n, n_features))
    for start in range(0, n, 1000):
        part = X[start : start + 1000]
        part[:] = centers[rng.integers(0, 10, len(part))] + rng.normal(size=part.shape)
    return X


def make(name, n):
    """Return an unfitted TSNE for n rows."""
    settings = {"schedule": FEW_STEPS, "random_state": 0} | FITS[name][2]
    if "start" in settings:  # as wide as a map is at the end, when a mesh is largest
        size = n, settings.get("n_components", 2)
        settings["start"] = np.random.default_rng(0).normal(0, settings["start"], size)
    return TSNE(**settings)


def start_all(name, X, plan):
    """Map few rows as the plan does, and let every thread multiply matrices at the same time."""
    few = make(name, N_FEW).set_params(affinities=plan.affinities, forces=plan.forces)
    few.set_params(schedule=SOME_STEPS)
    if plan.neighbors:
        few.set_params(affinities=Sparse(neighbors=plan.neighbors))
    if few.landmarks:
        few.set_params(landmarks=N_FEW // 2)
    few.fit(X[:N_FEW])
    barrier, matrix = Barrier(n_threads()), np.ones((300, 300))

    def multiply(_):
        barrier.wait()
        return [matrix @ matrix for _ in range(20)]

    with single_threaded_blas(), ThreadPoolExecutor(n_threads()) as pool:
        list(pool.map(multiply, range(n_threads())))


def memory(entry):
    """Return an entry of the status of this process, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(entry)).split()[1])


def main(name, limit=None):
    """Print the plan and the peak of a fit."""
    n, n_features, _ = FITS[name]
    X = points(n, n_features)
    with tempfile.TemporaryDirectory() as folder:
        source = X
        if "file" in name:
            source = Path(folder) / "points.npy"
            np.save(source, X)
        plan = make(name, n).plan(source)
        start_all(name, X, plan)
        if "file" in name:
            del X
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        before = memory("VmRSS")
        if limit:
            most = memory("VmSize") + int(float(limit) * plan.bytes_needed)
            most += plan.n_threads * RESERVED_BYTES
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # resets VmHWM
        make(name, n).fit(source)
        sys.stdout.write(
            json.dumps({"planned": plan.bytes_needed, "peak": memory("VmHWM") - before})
        )


if __name__ == "__main__":
    main(*(argument for argument in sys.argv[1:] if argument != "--limit"))
