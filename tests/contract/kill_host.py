"""Lives of runs that end by a signal at a point that they have reported.

A host loads isosne and every loop once, and lives each life of a run in a fork of itself, so that
no life compiles anything. A life reports each point that it reaches through a pipe. At the point
where it is to be killed it waits until the signal has been sent; or it runs on meanwhile, and waits
at the end of the phase or some steps later, so that a slow host hits it, too.
"""

import importlib
import os
import re
import select
import signal
import sys
import traceback
from pathlib import Path
from typing import NamedTuple

from isosne._numba import _pool

POINTS = {
    "affinities": "isosne.tsne.fit:make_affinities",
    "start": "isosne.tsne.fit:initial_map",
    "measure": "isosne.studies.parameter_sweep:report",
    "rows": "isosne.rows.map_writer:MapWriter.write",
    "part": "isosne.place.job:Job._place_rows",
    "array": "numpy.lib.format:write_array",
    "fsync": "os:fsync",
    "rename": "pathlib:Path.replace",
    "link": "os:link",
}
"""Functions whose calls are reported before they begin."""
AFTER = {"renamed": "pathlib:Path.replace", "linked": "os:link"}
"""Functions whose calls are reported when they have returned."""
LOOPS = {"step": "isosne.tsne.run:descend"}
"""Generators whose values are reported."""
WINDOW = 10
"""Further points of its phase that a life may reach before the signal, if it is not held."""


class Point(NamedTuple):
    """The n-th call of a function, or the n-th step, in a life, from 0."""

    phase: str
    n: int


class Kill(NamedTuple):
    """A signal to send at a point; the life waits for it there if it is held."""

    job: str
    point: Point
    signal: signal.Signals
    is_held: bool


class Death(NamedTuple):
    """How a life ended: whether the signal hit it at its point, its exit code, what it printed."""

    hit: bool
    code: int
    said: str
    points: list[Point]


class Life:
    """The side of the fork: reports points, and waits at the one that was chosen."""

    def __init__(self, reports, signals, kill):
        self._reports, self._signals = reports, signals
        self._target = kill and kill.point
        self._window = 0 if kill is None or kill.is_held else WINDOW
        self._is_near = False

    def reach(self, phase, n):
        """Report a point; wait if it is the last one before the signal."""
        is_last = self._is_near and self._target is not None and phase != self._target.phase
        if not is_last:
            os.write(self._reports, f"{phase} {n}\n".encode())
        self._is_near |= self._target == (phase, n)
        if self._is_near and (is_last or n >= self._target.n + self._window):
            os.read(self._signals, 1)
            self._is_near, self._target = False, None

    def watch(self):
        """Have every point reported from now on."""
        for phase, target in LOOPS.items():
            _replace(target, lambda loop, phase=phase: self._looping(loop, phase))
        for phase, target in POINTS.items():
            _replace(target, lambda call, phase=phase: self._calling(call, phase, before=True))
        for phase, target in AFTER.items():
            _replace(target, lambda call, phase=phase: self._calling(call, phase, before=False))

    def _calling(self, function, phase, *, before):
        counts = iter(range(10**9))

        def called(*args, **more):
            if before:
                self.reach(phase, next(counts))
            result = function(*args, **more)
            if not before:
                self.reach(phase, next(counts))
            return result

        return called

    def _looping(self, loop, phase):
        counts = iter(range(10**9))

        def looped(*args):
            for state in loop(*args):
                self.reach(phase, next(counts))
                yield state

        return looped


def _replace(target, wrapped):
    """Replace ``module:name`` by what a function makes of it."""
    module, _, name = target.partition(":")
    owner = importlib.import_module(module)
    *parents, last = name.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    setattr(owner, last, wrapped(getattr(owner, last)))


def without_threads():
    """Load only loops for one thread, here and in all forks: threads do not survive a fork."""
    _pool._is_started = _pool.is_lost = True


def live(run, folder, kill=None, meanwhile=lambda: None):
    """Live one life of a run, a function that returns an exit code, in a folder.

    The function `meanwhile` is called while a held life waits for its signal.
    """
    reports, its_reports = os.pipe()
    its_signals, signals = os.pipe()
    said, its_said = os.pipe()  # has room for all that a life says
    child = os.fork()
    if child == 0:
        for ours in (reports, signals, said):
            os.close(ours)
        _live_here(run, folder, its_said, Life(its_reports, its_signals, kill))
    for its in (its_reports, its_signals, its_said):
        os.close(its)
    seen, hit = _watch(child, reports, kill, meanwhile)
    os.close(signals)  # a held life goes on
    points, sentence = _points(seen + _read_all(reports)), _read_all(said).decode()
    os.close(reports)
    os.close(said)
    _, status = os.waitpid(child, 0)
    return Death(hit, os.waitstatus_to_exitcode(status), sentence, points)


def _watch(child, reports, kill, meanwhile):
    """Send the signal when its point is reported; return what was read, and whether it hit."""
    seen = b""
    if kill is None:
        return seen, False
    wanted = f"{kill.point.phase} {kill.point.n}\n".encode()
    while not re.search(rb"(?m)^" + wanted, seen):
        more = os.read(reports, 65536)
        if not more:
            return seen, False
        seen += more
    while select.select([reports], [], [], 0)[0] and (more := os.read(reports, 65536)):
        seen += more
    meanwhile()
    is_there = _points(seen)[-1].phase == kill.point.phase
    # It is alive, or not yet waited for: the signal cannot reach another process.
    is_alive = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    os.kill(child, kill.signal)
    return seen, is_there and is_alive


def _read_all(reports):
    return b"".join(iter(lambda: os.read(reports, 65536), b""))


def _points(seen):
    whole = seen[: seen.rfind(b"\n") + 1].decode().split("\n")[:-1]
    return [Point(phase, int(n)) for phase, n in (line.split() for line in whole)]


def _live_here(run, folder, said, life):
    code = 1
    try:
        os.chdir(folder)
        os.dup2(said, 2)
        os.close(said)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        life.watch()
        code = run()
    except KeyboardInterrupt:
        code = 130
    except BaseException:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)


def there(folder):
    """Return the names in a folder, without temporary ones, and the temporary ones."""
    names = sorted(path.name for path in Path(folder).iterdir())
    parts = [name for name in names if name.endswith(".part")]
    return [name for name in names if name not in parts], parts
