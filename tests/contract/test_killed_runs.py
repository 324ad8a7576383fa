"""Runs that are killed lose nothing, and end with the files of runs that nobody disturbed.

This module, run as a program, is the host: it loads every loop once, and runs each command in forks
of itself. A fork sends itself a signal at a chosen call: within an array of a checkpoint, before a
file is flushed to the disk, before it is renamed, or at a step. Then it runs again, to its end.
"""

import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isosne._numba import _pool
from isosne.cli import main as isosne

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(os.name != "posix", reason="forks and signals of POSIX"),
]
POINTS = {
    "step": "isosne.layout.descent:advance",
    "array": "numpy.lib.format:write_array",
    "fsync": "os:fsync",
    "rename": "pathlib:Path.replace",
}
"""Functions at whose calls a run can be killed."""
COMMON = ("--n-jobs", "1", "--memory-limit", "1GB", "-q")
SHORT = ("--n-iter", "160", *COMMON)
CHECKPOINT = ("--checkpoint", "run.isosne", "--save-model", "model.isosne")
JOBS = {
    "map": ("embed", "../x.npy", *SHORT, *CHECKPOINT, "--force", "-o", "map.csv"),
    "landmarks": ("embed", "../x.npy", *SHORT, "--landmarks", "90", "--force", "-o", "map.parquet"),
    "sweep": ("sweep", "../x.npy", "--cell-size", "4,8", *SHORT, "--force", "-o", "sweep.csv"),
    "folder": (
        *("place", "../m.isosne", "../in", "-o", "out", "--keep", "id", *COMMON),
        *("--picture", "map.png", "--label", "id", "--force"),
    ),
}
KILLS = {
    # of the map, the last three files are the map, its provenance and the model
    "map": [("step", 30), ("array", 5), ("fsync", 1), ("rename", 1)]
    + [(phase, last) for last in (-3, -2, -1) for phase in ("fsync", "rename")],
    "landmarks": [("step", 30), ("fsync", -1), ("rename", -1)],
    "sweep": [("step", 30), ("step", -30), ("fsync", -1), ("rename", -1)],
    "folder": [("fsync", 1), ("rename", 2), ("fsync", -1), ("rename", -1)],
}
"""Calls at which a life ends, by number; negative ones count from the end of a whole life."""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
FULL = "no space left on the disk. Free some space, or write to another disk."


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What became of the runs; one host kills them all."""
    name, folder = "tests.contract.test_killed_runs", tmp_path_factory.mktemp("runs")
    done = subprocess.run(
        [sys.executable, "-m", name, folder],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("job", JOBS)
def test_a_killed_run_resumes_and_ends_with_the_same_files(told, job):
    assert told[job]["faults"] == []
    assert told[job]["n_hits"] == len(KILLS[job])


@pytest.mark.parametrize("job", ["map", "folder"])
def test_a_full_disk_is_one_sentence_and_leaves_the_old_files(told, job):
    code, said, is_kept = told[job]["full"]
    assert (code, is_kept) == (1, True)
    assert FULL in said


def prepare(folder):
    """Write points, a model, and the parts of a folder."""
    rng = np.random.default_rng(0)
    np.save(folder / "x.npy", rng.normal(size=(160, 5)) + 4 * rng.integers(0, 3, (160, 1)))
    frame = pd.DataFrame(rng.normal(size=(90, 3)).astype("f4"), columns=["a", "b", "c"])
    frame.to_parquet(folder / "y.parquet")
    os.chdir(folder)
    run("embed", "y.parquet", *SHORT, "--save-model", "m.isosne", "-o", "y.npy")
    for k in range(6):
        path = folder / "in" / f"day={k % 2}" / f"part-{k}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        frame[: 9 * k].assign(id=np.arange(9 * k) % 7).to_parquet(path)  # the first has no rows


def run(*line):
    """Run a command line as a process does; return the exit code."""
    sys.argv = ["isosne", *line]
    try:
        isosne()
    except SystemExit as end:
        return end.code or 0
    return 0


def live(line, folder, point=None, number=signal.SIGKILL, limit=None):
    """Run a command in a fork; return its exit code, what it said, and its calls by phase."""
    (reports, its_reports), (said, its_said) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        os.dup2(its_said, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        for phase, target in POINTS.items():
            _watch(phase, target, its_reports, point, number)
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        code = run(*line)
        sys.stderr.flush()
        os._exit(code)
    os.close(its_reports)
    os.close(its_said)
    with os.fdopen(reports) as calls, os.fdopen(said) as words:
        counts, sentence = Counter(calls.read().split()), words.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sentence, counts


def _watch(phase, target, reports, point, number):
    """Report each call of a function; send the signal before the one that was chosen."""
    module, _, name = target.partition(":")
    owner = importlib.import_module(module)
    *parents, last = name.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    function, calls = getattr(owner, last), iter(range(10**9))

    def called(*args, **more):
        if (phase, next(calls)) == point:
            os.kill(os.getpid(), number)
        os.write(reports, f"{phase}\n".encode())
        return function(*args, **more)

    setattr(owner, last, called)


def contents(folder):
    """What each file holds, without seconds, which differ, and without checkpoints."""
    files = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    kept = {name: path.read_bytes() for name, path in files.items() if name != "run.isosne"}
    for name in kept.keys() & {"map.csv.json", "map.parquet"}:
        kept[name] = pd.read_parquet(files[name]).to_csv() if name.endswith("t") else "json"
    if "sweep.csv" in kept:
        kept["sweep.csv"] = [line.rpartition(b",")[0] for line in kept["sweep.csv"].split(b"\n")]
    return {name: str(content) for name, content in kept.items()}


def is_result(name):
    return not Path(name).name.startswith(".") and not name.endswith((".jsonl", "job.json"))


def kill_all(name, folder):
    """Kill a job at each point, by one of the signals, and let it end each time."""
    line, faults, n_hits = JOBS[name], [], 0
    whole_folder = folder / f"{name}, undisturbed"
    whole_folder.mkdir()
    _, _, counts = live(line, whole_folder)
    whole = contents(whole_folder)
    for k, (phase, n) in enumerate(KILLS[name]):
        number, point = SIGNALS[k % 3], (phase, n if n >= 0 else counts[phase] + n)
        place = folder / f"{name} {phase} {n}"
        place.mkdir()
        code, said, _ = live(line, place, point, number)
        n_hits += code == (-number if number == signal.SIGKILL else 128 + number)
        left = contents(place)
        results = {name: content for name, content in left.items() if is_result(name)}
        if not results.items() <= whole.items() and "map so far" not in said:
            faults.append(["damaged", *point, number])
        if number != signal.SIGKILL and any(name.endswith(".part") for name in left):
            faults.append(["left behind", *point, number, sorted(left)])
        code, said, _ = live(line, place)
        left = {name: part for name, part in contents(place).items() if not name.endswith(".part")}
        if code or left != whole:
            faults.append(["different", *point, number, said, sorted(left)])
    before = contents(whole_folder)
    anew = ["more" if part == "out" else part for part in line]  # a folder has nothing left to do
    code, said, _ = live(anew, whole_folder, limit=900)
    is_kept = before.items() <= contents(whole_folder).items()
    return {"faults": faults, "n_hits": n_hits, "full": [code, said, is_kept]}


def main(folder):
    _pool._is_started = _pool.is_lost = True  # no threads: they do not survive a fork
    warnings.simplefilter("ignore")
    out, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: PTH123, SIM115
    prepare(folder)
    told = {}
    for name, line in JOBS.items():
        warm = folder / f"{name}, warm"
        warm.mkdir()
        os.chdir(warm)
        assert run(*line) == 0
        told[name] = kill_all(name, folder)
    out.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
