"""What is killed, at which points, and what must be true afterwards.

`python -m tests.contract.kill_jobs FOLDER` sends all signals and prints what became of the runs.
The list of kills is fixed by a seed. Points are taken from those that an undisturbed run reports.
"""

import hashlib
import json
import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from isosne import TSNE
from isosne._archive import read_archive
from isosne.cli import main as isosne
from isosne.cli.app import app
from isosne.files import read_map
from tests.contract.kill_host import Kill, Point, live, there, without_threads

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CODES = {signal.SIGKILL: -signal.SIGKILL, signal.SIGTERM: 128 + signal.SIGTERM, signal.SIGINT: 130}
COMMON = ("--n-jobs", "1", "--memory-limit", "1GB", "-q")
SHORT = ("--psi", "8", "--n-iter", "260", *COMMON)
OLD = b"what the file held before\n"
FREE_PHASES = ("step", "rows", "affinities")
"""Phases that last, in which a life is also killed while it runs on."""
SEED = 7
SOON = {"affinities": 1, "start": 1, "measure": 1, "link": 2, "step": 30, "array": 12} | {
    **dict.fromkeys(("fsync", "rename", "renamed"), 2)
}
"""Number of points of a phase to choose from in lives that resume."""


def points():
    rng = np.random.default_rng(0)
    return rng.normal(size=(160, 5)) + 4 * rng.integers(0, 3, (160, 1))


class Job:
    """A program that writes files into a folder; each life begins where the last one ended."""

    phases = ("affinities", "start", "step", "rows", "fsync", "rename", "renamed")
    n_kills = 16
    outputs = ("map.csv", "map.csv.json")
    left = outputs

    def __init__(self, name, *line):
        self.name, self.line = name, line

    def run(self):
        """Run the command line as a process does; return the exit code."""
        sys.argv = ["isosne", *self.line]
        try:
            isosne()
        except SystemExit as end:
            return end.code or 0
        return 0

    def warm(self):
        """Load the loops."""
        app(list(self.line), standalone_mode=False)

    def begin(self, folder):
        """Make the folder as it is before a life."""
        for name in self.outputs:
            (folder / name).write_bytes(OLD)

    def code(self, number):
        """Return the exit code after a signal."""
        return CODES[number]

    def content(self, path):
        """Return what must be the same in all runs."""
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def progress(self, folder):
        """Return how far the work on the disk has come; it must never go back."""
        return 0

    def choose(self, measured, rng):
        """Return the kills, from the points that an undisturbed run has reported."""
        kills = []
        for k in range(self.n_kills):
            phase = self.phases[k % len(self.phases)]
            point = rng.choice([point for point in measured if point.phase == phase])
            kills.append(self._kill(point, k, rng))
        return kills

    def _kill(self, point, k, rng):
        is_held = point.phase not in FREE_PHASES or rng.random() < 0.5
        return Kill(self.name, point, SIGNALS[k % len(SIGNALS)], is_held)

    def is_sentence(self, said, kill, changed):
        """Return whether what was said after SIGINT is true."""
        if said == "Interrupted; no file was written.\n":
            return not changed
        if said.startswith("Interrupted; wrote "):
            return said == f"Interrupted; wrote {', '.join(changed)}.\n"
        return kill.point.phase == "step" and "map.csv" in changed and "map so far" in said


class Resumable(Job):
    """An embedding with a checkpoint: lives go on from its last state."""

    phases = ("affinities", "step", "array", "step", "fsync", "rename", "step", "renamed", "link")
    n_kills = 9
    outputs = ("map.csv", "map.csv.json", "model.isosne")
    left = (*outputs, "run.isosne")

    def __init__(self, name, *options):
        kept = ("--checkpoint", "run.isosne", "--every", "8", "--save-model", "model.isosne")
        super().__init__(name, "embed", "../x.npy", *options, *SHORT, *kept, "-o", "map.csv")

    def begin(self, folder):
        for name in self.outputs:
            (folder / name).unlink(missing_ok=True)

    def progress(self, folder):
        path = folder / "run.isosne"
        return read_archive(path, "checkpoint").header["progress"]["iteration"] if path.exists() else 0

    def choose(self, measured, rng):
        """Choose points soon after a life begins: the whole run must not end before the last."""
        chosen = [Point(phase, rng.randrange(SOON[phase])) for phase in self.phases]
        return [self._kill(point, k + len(self.name), rng) for k, point in enumerate(chosen)]

    def is_sentence(self, said, kill, changed):
        if said == "Interrupted; no file was written.\n":
            return not changed
        if said == "Interrupted; wrote run.isosne.\n":
            return not changed
        return "the state is in run.isosne. " in said and said.endswith(" to resume.\n")


class SweepJob(Job):
    """A sweep: lives go on after the last map."""

    phases = ("affinities", "step", "fsync", "start", "measure", "step", "rename", "renamed")
    n_kills = 8
    outputs = ("sweep.csv",)
    left = outputs

    def __init__(self, name, *options):
        super().__init__(
            *(name, "sweep", "../x.npy", *options, *SHORT[2:], "--force", "-o", "sweep.csv")
        )

    def choose(self, measured, rng):
        """Choose points of the first map of a life."""
        soon = SOON | {"fsync": 1, "rename": 1, "renamed": 1}
        chosen = [Point(phase, rng.randrange(soon[phase])) for phase in self.phases]
        return [self._kill(point, k + len(self.name), rng) for k, point in enumerate(chosen)]

    def content(self, path):
        """Return the rows without the seconds that they took."""
        if path.read_bytes() == OLD:
            return OLD
        return [line.rpartition(",")[0] for line in path.read_text().splitlines()]

    def progress(self, folder):
        path = folder / "sweep.csv.jsonl"
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        return len([json.loads(line) for line in lines])

    def is_sentence(self, said, kill, changed):
        if "sweep.csv" in changed:
            return said == "Interrupted; wrote sweep.csv.\n"
        return "maps; their results are in sweep.csv.jsonl. " in said


