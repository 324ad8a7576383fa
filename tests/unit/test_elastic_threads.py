"""Threads that step back while others keep the cores busy, by a clock of our own."""

import numba
import numpy as np
import pytest

from isosne import TSNE, Phase, Schedule, _numba
from isosne._machine import Limit
from isosne._numba import LOOK_SECONDS, PAUSE_SECONDS, ElasticThreads, ThreadPool


class Machine:
    """Four CPUs, the time, and the threads that a run uses."""

    def __init__(self, monkeypatch):
        self.now, self.n_threads = 0.0, 4
        monkeypatch.setattr(_numba, "_pool", ThreadPool())
        monkeypatch.setattr(_numba, "cpu_limit", lambda: Limit(4))
        monkeypatch.setattr(_numba.time, "perf_counter", lambda: self.now)
        monkeypatch.setattr(_numba, "n_threads", lambda: self.n_threads)
        monkeypatch.setattr(_numba, "set_num_threads", lambda n: setattr(self, "n_threads", n))
        self.elastic = ElasticThreads(4)

    def run(self, wall, cpu):
        """Return the number of threads after a loop of some time."""
        self.now += wall
        self.elastic.adapt(wall, cpu)
        return self.n_threads


@pytest.fixture
def machine(monkeypatch):
    return Machine(monkeypatch)


def test_threads_step_back_if_the_calling_thread_waits(machine):
    assert machine.run(0.03, 0.03) == 4
    assert machine.run(0.03, 0.02) == 4
    assert machine.run(LOOK_SECONDS / 2, 0) == 4  # too soon
    assert machine.run(0.03, 0.01) == 1


def test_threads_come_back_after_pauses_that_grow_while_others_are_busy(machine):
    for pause in (PAUSE_SECONDS, 2 * PAUSE_SECONDS, 4 * PAUSE_SECONDS):
        assert machine.run(0.1, 0.01) == 1
        assert machine.run(0.9 * pause, 0) == 1
        assert machine.run(0.2 * pause, 0) == 4
    assert machine.run(0.1, 0.1) == 4  # alone again: the next pause is short
    assert machine.run(0.1, 0.01) == 1
    assert machine.run(1.1 * PAUSE_SECONDS, 0) == 4


def test_runs_side_by_side_share_the_cpus(machine):
    _numba._pool.count(3)
    assert machine.run(0.1, 0.1) == 1
    _numba._pool.count(-1)
    assert machine.run(0.1, 0.1) == 2
    _numba._pool.count(-1)
    assert machine.run(0.1, 0.1) == 4


def test_a_map_does_not_depend_on_threads_that_come_and_go(threads):
    X = np.random.default_rng(0).normal(size=(2500, 5))
    most = numba.config.NUMBA_NUM_THREADS

    def flicker(state):
        numba.set_num_threads(1 if state.iteration % 2 else most)

    model = TSNE(random_state=0, schedule=Schedule((Phase(20, exaggeration=4),)))
    expected = threads(1, lambda: model.fit_transform(X)).tobytes()
    model.set_params(callback=flicker)
    assert threads(most, lambda: model.fit_transform(X)).tobytes() == expected
