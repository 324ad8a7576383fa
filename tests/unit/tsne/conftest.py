"""What the tests of the estimator share."""

from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from isosne import TSNE, IsolationKernel, Phase, Schedule
from tests.conftest import refuses

__all__ = ["SHORT", "make", "refuses"]
# Enough steps to pass from one phase to the next; nothing here is about the quality of a map.
SHORT = Schedule((Phase(8, exaggeration=4, momentum=0.5, step=20), Phase(12, step=20)))


def make(kernel=None, **settings):
    """Return an unfitted TSNE with few steps, a seed, and one thread."""
    settings = {"schedule": SHORT, "random_state": 0, "n_jobs": 1} | settings
    return TSNE(IsolationKernel(8) if kernel is None else kernel, **settings)


@pytest.fixture(scope="session")
def points():
    """Eighty points of one cloud in five dimensions."""
    X = np.random.default_rng(0).normal(size=(80, 5))
    X.flags.writeable = False
    return X


@pytest.fixture
def memory(monkeypatch):
    """Pretend that 8 GB are free, or as many bytes as the test says."""

    def set_available(n_bytes):
        monkeypatch.setattr(
            psutil, "virtual_memory", lambda: SimpleNamespace(available=float(n_bytes))
        )

    monkeypatch.delenv("ISOSNE_MEMORY_LIMIT", raising=False)
    set_available(8e9)
    return set_available
