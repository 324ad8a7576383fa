"""What a user waits for before anything is computed."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import table
from isosne import datasets

CASES = {
    "import numba, sklearn.neighbors": "import numba, sklearn.neighbors",
    "import isosne": "import isosne",
    "import all of isosne": "from isosne import *",
    "first similarity, digits": (
        "from isosne import IsolationKernel\n"
        "from sklearn.datasets import load_digits\n"
        "IsolationKernel(64).fit(load_digits().data).similarity()"
    ),
    "from isosne import TSNE": "from isosne import TSNE",
    "first map, wine": (
        "from isosne import TSNE\n"
        "from sklearn.datasets import load_wine\n"
        "TSNE(random_state=0).fit(load_wine().data)"
    ),
    "isosne --help": "import sys; from isosne.cli import main; sys.argv[1:] = ['--help']; main()",
    "isosne embed wine.csv": (
        "import os, sys\n"
        "from isosne.cli import main\n"
        "table = os.environ['NUMBA_CACHE_DIR'] + '/wine.csv'\n"
        "sys.argv[1:] = ['embed', table, '--label', 'target', '-o', '-', '--quiet']\n"
        "main()"
    ),
    "isosne explore wine.csv, until the page is sent": (
        "import os, urllib.request\n"
        "from isosne.cli import main\n"
        "import click, sys\n"
        "def read(address):\n"
        "    urllib.request.urlopen(address).read()\n"
        "    os._exit(0)\n"
        "click.echo = read\n"
        "table = os.environ['NUMBA_CACHE_DIR'] + '/wine.csv'\n"
        "sys.argv[1:] = ['explore', table, '--label', 'target', '--no-browser', '--quiet']\n"
        "main()"
    ),
}


def seconds(code: str, cache: str) -> float:
    """Return the wall time of a new interpreter that runs the code."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    start = time.perf_counter()
    command = [sys.executable, "-c", code]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def run(quick: bool) -> str:
    """Return the table: with an empty Numba cache, then the best of three with a full one."""
    rows = []
    for name, code in CASES.items():
        with tempfile.TemporaryDirectory() as cache:
            datasets.export("wine", Path(cache) / "wine.csv")
            cold = seconds(code, cache)
            rows.append([name, cold, min(seconds(code, cache) for _ in range(1 if quick else 3))])
    header = ["new interpreter", "empty cache, s", "again, s"]
    return f"### Start\n\n{table(header, rows)}"
