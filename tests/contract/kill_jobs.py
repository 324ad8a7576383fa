"""What is killed, at which points, and what must be true afterwards.

The list of kills is fixed by a seed. Jobs that begin anew are killed at any point that an
undisturbed life reports; those that resume, at points that each of their lives reaches.
"""

import hashlib
import json
import signal
import sys
from typing import ClassVar

import numpy as np

from isosne import TSNE
from isosne._archive import read_archive
from isosne.cli import main as isosne
from isosne.cli.app import app
from tests.contract.kill_host import Kill, Point

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CODES = {signal.SIGKILL: -signal.SIGKILL, signal.SIGTERM: 128 + signal.SIGTERM, signal.SIGINT: 130}
COMMON = ("--n-jobs", "1", "--memory-limit", "1GB", "-q")
SHORT = ("--n-iter", "260", *COMMON)
ISOLATION = ("--kernel", "isolation", "--psi", "8")
OLD = b"what the file held before\n"
LASTING = ("affinities", "step", "rows")
"""Phases in which a life is also killed while it runs on."""


def points():
    rng = np.random.default_rng(0)
    return rng.normal(size=(160, 5)) + 4 * rng.integers(0, 3, (160, 1))


class Job:
    """A command line that writes files into a folder over older ones."""

    phases = ("affinities", "start", "step", "rows", "fsync", "rename", "renamed")
    n_kills = 16
    outputs = ("map.csv", "map.csv.json")
    varying = ("map.csv.json",)
    """Outputs that hold the seconds of a run."""
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
        """Put files into the folder as they are before a life."""
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
        """Return the kills."""
        kills = []
        for k in range(self.n_kills):
            phase = self.phases[k % len(self.phases)]
            point = rng.choice([point for point in measured if point.phase == phase])
            kills.append(self.kill(point, k, rng))
        return kills

    def kill(self, point, k, rng):
        is_held = point.phase not in LASTING or rng.random() < 0.5
        return Kill(self.name, point, SIGNALS[k % len(SIGNALS)], is_held)

    def is_true(self, said, changed):
        """Return whether a sentence after SIGINT fits the outputs that have changed."""
        if "map so far" in said:
            return said.startswith("Interrupted at step ") and "map.csv" in changed
        names = ", ".join(changed)
        return said == f"Interrupted; {f'wrote {names}' if names else 'no file was written'}.\n"


class Resumed(Job):
    """A command whose lives begin where the last one ended."""

    soon: ClassVar = {}
    """Phases in the order of their kills, and from which calls of a life to choose."""

    @property
    def n_kills(self):
        return len(self.soon)

    def choose(self, measured, rng):
        chosen = [Point(phase.split()[0], rng.choice(calls)) for phase, calls in self.soon.items()]
        return [self.kill(point, k + len(self.name), rng) for k, point in enumerate(chosen)]


class Checkpointed(Resumed):
    """An embedding with a checkpoint, from which its lives resume."""

    soon: ClassVar = {
        "affinities": [0],
        "step": range(30),
        "array": range(12),
        "step again": range(30),
        "fsync": range(2),
        "rename": range(2),
        "renamed": range(2),
        "link": range(2),
        "linked": range(2),
    }
    outputs = ("map.csv", "map.csv.json", "model.isosne")
    left = (*outputs, "run.isosne")

    def __init__(self, name, *options):
        kept = ("--checkpoint", "run.isosne", "--save-model", "model.isosne")
        line = ("embed", "../x.npy", *options, *SHORT, *kept, "-o", "map.csv")
        super().__init__(name, *line)

    def begin(self, folder):
        for name in self.outputs:
            (folder / name).unlink(missing_ok=True)

    def progress(self, folder):
        path = folder / "run.isosne"
        if not path.exists():
            return 0
        return read_archive(path, "checkpoint").header["progress"]["dict"]["iteration"]

    def is_true(self, said, changed):
        if said in ("Interrupted; no file was written.\n", "Interrupted; wrote run.isosne.\n"):
            return not changed
        again = " with --force" if "map.csv" in changed else ""
        end = f"Run the same command again{again} to resume.\n"
        return "; the state is in run.isosne." in said and said.endswith(end)


class Placed(Checkpointed):
    """An embedding of landmarks, with rows to be placed and a model to be saved at the end."""

    soon: ClassVar = {
        "start": [0],
        "step": range(30),
        "array": range(12),
        "rename": range(2),
        "rows": [0],
        "fsync": range(2),
        "linked": range(2),
        "array of the model": range(8, 16),
        "renamed with the model": [1],
    }


class Swept(Resumed):
    """A sweep, whose lives resume after the last complete map."""

    soon: ClassVar = {
        "affinities": [0],
        "step": range(200),
        "fsync": [0],
        "start": [0],
        "measure": [0],
        "step again": range(200),
        "rename": [0],
        "renamed": [0],
    }
    outputs = ("sweep.csv",)
    left = outputs

    def __init__(self, name, *options):
        line = ("sweep", "../x.npy", *options, *SHORT, "--force", "-o", "sweep.csv")
        super().__init__(name, *line)

    def content(self, path):
        """Return the rows without the seconds that they took."""
        return [line.rpartition(",")[0] for line in path.read_text().splitlines()]

    def progress(self, folder):
        path = folder / "sweep.csv.jsonl"
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        return len([json.loads(line) for line in lines])

    def is_true(self, said, changed):
        if changed:
            return said == "Interrupted; wrote sweep.csv.\n"
        return "maps; their results are in sweep.csv.jsonl. Run the same command again" in said


class Transformed(Job):
    """New rows on the map of a model."""

    phases = ("rows", "fsync", "rename", "renamed")


class Saved(Job):
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

    def is_true(self, said, changed):
        return said == ""


MODEL = ("embed", "x.npy", *SHORT, "--save-model", "model.isosne", "-o", "y.npy")
"""Makes the model of the jobs that need one, in the folder above theirs."""
JOBS = (
    Job("embed", "embed", "../x.npy", *SHORT, "--force", "-o", "map.csv"),
    Checkpointed("all pairs", *ISOLATION),
    Checkpointed("neighbor lists"),
    Placed("landmarks", "--landmarks", "90"),
    Swept("sweep", "--kernel", "isolation", "--psi", "4,8,16"),
    Swept("sweep of another kernel", "--kernel", "gaussian", "--perplexity", "5,9,13"),
    Transformed(
        *("place", "place", "../model.isosne", "../x.npy", *COMMON),
        *("--force", "-o", "map.csv"),
    ),
    Saved("save"),
)
