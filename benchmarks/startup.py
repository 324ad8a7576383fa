"""What a user waits for before anything is computed."""

import os
import subprocess
import sys
import tempfile
import time

from benchmarks.harness import table

CASES = {
    "import numba, sklearn.neighbors": "import numba, sklearn.neighbors",
    "import isosne": "import isosne",
    "import all of isosne": "from isosne import *",
    "first similarity, digits": (
        "from isosne import IsolationKernel\n"
        "from sklearn.datasets import load_digits\n"
        "IsolationKernel(64).fit(load_digits().data).similarity()"
    ),
}


def seconds(code: str, cache: str) -> float:
    """Return the wall time of a new interpreter that runs the code."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return time.perf_counter() - start


def run(quick: bool) -> str:
    """Return the table: with an empty Numba cache, then the best of three with a full one."""
    rows = []
    for name, code in CASES.items():
        with tempfile.TemporaryDirectory() as cache:
            cold = seconds(code, cache)
            rows.append([name, cold, min(seconds(code, cache) for _ in range(1 if quick else 3))])
    header = ["new interpreter", "empty cache, s", "again, s"]
    return f"### Start\n\n{table(header, rows)}"
