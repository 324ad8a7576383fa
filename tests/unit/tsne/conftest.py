"""What the tests of the estimator share."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from isosne import TSNE, IsolationKernel, OwnerKernel, Phase, Schedule, _machine
from isosne._machine import Limit
from isosne.errors import DataError
from isosne.tsne import plan
from tests.conftest import refuses

__all__ = ["refuses"]
# Enough steps to pass from one phase to the next; nothing here is about the quality of a map.
SHORT = Schedule((Phase(8, exaggeration=4, momentum=0.5, step=20), Phase(12, step=20)))
ROUTES = {
    "dense": {},
    "sparse, mesh": {"affinities": "sparse", "forces": "mesh"},
    "sparse, tree": {"affinities": "sparse", "forces": "tree"},
    "sampled, mesh": {"affinities": "sampled", "forces": "mesh"},
    "owner": {"kernel": OwnerKernel()},
    "forest": {"kernel": IsolationKernel((4, 8), partition="forest")},
    "spheres": {"kernel": IsolationKernel((4, 8), partition="spheres")},
    "nerv, three dimensions": {"objective": "nerv", "n_components": 3},
}
"""Settings for each form of the affinities, each kind of forces, and each kind of cells."""


class Interruption(Exception):  # noqa: N818  it is none
    """What ends a run as a kill would."""


def interrupted(step):
    """Return a callback that ends the run with an error at a step."""

    def stop(state):
        if state.iteration == step:
            raise Interruption

    return stop


def other_run(path, what):
    """Expect that the checkpoint of another run is refused."""
    return refuses(
        DataError,
        f"The checkpoint {path} belongs to a different run: {what} has changed. "
        "Choose another file for this run; this one was not modified.",
    )


def saved(model, folder):
    """Return a model that was saved in a folder and loaded again."""
    model.save(folder / "model.isosne")
    return TSNE.load(folder / "model.isosne")


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
    monkeypatch.setattr(_machine, "ROOT", Path("no control groups"))
    monkeypatch.setattr(plan, "cpu_limit", lambda: Limit(2))
    set_available(8e9)
    return set_available
