"""Run one method in a process of its own, and say what it took.

The parent writes X.npy to a folder and starts ``python -m benchmarks.peers.child KEY FOLDER
THREADS SEEDS``; the child writes a map per seed, maps.npy, and took.json there. Thread counts are
in its environment before anything is imported, and its Numba cache is empty: no method gains from
an earlier run.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.harness import release_memory, timed
from benchmarks.peers.methods import METHODS

FIRST_ROWS = 2000
"""Rows of the first call: import, compilation and a small map."""
PREPARED_ROWS = 30_000
"""Rows of the second, if there are so many: more than any size at which a method takes another way
(isosne: 20 000), so that all which the timed calls run is compiled."""
THREADS = [f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA")]


class ChildError(Exception):
    """A method did not give a map; the message says why in a few words."""


def fit_in_child(
    key: str, X: np.ndarray, threads: int, n_seeds: int = 1
) -> tuple[dict[str, Any], np.ndarray]:
    """Return what a method took, and its maps (n_seeds, n, 2).

    It took ``seconds`` of each seed, ``warm_seconds``, their median, ``cold_seconds`` for a first
    call, and ``peak_mb`` at most.
    """
    root = Path(__file__).parents[2]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "X.npy", X)
        environment = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
        environment["NUMBA_CACHE_DIR"] = str(folder / "numba")
        options = [key, name, str(threads), str(n_seeds)]
        command = [sys.executable, "-m", "benchmarks.peers.child", *options]
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise ChildError(reason(done.returncode, done.stderr))
        return json.loads((folder / "took.json").read_text()), np.load(folder / "maps.npy")


def reason(code: int, errors: str) -> str:
    """Return why a process failed, in a few words."""
    if code < 0:
        return f"killed by signal {-code}" + (", out of memory?" if code == -9 else "")
    words = errors.strip().splitlines()[-1] if errors.strip() else f"exit code {code}"
    if words.startswith("ModuleNotFoundError"):
        return "not installed: " + words.split(":", 1)[1].strip()
    return words if len(words) <= 100 else words[:97] + "..."


def take_time(
    key: str, X: np.ndarray, threads: int, n_seeds: int
) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Return what the method takes in this process, and its maps of all of X."""
    method = METHODS[key]
    start = time.perf_counter()
    method.fit(X[:FIRST_ROWS], threads, 0)
    cold = time.perf_counter() - start
    if method.prepare is not None and len(X) > FIRST_ROWS:
        method.prepare(X[:PREPARED_ROWS], threads, 0)
    seconds, peaks, maps = [], [], []
    for seed in range(n_seeds):
        release_memory()
        took, peak_mb, Y = timed(partial(method.fit, X, threads, seed))
        seconds.append(took)
        peaks.append(peak_mb)
        maps.append(Y)
    figures = {"cold_seconds": cold, "warm_seconds": median(seconds), "seconds": seconds}
    return {**figures, "peak_mb": max(peaks)}, maps


def main() -> None:
    """Run in the child."""
    key, name, threads, n_seeds = sys.argv[1:]
    folder = Path(name)
    took, maps = take_time(key, np.load(folder / "X.npy"), int(threads), int(n_seeds))
    np.save(folder / "maps.npy", np.asarray(maps, np.float32))
    (folder / "took.json").write_text(json.dumps(took))


if __name__ == "__main__":
    main()
