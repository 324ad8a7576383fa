"""A job over a folder that is killed again and again ends with the files of an undisturbed one.

Lives are forks of a host that has loaded every loop: this module, run as a program. Each is killed
at a point of its own: before a result or the picture is flushed to the disk, before or after it is
renamed, before rows are written.
"""

import json
import os
import random
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isosne import TSNE, Phase, Schedule
from isosne.cli.app import app
from tests.contract.kill_host import Kill, Point, live, without_threads
from tests.contract.kill_jobs import Job

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(os.name != "posix", reason="forks and signals of POSIX"),
]
N_PARTS, N_KILLS, SEED = 20, 12, 11
PHASES = ("rename", "renamed", "fsync", "part")
"""Points of a life; each part has one of each."""
LINE = (
    *("place", "../model.isosne", "../in", "-o", "out", "--keep", "id", "--n-jobs", "1", "-q"),
    *("--picture", "map.png", "--label", "id"),
)
JOB = Job("folder", *LINE)
LIMIT = 900
"""Bytes that a file may have on a full disk, fewer than a result has."""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What became of the job; one host kills its lives."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.contract.test_killed_folder",
            tmp_path_factory.mktemp("jobs"),
        ],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_kills_hit_where_they_were_meant_to(told):
    assert told["n_hits"] >= 0.9 * N_KILLS
    assert 0 < told["n_before_the_last"] < N_PARTS


def test_nothing_is_lost_and_no_result_is_ever_incomplete(told):
    assert told["faults"] == []


def test_a_full_disk_is_one_sentence_and_keeps_what_is_done(told):
    code, said, is_kept = told["disk"]
    assert (code, is_kept) == (1, True)
    assert "no space left on the disk. Free some space, or write to another disk." in said


def test_the_files_are_those_of_an_undisturbed_run_and_no_other(told):
    assert told["files"] == N_PARTS + 2  # and job.json, map.png
    assert told["picture"]  # a life was killed while it wrote the picture
    assert told["last"] == [0, ""]
    assert told["other"] == []


def prepare(folder):
    """Write a model and the parts of an input."""
    rng = np.random.default_rng(0)
    few = Schedule((Phase(12, exaggeration=4), Phase(12)))
    names = ["a", "b", "c"]
    X = pd.DataFrame(rng.normal(size=(90, 3)).astype(np.float32), columns=names)
    TSNE(random_state=0, schedule=few, n_jobs=1).fit(X).save(folder / "model.isosne")
    for k in range(N_PARTS):
        path = folder / "in" / f"day={k % 3}" / f"part-{k}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        values = rng.normal(size=(k, 3)).astype(np.float32)  # the first has no rows
        columns = dict(zip(names, values.T, strict=True))
        pq.write_table(pa.table({"id": np.arange(k) % 7, **columns}), path)


def contents(folder):
    """What each file holds, by relative name, in hexadecimal digits."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes().hex() for path in paths}


def results(place):
    """The results that are there, without job.json and temporary files."""
    there = contents(place / "out")
    return {n: c for n, c in there.items() if n.startswith("day=") and not n.endswith(".part")}


def kill_all(place, whole, faults):
    """Kill one life after the other; return how many were hit."""
    rng, n_hits = random.Random(SEED), 0
    for k in range(N_KILLS):
        point = Point(PHASES[k % len(PHASES)], rng.randrange(1, 3))
        number = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[k % 3]
        before = results(place)
        death = live(JOB.run, place, Kill("folder", point, number, is_held=True))
        n_hits += death.hit
        after = results(place)
        if not before.items() <= after.items() <= whole.items():
            faults.append(["lost or different", str(point)])
        if death.code != JOB.code(number):
            faults.append(["code", str(point), death.code, death.said])
        if number == signal.SIGINT and "Run the same command again to resume." not in death.said:
            faults.append(["sentence", str(point), death.said])
    return n_hits


def on_full_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
    return JOB.run()


def main(folder):
    without_threads()
    prepare(folder)
    undisturbed, place = folder / "undisturbed", folder / "killed"
    undisturbed.mkdir()
    place.mkdir()
    os.chdir(undisturbed)
    app(list(LINE), standalone_mode=False)
    whole, faults = contents(undisturbed), []
    n_hits = kill_all(place, results(undisturbed), faults)
    n_before = len(results(place))
    disk = live(on_full_disk, place)
    is_kept = len(results(place)) >= n_before
    # The first link of a life is that of the picture, which must not replace a file.
    kill = Kill("folder", Point("link", 0), signal.SIGKILL, is_held=True)
    picture = live(JOB.run, place, kill)
    last = live(JOB.run, place)
    told = {
        "n_hits": n_hits,
        "n_before_the_last": n_before,
        "faults": faults,
        "disk": [disk.code, disk.said, is_kept],
        "files": len(whole),
        "picture": picture.hit,
        "last": [last.code, last.said],
        "other": sorted(dict(contents(place).items() ^ whole.items())),
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
