"""Kill a job over a folder, and tell what became of it: `python -m tests.contract.killed_folder`.

Lives are forks of a host that has loaded every loop. Each is killed at a point of its own: before
or after a file is renamed, before it is flushed to the disk, before rows are written.
"""

import json
import os
import random
import resource
import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from isosne import TSNE, Phase, Schedule
from isosne.cli.app import app
from tests.contract.kill_host import Kill, Point, live, without_threads
from tests.contract.kill_jobs import Job

N_PARTS, N_KILLS, SEED = 40, 30, 11
PHASES = ("link", "linked", "rename", "renamed", "fsync", "part")
"""Points of a life; a part has four renames, a link for its claim, and five flushes."""
LINE = (
    *("place", "../model.isosne", "../in", "-o", "out", "--keep", "id", "--n-jobs", "1", "-q"),
    *("--tiles", "tiles", "--label", "id", "--values", "a", "--levels", "2"),
)
JOB = Job("folder", *LINE)
LIMIT = 900
"""Bytes that a file may have on a full disk: claims fit, results do not."""


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


def results(folder):
    """The results that are there, without records and temporary files."""
    found = contents(folder / "out")
    return {n: c for n, c in found.items() if n.startswith("day=") and not n.endswith(".part")}


def kill_all(place, whole, faults):
    """Kill one life after the other; return how many were hit."""
    rng, n_hits = random.Random(SEED), 0
    for k in range(N_KILLS):
        point = Point(PHASES[k % len(PHASES)], rng.randrange(4))
        number = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[k % 4]
        before = results(place)
        death = live(JOB.run, place, Kill("folder", point, number, is_held=True))
        n_hits += death.hit
        after = results(place)
        if not before.items() <= after.items():
            faults.append(["lost", str(point)])
        if not after.items() <= whole.items():
            faults.append(["different", str(point)])
        if death.code != JOB.code(number):
            faults.append(["code", str(point), death.code, death.said])
        if number == signal.SIGINT and "Run the same command again to resume." not in death.said:
            faults.append(["sentence", str(point), death.said])
    return n_hits


def on_full_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
    return JOB.run()


def side_by_side(place):
    """Let a second process work while the first one holds a part; then both go on."""
    place.mkdir()
    pause = Kill("first", Point("part", 3), signal.SIGCONT, is_held=True)
    seconds = []
    first = live(
        JOB.run, place, pause, lambda: seconds.append((live(JOB.run, place), len(results(place))))
    )
    second, n_done = seconds[0]
    codes = [first.code, second.code]
    return {"codes": codes, "n_done": n_done, "n_claims": n_claims(first) + n_claims(second)}


def n_claims(life):
    """How many files a life has created that must not exist: claims, and job.json."""
    return sum(point.phase == "link" for point in life.points)


def main(folder):
    without_threads()
    prepare(folder)
    os.chdir(folder)
    undisturbed = folder / "undisturbed"
    undisturbed.mkdir()
    os.chdir(undisturbed)
    app(list(LINE), standalone_mode=False)
    whole = contents(undisturbed)
    place = folder / "killed"
    place.mkdir()
    faults = []
    n_hits = kill_all(place, results(undisturbed), faults)
    n_before = len(results(place))
    disk = live(on_full_disk, place)
    is_kept = len(results(place)) >= n_before
    last = live(JOB.run, place)
    two = side_by_side(folder / "two")
    told = {
        "n_kills": N_KILLS,
        "n_hits": n_hits,
        "n_before_the_last": n_before,
        "faults": faults,
        "disk": [disk.code, disk.said, is_kept],
        "last": [last.code, last.said],
        "is_same": contents(place) == whole,
        "other": sorted(set(contents(place)) ^ set(whole)),
        "two": two,
        "two_same": contents(folder / "two") == whole,
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
