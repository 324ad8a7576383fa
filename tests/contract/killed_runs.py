"""Kill all jobs and tell what became of them: `python -m tests.contract.killed_runs FOLDER`."""

import io
import json
import os
import random
import signal
import sys
import time
import warnings
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np

from isosne.cli.app import app
from isosne.rows import read_map
from tests.contract.hard_places import full_disks, two_runs
from tests.contract.kill_host import live, there, without_threads
from tests.contract.kill_jobs import JOBS, MODEL, points

SEED = 7


class Record:
    """What became of the lives of a job."""

    def __init__(self, job, folder):
        self.job, self.folder = job, folder
        self.faults, self.n_hits, self.n_kills = [], 0, 0

    def check(self, is_true, what, *details):
        if not is_true:
            self.faults.append([what, self.job.name, *map(str, details)])

    def contents(self):
        """Return what each output holds, by its name."""
        paths = {name: self.folder / name for name in self.job.outputs}
        return {n: self.job.content(path) if path.exists() else None for n, path in paths.items()}

    def kill(self, kill, whole):
        """Live a life that is killed, and look at what it leaves."""
        self.job.begin(self.folder)
        before, begun = self.contents(), self.job.progress(self.folder)
        death = live(self.job.run, self.folder, kill)
        after = self.contents()
        changed = [name for name in self.job.outputs if before[name] != after[name]]
        self.n_kills += 1
        self.n_hits += death.hit
        self.check(death.code == self.job.code(kill.signal), "code", kill, death.code, death.said)
        self._check_sentence(kill, death.said, changed)
        for name in changed:
            self._check_whole(name, after[name] == whole[name], death.said)
        is_kept = changed or self.job.progress(self.folder) >= begun
        self.check(is_kept, "lost", kill, "progress")
        if death.code > 0:  # it could clear up before it ended
            self.check(not there(self.folder)[1], "left behind", kill, there(self.folder))

    def _check_sentence(self, kill, said, changed):
        is_true = said == ""
        if kill.signal == signal.SIGINT:
            is_true = self.job.is_true(said, changed)
        self.check(is_true, "sentence", kill, said, changed)

    def _check_whole(self, name, is_same, said):
        if name in self.job.varying:
            json.loads((self.folder / name).read_text())
        elif "map so far" in said:
            stopped = read_map(self.folder / name).provenance["stopped_at"]
            self.check(f"Interrupted at {stopped};" in said, "lost", name, said)
        else:
            self.check(is_same, "lost", name, said)

    def end(self, whole):
        """Live a life that nobody kills."""
        self.job.begin(self.folder)
        death = live(self.job.run, self.folder)
        self.check(death.code == 0, "code", death.code, death.said)
        for name, content in self.contents().items():
            is_same = content == whole[name] or name in self.job.varying
            self.check(is_same, "different", name)
        found = there(self.folder)
        self.check(found == (list(self.job.left), []), "left behind", found)


def undisturbed(job, folder):
    """Return what a life writes that nobody kills, and the points that it reports."""
    folder.mkdir()
    os.chdir(folder)
    job.warm()
    for path in folder.iterdir():
        path.unlink()
    job.begin(folder)
    death = live(job.run, folder)
    assert death.code == 0, death.said
    return Record(job, folder).contents(), death.points


def kill_all(job, folder, rng):
    """Send all signals of a job, and let it end at last."""
    whole, measured = undisturbed(job, folder / f"{job.name}, undisturbed")
    place = folder / job.name
    place.mkdir()
    record = Record(job, place)
    for kill in job.choose(measured, rng):
        record.kill(kill, whole)
    record.end(whole)
    return record


def main(folder, names):
    began = time.perf_counter()
    without_threads()
    warnings.simplefilter("ignore")
    np.save(folder / "x.npy", points())
    os.chdir(folder)
    with redirect_stdout(io.StringIO()):
        app(list(MODEL), standalone_mode=False)
        jobs = [job for job in JOBS if not names or job.name in names]
        records = [kill_all(job, folder, random.Random(SEED)) for job in jobs]
        disks, two = full_disks(folder), two_runs(folder)
    told = {
        "kills": {record.job.name: record.n_kills for record in records},
        "hits": {record.job.name: record.n_hits for record in records},
        "faults": [fault for record in records for fault in record.faults],
        "disks": disks,
        "two": two,
        "seconds": round(time.perf_counter() - began, 1),
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
