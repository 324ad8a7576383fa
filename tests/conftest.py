"""What the tests share: helpers, to be imported from here, and fixtures named for their data.

from tests.conftest import SHORT, make, refuses
"""

import io
import os
import re
import sys

import numba
import numpy as np
import pytest
from benchmarks.paper.data import load
from xdist.scheduler import LoadScopeScheduling

from isosne import TSNE, IsolationKernel
from isosne.layout.schedules import Phase, Schedule

# --- parallel runs (pytest -n 2)

LONGEST_FIRST = (
    "tests/paper/test_reproduction.py",
    "tests/contract/test_compiled.py",
    "tests/contract/test_killed_runs.py",
    "tests/browser/test_pages.py",
    "tests/browser/test_explore.py",
    "tests/contract/test_threads.py",
    "tests/contract/test_memory.py",
    "tests/unit/tsne/test_new_points.py",
    "tests/unit/cli/test_process.py",
    "tests/unit/plots/test_maps.py",
)
"""Files that would leave one worker idle if they came last."""

SPLIT = {"tests/contract/test_threads.py", "tests/contract/test_memory.py"}
"""Long files without shared fixtures: their tests are handed out one by one."""


def pytest_configure(config):
    """Bound the threads of parallel workers: each has one core, unless a test asks for more.

    A fit runs on Numba's number of threads, so tests that pass n_jobs or use the fixture `threads`
    still get what they ask for.
    """
    if getattr(config.option, "numprocesses", None):  # the controller; its workers inherit these
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # idle threads sleep
    if "PYTEST_XDIST_WORKER" in os.environ:
        numba.set_num_threads(1)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Put the longest files first in a parallel run."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        rank = {name: i for i, name in enumerate(LONGEST_FIRST)}
        items.sort(key=lambda item: rank.get(_file(item.nodeid), len(rank)))


def _file(nodeid):
    return nodeid.partition("::")[0]


class ByFile(LoadScopeScheduling):
    """Hand out whole files, so that fixtures of a module are made once."""

    def _split_scope(self, nodeid):
        file = _file(nodeid)
        return nodeid if file in SPLIT else file


def pytest_xdist_make_scheduler(config, log):
    """Return the scheduler of this suite, whatever --dist says."""
    config.option.loadscopereorder = False  # the order of collection is the one wanted
    return ByFile(config, log)


# --- helpers

# Sixty steps, enough to take every branch of a descent: for tests that are not about quality.
SHORT = Schedule((Phase(20, exaggeration=4, momentum=0.5, step=20), Phase(40, step=20)))


def make(kernel=None, **settings):
    """Return an unfitted TSNE with a short schedule, a fixed seed and one thread.

    The default kernel is an isolation kernel with psi=8, small enough for a dozen points.
    """
    settings = {"schedule": SHORT, "random_state": 0, "n_jobs": 1} | settings
    return TSNE(IsolationKernel(8) if kernel is None else kernel, **settings)


def refuses(error, sentence):
    """Return a context manager that expects an error whose message is the whole sentence.

    It gives pytest's record of the error, as `pytest.raises` does.
    """
    return pytest.raises(error, match=rf"\A{re.escape(sentence)}\Z")


# --- fixtures


@pytest.fixture
def two_blobs():
    """Sixty points in five dimensions: a tight cluster and a loose one, far apart."""
    rng = np.random.default_rng(1)
    return np.vstack([rng.normal(0, 0.1, (30, 5)), rng.normal(4, 1.0, (30, 5))])


@pytest.fixture
def subspace_clusters():
    """The paper's five clusters, each with ten attributes of its own, on a smaller scale."""
    rng = np.random.default_rng(2)
    X = np.zeros((100, 50))
    for c, (mean, deviation) in enumerate([(0, 1), (0, 4), (0, 9), (400, 16), (500, 25)]):
        X[20 * c : 20 * c + 20, 10 * c : 10 * c + 10] = rng.normal(mean, deviation, (20, 10))
    X[0] = 0
    return X


@pytest.fixture
def duplicates():
    """Points of a small integer grid, most of them many times: ties in every distance."""
    return np.random.default_rng(3).integers(0, 3, (90, 3)).astype(np.float64)


@pytest.fixture
def one_far_point():
    """A cluster of forty points, and one point 1e9 away from it."""
    X = np.random.default_rng(4).normal(size=(41, 3))
    X[17, 0] = 1e9
    return X


class Screen(io.StringIO):
    """A terminal, as far as programs ask."""

    def isatty(self):
        return True

    def lines(self):
        """Return what was written, without colors; a line that was written again comes again."""
        return re.split(
            r"[\r\n]+", re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", self.getvalue()).strip()
        )


@pytest.fixture
def open_terminal(monkeypatch):
    """Make a terminal of standard error, from within a test: pytest replaces it before."""

    def open_it():
        monkeypatch.setenv("COLUMNS", "120")
        monkeypatch.setenv("TERM", "xterm")
        screen = Screen()
        monkeypatch.setattr(sys, "stderr", screen)
        return screen

    return open_it


@pytest.fixture
def threads():
    """Run a function with a number of threads; the number in use is restored afterwards."""
    before = numba.get_num_threads()

    def run_with(n_threads, function):
        numba.set_num_threads(min(n_threads, numba.config.NUMBA_NUM_THREADS))
        try:
            return function()
        finally:
            numba.set_num_threads(before)

    yield run_with
    numba.set_num_threads(before)


@pytest.fixture(scope="session")
def data_set():
    """Load a set by name from the folder that ISOSNE_DATA names: its points and its labels."""
    folder = os.environ.get("ISOSNE_DATA")
    if not folder:
        pytest.skip("ISOSNE_DATA does not name a folder with the data sets of the paper")

    def load_points(name):
        found = load(name, folder)
        return found.X, found.y

    return load_points
