"""Run cases in worker processes: a crash or a hang ends a worker, and not the fuzz run.

This module imports nothing that imports Numba: a worker sets the number of threads before.
"""

import faulthandler
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

AREAS = {
    "estimator": "tests.fuzz.estimators",
    "reader": "tests.fuzz.readers",
    "model": "tests.fuzz.archives",
    "checkpoint": "tests.fuzz.archives",
    "command": "tests.fuzz.commands",
}
"""Modules by area; each has a function ``run_AREA(case)``."""
LIMIT_SECONDS = 120.0
"""A case takes milliseconds, or some seconds if Numba compiles; longer than this is a hang."""
LARGEST_GROWTH = 2**29
"""Bytes by which one case may raise the peak memory of its process: inputs are tiny. Chosen."""
READY = "ready"


class Result(NamedTuple):
    """The verdict on a case, and the command that repeats it."""

    command: str
    outcome: str
    reason: str
    details: str


def run_cases(area, seeds, *, seconds=float("inf"), report=lambda result: None):
    """Judge cases until the seeds or the seconds end; return the number of each outcome."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        worker, until = Worker(area, Path(folder)), time.monotonic() + seconds
        for seed in seeds:
            if time.monotonic() > until:
                break
            if not worker.process.is_alive():
                worker = Worker(area, Path(folder))
            result = Result(f"python -m tests.fuzz {area} {seed}", *worker.judge(seed))
            counts[result.outcome] += 1
            report(result)
        worker.process.kill()
        worker.process.join()
    return counts


class Worker:
    """A process that judges the cases of one area."""

    def __init__(self, area, folder):
        context = multiprocessing.get_context("spawn")
        self.link, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(area, folder, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.errors = folder / "stderr"
        started = self.answer()
        if started != READY:
            raise RuntimeError(f"The worker of {area} did not start: {started}")

    def judge(self, seed):
        """Return outcome, reason and details of a case; of a crash and a hang, too."""
        self.link.send(seed)
        answer = self.answer()
        if isinstance(answer, str):
            self.process.kill()
            self.process.join()
            return "failed", answer, self.errors.read_text(errors="replace")[-3000:]
        return answer

    def answer(self):
        """Return what the worker sends, or in words why it sends nothing."""
        try:
            if self.link.poll(LIMIT_SECONDS):
                return self.link.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            code = self.process.exitcode
            return f"crashed: {signal.Signals(-code).name if code < 0 else f'exit code {code}'}"
        return f"hung: no verdict within {LIMIT_SECONDS:.0f} s"


def work(area, folder, link):
    """Judge one case after the other in a process: receive seeds, send verdicts."""
    os.environ |= dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    os.dup2(os.open(folder / "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.enable()
    tempfile.tempdir = str(folder)  # the host removes it, even if this process is killed
    run = getattr(import_module(AREAS[area]), f"run_{area}")
    link.send(READY)
    while True:
        link.send(_judge(area, run, link.recv(), folder / "case"))


def _judge(area, run, seed, folder):
    import numpy as np

    from tests.fuzz.case import Case, judge

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    before = _peak_bytes()
    outcome, reason, details = judge(
        run, Case(np.random.default_rng([*area.encode(), seed]), folder)
    )
    grown = _peak_bytes() - before
    if grown > LARGEST_GROWTH:
        outcome, reason = "failed", f"took {grown / 2**20:.0f} MB of memory"
    return outcome, reason, details


def _peak_bytes() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
