"""A job over a folder that is killed thirty times ends with the files of an undisturbed one.

The job also writes tiles.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.killed_folder import N_KILLS, N_PARTS

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(os.name != "posix", reason="forks and signals of POSIX"),
]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What became of the job; one host kills its lives."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.killed_folder", tmp_path_factory.mktemp("jobs")],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_kills_hit_where_they_were_meant_to(told):
    assert told["n_kills"] == N_KILLS
    assert told["n_hits"] >= 0.9 * N_KILLS
    assert 0 < told["n_before_the_last"] < N_PARTS


def test_nothing_is_lost_and_no_result_is_ever_incomplete(told):
    assert told["faults"] == []


def test_the_files_are_those_of_an_undisturbed_run_and_no_other(told):
    assert told["last"] == [0, ""]
    assert told["other"] == []
    assert told["is_same"]


def test_a_full_disk_is_one_sentence_and_keeps_what_is_done(told):
    code, said, is_kept = told["disk"]
    assert (code, is_kept) == (1, True)
    assert "no space left on the disk. Free some space, or write to another disk." in said
    assert said.count("\n") == 1


def test_two_processes_share_the_parts_and_none_is_placed_twice(told):
    assert told["two"]["codes"] == [0, 0]
    assert told["two"]["n_done"] == N_PARTS - 1  # all but the one that the first process held
    assert told["two_same"]
    assert told["two"]["n_claims"] == N_PARTS + 2  # a claim per part, and the two jobs