class Transform(Job):
    """New rows on the map of a model."""

    phases = ("rows", "fsync", "rename", "renamed", "rows")


class Save(Job):
    """A model that is saved in Python over another one; nothing handles SIGTERM there."""

    phases = ("array", "fsync", "rename", "renamed")
    outputs = ("model.isosne",)
    left = outputs

    def run(self):
        TSNE.load("../model.isosne").save("model.isosne")
        return 0

    warm = run

    def code(self, number):
        return -number if number == signal.SIGTERM else CODES[number]

    def is_sentence(self, said, kill, changed):
        return said == ""


JOBS = (
    Job("embed", "embed", "../x.npy", *SHORT, "--force", "-o", "map.csv"),
    Resumable("all pairs"),
    Resumable("lists and mesh", "--affinities", "sparse", "--forces", "mesh"),
    Resumable("draws and tree", "--affinities", "sampled", "--forces", "tree"),
    Resumable("landmarks", "--landmarks", "90"),
    SweepJob("sweep", "--psi", "4,8,16"),
    SweepJob("sweep of another kernel", "--kernel", "gaussian", "--perplexity", "5,9,13"),
    Transform(
        *("transform", "transform", "../model.isosne", "../x.npy", *COMMON, "--force"),
        *("-o", "map.csv"),
    ),
    Save("save"),
)


class Record:
    """What became of the lives of a job."""

    def __init__(self, job, folder):
        self.job, self.folder = job, folder
        self.faults, self.n_hits, self.n_kills = [], 0, 0

    def check(self, is_true, what, *details):
        if not is_true:
            self.faults.append([self.job.name, what, *map(str, details)])

    def contents(self):
        """Return what each output holds, by its name."""
        found = {}
        for name in self.job.outputs:
            path = self.folder / name
            found[name] = self.job.content(path) if path.exists() else None
        return found

    def kill(self, kill, whole):
        """Live a life that is killed, and look at what it leaves."""
        self.job.begin(self.folder)
        before, begun = self.contents(), self.job.progress(self.folder)
        death = live(self.job.run, self.folder, kill)
        after = self.contents()
        changed = [name for name in self.job.outputs if before[name] != after[name]]
        self.n_kills += 1
        self.n_hits += death.hit
        self.check(death.code == self.job.code(kill.signal), "exit code", death.code, kill, death.said)
        is_partial = kill.signal == signal.SIGINT and "the map so far" in death.said
        for name in changed:
            if name == "map.csv" and is_partial:
                stopped = read_map(self.folder / name).provenance["stopped_at"]
                self.check(f"Interrupted at {stopped};" in death.said, "map so far", kill)
            elif name == "map.csv.json":
                json.loads((self.folder / name).read_text())
            else:
                self.check(after[name] == whole[name], "lost", name, kill)
        is_done = self.job.outputs[0] in changed
        self.check(is_done or self.job.progress(self.folder) >= begun, "lost", "progress", kill)
        if kill.signal == signal.SIGINT:
            is_true = self.job.is_sentence(death.said, kill, changed)
            self.check(is_true, "sentence", death.said, kill, changed)
        else:
            self.check(death.said == "", "sentence", death.said, kill)
        if death.code > 0:  # it ended by itself
            self.check(there(self.folder)[1] == [], "left behind", there(self.folder), kill)

    def end(self, whole):
        """Live a life that nobody kills."""
        self.job.begin(self.folder)
        death = live(self.job.run, self.folder)
        self.check(death.code == 0, "exit code", death.code, death.said)
        same = {name for name, content in self.contents().items() if content == whole[name]}
        same |= {"map.csv.json"}
        self.check(same >= set(self.job.outputs), "different", same)
        self.check(there(self.folder) == (list(self.job.left), []), "left behind", there(self.folder))


def undisturbed(job, folder):
    """Return what a run writes that nobody kills, and the points that it reports."""
    folder.mkdir()
    os.chdir(folder)
    job.warm()
    for path in folder.iterdir():
        path.unlink()
    job.begin(folder)
    record = Record(job, folder)
    death = live(job.run, folder)
    assert death.code == 0, death.said
    return record.contents(), death.points


def kill_all(job, folder, rng):
    whole, measured = undisturbed(job, folder / f"{job.name} undisturbed")
    place = folder / job.name
    place.mkdir()
    record = Record(job, place)
    for kill in job.choose(measured, rng):
        record.kill(kill, whole)
    record.end(whole)
    return record


def main(folder):
    began = time.perf_counter()
    without_threads()
    warnings.simplefilter("ignore")
    np.save(folder / "x.npy", points())
    os.chdir(folder)
    app(["embed", "x.npy", *SHORT, "--save-model", "model.isosne", "-o", "y.npy"], standalone_mode=False)
    warmed = time.perf_counter() - began
    rng = random.Random(SEED)
    records, seconds = [], {}
    for job in JOBS:
        start = time.perf_counter()
        records.append(kill_all(job, folder, rng))
        seconds[job.name] = time.perf_counter() - start
    told = {
        "kills": {record.job.name: record.n_kills for record in records},
        "hits": {record.job.name: record.n_hits for record in records},
        "faults": [fault for record in records for fault in record.faults],
        "seconds": seconds | {"warm": warmed, "all": time.perf_counter() - began},
    }
    sys.stdout.write(f"\n{json.dumps(told)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
