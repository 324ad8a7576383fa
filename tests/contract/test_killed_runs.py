"""Runs that are killed at a hundred points lose nothing, and end as runs that nobody disturbed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.hard_places import FULL, IMPOSSIBLE, LIMITS
from tests.contract.kill_jobs import JOBS

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(os.name != "posix", reason="forks and signals of POSIX"),
]
USED = (
    "Error: Cannot write run.isosne: another run uses it. "
    "Wait until that run ends, or choose another name.\n"
)
FAULTS = {
    "lost": "a final name holds the old whole file or the new one, and progress stays",
    "different": "the files of a run that was killed and resumed are those of an undisturbed one",
    "left behind": "no temporary file stays after the next run, or after SIGTERM and SIGINT",
    "code": "the exit code is that of the signal",
    "sentence": "after SIGINT one sentence says which files there are; otherwise nothing is said",
}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What became of the runs; one host kills them all."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.killed_runs", tmp_path_factory.mktemp("runs")],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_kills_hit_where_they_were_meant_to(told):
    n_kills, n_hits = sum(told["kills"].values()), sum(told["hits"].values())
    assert n_kills >= 90
    assert n_hits >= 0.95 * n_kills, (told["kills"], told["hits"])
    assert set(told["kills"]) == {job.name for job in JOBS}


@pytest.mark.parametrize("kind", FAULTS, ids=FAULTS.get)
def test_after_each_kill(told, kind):
    assert [fault for fault in told["faults"] if fault[0] == kind] == []


def test_no_other_kind_of_fault_is_counted(told):
    assert {fault[0] for fault in told["faults"]} <= set(FAULTS)


def test_a_full_disk_is_one_sentence_and_leaves_the_old_files(told):
    runs = [run for run in told["disks"] if run[2][0] != IMPOSSIBLE]
    assert len(runs) >= len(LIMITS) * len(set(map(type, JOBS)))  # more if disks can be mounted
    for job, disk, codes, said, is_kept, parts in runs:
        assert (codes, is_kept, parts) == ([1, 0], True, []), (job, disk, said)
        assert "Cannot write " in said, (job, disk, said)
        assert FULL in said, (job, disk, said)


def test_a_second_run_with_the_same_checkpoint_is_refused(told):
    assert told["two"] == {
        "first": [True, 0, ""],
        "second": [1, USED],
        "left": [["map.csv", "map.csv.json", "model.isosne", "run.isosne"], []],
    }
