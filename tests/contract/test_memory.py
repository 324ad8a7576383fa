"""The plan's memory, against the peak of real processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.memory_host import FITS

pytestmark = [
    pytest.mark.large,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
# Pages that are never touched count as address space: a mesh reserves more than it uses.
WITH_LIMIT = [name for name in FITS if not name.startswith("mesh")]


def measure(name, n_threads, *options):
    """Fit in a process of its own; return its peak memory relative to the plan."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.contract.memory_host", name, *options],
        env=os.environ
        | {"NUMBA_NUM_THREADS": str(n_threads), "OPENBLAS_NUM_THREADS": str(n_threads)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return found["peak"] / found["planned"]


@pytest.mark.parametrize("name", FITS)
def test_a_fit_takes_the_memory_that_was_planned_and_no_more(name):
    limit = ("--limit", "1.15") if name in WITH_LIMIT else ()
    assert 0.8 < measure(name, 2, *limit) < 1.15


@pytest.mark.parametrize(
    "name",
    [
        "dense, Gaussian, 784 columns, 2-D",
        "sparse, Gaussian, 784 columns, 3-D",
        "sampled, isolation, 784 columns, 3-D",
    ],
)
def test_the_memory_of_every_thread_is_planned(name):
    assert 0.8 < measure(name, 1, "--limit", "1.15") < 1.15
    # Threads without a core of their own rarely work at the same time.
    assert measure(name, 8, "--limit", "1.15") < 1.15
