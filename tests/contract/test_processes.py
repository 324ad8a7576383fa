"""Several threads, forked processes: every fit ends, with the same map."""

import os
import subprocess
import sys

import pytest

from isosne._numba import SPIN_COUNT, SPINS, WAIT_CHOICES, ThreadPool

FITS = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
import numba, numpy as np
from isosne import TSNE, Phase, Schedule

X = np.random.default_rng(0).normal(size=(150, 4))
few = Schedule((Phase(12, exaggeration=4), Phase(12)))

def fit(seed=0):
    return TSNE(random_state=seed, schedule=few).fit(X)

model = fit()
"""
TOGETHER = """
def work(i):
    return (fit().embedding_ if i % 2 else model.transform(X[:40] + 0.01)).tobytes()

with ThreadPoolExecutor(4) as pool:
    found = list(pool.map(work, range(24)))
print(numba.threading_layer(), len(set(found)))
"""
FORKED = """
import multiprocessing

def work(seed):
    return fit(seed).embedding_.tobytes()

with multiprocessing.get_context("fork").Pool(2) as pool:
    found = pool.map_async(work, [1, 2, 3]).get(timeout=120)
print([work(seed) for seed in (1, 2, 3)] == found)
"""


def run(program, **settings):
    done = subprocess.run(
        [sys.executable, "-c", FITS + program],
        env=os.environ | {"NUMBA_NUM_THREADS": "2"} | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["omp", "workqueue"])
def test_fits_and_placements_may_run_at_the_same_time(layer):
    assert run(TOGETHER, NUMBA_THREADING_LAYER=layer) == [layer, "2"]


@pytest.mark.slow
def test_a_forked_process_fits_after_its_parent_did():
    assert run(FORKED) == ["True"]


@pytest.mark.parametrize("chosen", [None, "OMP_WAIT_POLICY", SPIN_COUNT])
def test_threads_are_started_to_spin_briefly_unless_the_user_chose(chosen, monkeypatch):
    """Spinning threads take the cores of other programs, and slow small maps down tenfold."""
    for name in WAIT_CHOICES:
        monkeypatch.delenv(name, raising=False)
    if chosen:
        monkeypatch.setenv(chosen, "7")
    before = {name: os.environ.get(name) for name in WAIT_CHOICES}
    with ThreadPool().turn():
        during = {name: os.environ.get(name) for name in WAIT_CHOICES}
    assert during == (before if chosen else before | {SPIN_COUNT: SPINS})
    assert {name: os.environ.get(name) for name in WAIT_CHOICES} == before
