"""The process in which the cases of one area run; a crash ends it, and not the fuzz run.

This module imports nothing that imports Numba: the number of threads is set before.
"""

import faulthandler
import os
import resource
import shutil
import sys
import tempfile
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path

AREAS = {
    "estimator": "tests.fuzz.estimators",
    "kernel": "tests.fuzz.kernels",
    "reader": "tests.fuzz.readers",
    "model": "tests.fuzz.models",
    "checkpoint": "tests.fuzz.checkpoints",
}
"""Modules by area; each has a function ``run(case)``."""
LARGEST_GROWTH = 2**29
"""Bytes by which one case may raise the peak memory of its process: inputs are tiny. Chosen."""
READY, COMPILING, COMPILED = "ready", "compiling", "compiled"
"""What a worker says besides its verdicts."""


def work(area: str, folder: Path, link: Connection) -> None:
    """Judge one case after the other: receive seeds, send verdicts."""
    os.environ |= dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    os.dup2(os.open(folder / "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.enable()
    tempfile.tempdir = str(folder)  # the host removes it, even if this process is killed
    run = import_module(AREAS[area]).run
    _report_compilation(link)
    link.send(READY)
    while (seed := link.recv()) is not None:
        link.send(_judge(area, run, seed, folder / "case"))


def _judge(area, run, seed, folder):
    import numpy as np

    from tests.fuzz.case import Case, Verdict, judge

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    before = _peak_bytes()
    case = Case(np.random.default_rng([*area.encode(), seed]), folder)
    verdict = judge(run, case)
    grown = _peak_bytes() - before
    if grown > LARGEST_GROWTH:
        verdict = Verdict("failed", f"took {grown / 2**20:.0f} MB of memory", verdict.details)
    return tuple(verdict)


def _peak_bytes() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _report_compilation(link: Connection) -> None:
    """Tell the host when Numba compiles: that takes seconds, and is no hang."""
    from numba.core import event

    class Listener(event.Listener):
        depth = 0

        def on_start(self, event):
            if self.depth == 0:
                link.send(COMPILING)
            self.depth += 1

        def on_end(self, event):
            self.depth -= 1
            if self.depth == 0:
                link.send(COMPILED)

    event.register("numba:compile", Listener())
