"""Several threads, forked processes: every fit ends, with the same map."""

import os
import subprocess
import sys

import pytest

from isosne._numba import SPIN_COUNT, SPINS, WAIT_CHOICES

FITS = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
import numba, numpy as np
from isosne import TSNE, Phase, Schedule

X = np.random.default_rng(0).normal(size=(150, 4))
few = Schedule((Phase(12, exaggeration=4), Phase(12)))

def fit(seed=0):
    return TSNE(random_state=seed, schedule=few).fit(X)

"""
TOGETHER = """
model = fit()

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


SIDE_BY_SIDE = """
from isosne import _numba
from isosne._machine import Limit

_numba.cpu_limit = lambda: Limit(2)
_numba.LOOK_SECONDS, _numba.WAITING = 0, float("inf")  # look after each loop; no other programs
X = np.random.default_rng(0).normal(size=(1100, 4))  # enough pairs for two threads

def count(meet):
    used = set()
    def see(state):
        if state.iteration in (1, 24):
            meet()
        elif state.iteration > 2:
            used.add(numba.get_num_threads())
    TSNE(random_state=0, schedule=few, callback=see, affinities="dense").fit(X)
    return used

alone = count(lambda: None)
both = threading.Barrier(2)
with ThreadPoolExecutor(2) as pool:
    print(alone, set.union(*pool.map(count, [both.wait] * 2)), count(lambda: None))
"""
WORKERS = """
from joblib import Parallel, delayed, parallel_config

def count():
    from isosne._numba import most_threads, threads
    with threads(None):
        return most_threads()

with parallel_config("loky", inner_max_num_threads=1):
    print(set(Parallel(2)(delayed(count)() for _ in range(4))))
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
@pytest.mark.parametrize("begin", ["model = fit()", "TSNE().plan(X)"])
def test_a_forked_process_fits_after_its_parent_used_threads(begin):
    assert run(begin + FORKED) == ["True"]


def test_fits_side_by_side_share_the_cpus():
    assert run(SIDE_BY_SIDE) == ["{2}", "{1}", "{2}"]


def test_workers_of_joblib_use_the_threads_that_it_gives_them():
    assert run(WORKERS) == ["{1}"]


@pytest.mark.parametrize("chosen", [{}, {"OMP_WAIT_POLICY": "active"}, {SPIN_COUNT: "7"}])
def test_threads_are_started_to_spin_briefly_unless_the_user_chose(chosen):
    """Spinning threads take the cores of other programs, and slow small maps down tenfold."""
    others = {name: value for name, value in os.environ.items() if name not in WAIT_CHOICES}
    done = subprocess.run(
        [sys.executable, "-c", "from isosne._numba import n_threads; n_threads()"],
        env=others | {"NUMBA_THREADING_LAYER": "omp", "OMP_DISPLAY_ENV": "verbose"} | chosen,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (f"{SPIN_COUNT} = '{SPINS}'" in done.stderr) == (not chosen)
