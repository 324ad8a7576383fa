"""Runs that are killed twenty times, at any moment, and end as one that nobody disturbed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.kill_host import N_KILLS, ROUTES

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(os.name != "posix", reason="forks and signals of POSIX"),
]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What became of the runs; one host kills them all."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.kill_host", tmp_path_factory.mktemp("runs")],
        env=os.environ | {"NUMBA_THREADING_LAYER": "forksafe"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("route", ROUTES)
def test_a_run_killed_at_twenty_moments_ends_with_the_same_bytes(told, route):
    run = told[route]
    assert run["n_kills"] == N_KILLS == 20, run["moments"]
    assert run["killed"] == run["undisturbed"], run["moments"]
    assert run["left"] == ["map.npy", "run.isosne"]
