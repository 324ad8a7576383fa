"""A session of sixty points in two clusters, with short runs."""

import threading
import time

import numpy as np
import pytest

from isosne.explorer.data import Settings, from_python
from isosne.explorer.session import Session

QUICK = Settings(n_iter=160)
"""Ten steps more than the exaggeration takes."""
DEADLINE = 60


def wait_for(condition):
    """Wait until something holds."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        threading.Event().wait(0.01)


@pytest.fixture
def session(two_blobs):
    """A session without a map."""
    ids = np.array([f"p{i:02}" for i in range(60)])
    kinds = np.repeat(["tight", "loose"], 30)
    columns = {"name": ids, "color": np.tile(["r", "g"], 30)}
    found = Session(from_python(two_blobs, kinds, ids, columns))
    yield found
    found.close()


@pytest.fixture
def mapped(session):
    """A session with a complete map."""
    session.begin(0, QUICK)
    assert session.maps[0].join(60)
    assert session.maps[0].status.state == "finished"
    return session
