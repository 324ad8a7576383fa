"""Kill runs at twenty moments and resume them: `python -m tests.contract.kill_host FOLDER`.

A host loads isosne once and lives each life of a run in a fork of itself, which a signal ends that
cannot be caught: at a step, while a file is written or renamed, or after a while, wherever the run
is then. It prints, for each route, the digests of an undisturbed run and of the one that was
killed. Numba's threads must survive a fork: set NUMBA_THREADING_LAYER=forksafe.
"""

import hashlib
import json
import os
import pathlib
import signal
import sys
import time

import numpy as np
import numpy.lib.format

from isosne import TSNE, IsolationKernel
from isosne._archive import read_archive
from isosne.layout.schedules import Schedule

SHORTER = Schedule.standard(n_iter=420)
ROUTES = {
    "dense": {},
    "lists and mesh": {"affinities": "sparse", "forces": "mesh", "schedule": SHORTER},
    "draws and mesh": {"affinities": "sampled", "forces": "mesh", "schedule": SHORTER},
    "ends by itself": {"schedule": Schedule.opt_sne()},
    "landmarks without a seed": {"landmarks": 100, "random_state": None},
}
N_KILLS = 20
KINDS = ("step", "while", "array", "fsync", "rename")
MOST = {"step": 14, "array": 15, "fsync": 3, "rename": 2}
"""Moments of a life to choose from: some ten steps, some fifteen arrays, and two files."""


def points():
    rng = np.random.default_rng(0)
    return rng.normal(size=(240, 6)) + 4 * rng.integers(0, 3, (240, 1))


def make(route, callback=None):
    settings = {"random_state": 0, "n_jobs": 1} | ROUTES[route]
    return TSNE(IsolationKernel(12), callback=callback, **settings)


def dying(function, moment):
    """Return a function that dies when it is called for the moment-th time."""
    calls = iter(range(moment, -1, -1))

    def called(*args, **more):
        if next(calls, 1) == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **more)

    return called


class Run:
    """The lives of one run; its map and its state are in a folder."""

    def __init__(self, route, folder):
        folder.mkdir()
        self.route, self.folder = route, folder
        self.path, self.result = folder / "run.isosne", folder / "map.npy"

    def live(self, checkpoint, kind=None, moment=0):
        """Live one life in a fork; return whether it came to its end."""
        child = os.fork()
        if child == 0:
            self._live_here(checkpoint, kind, moment)
        if kind == "while":
            signal.sigtimedwait([signal.SIGCHLD], moment)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGKILL, status
            return False
        assert os.WEXITSTATUS(status) == 0, status
        return True

    def _live_here(self, checkpoint, kind, moment):
        callback = dying(lambda state: None, moment) if kind == "step" else None
        if kind == "array":
            numpy.lib.format.write_array = dying(numpy.lib.format.write_array, moment)
        if kind == "fsync":
            os.fsync = dying(os.fsync, moment)
        if kind == "rename":
            os.replace = dying(os.replace, moment)
            pathlib.Path.replace = dying(pathlib.Path.replace, moment)
        try:
            model = make(self.route, callback).fit(points(), checkpoint=checkpoint, every=5)
            np.save(self.result, model.embedding_)
        except BaseException as error:
            sys.stderr.write(f"{error!r}\n")
            os._exit(1)
        os._exit(0)

    def digest(self):
        found = hashlib.sha256(self.result.read_bytes()).hexdigest()
        self.result.unlink()
        return found

    def undisturbed(self):
        """Return the digest of a run that nobody kills, and the seconds of a life of it."""
        plain, copy = None, self.folder / "copy.isosne"
        if make(self.route).random_state is not None:
            assert self.live(None)
            plain = self.digest()
        else:  # the first state has the random numbers; from it on the run can be repeated
            assert not self.live(self.path, "step", 7)
            copy.write_bytes(self.path.read_bytes())
        began = time.perf_counter()
        assert self.live(copy)
        seconds = time.perf_counter() - began
        copy.unlink()
        digest = self.digest()
        assert plain in (None, digest)
        return digest, seconds


def kill(run, rng):
    """Kill a run twenty times, let it end, and return what is to be known of it."""
    undisturbed, seconds = run.undisturbed()
    moments = []
    for k in range(N_KILLS):
        kind = KINDS[k % len(KINDS)]
        # Four of these in a run: it must not end before its last kill, even on a busy machine.
        in_time = kind == "while"
        moment = rng.uniform(0, seconds / 8) if in_time else int(rng.integers(MOST[kind]))
        ended = run.live(run.path, kind, moment)
        moments.append((kind, moment, ended))
        if run.path.exists():
            read_archive(run.path, "checkpoint")
        if ended:
            break
    assert run.live(run.path)
    left = sorted(part.name for part in run.folder.iterdir())
    n_kills = sum(not ended for *_, ended in moments)
    digests = {"undisturbed": undisturbed, "killed": run.digest()}
    return digests | {"left": left, "n_kills": n_kills, "moments": moments}


def main(folder):
    for route in ROUTES:
        make(route).fit(points())  # loads the loops, which every fork would load again
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    told = {}
    for seed, route in enumerate(ROUTES):
        told[route] = kill(Run(route, folder / route), np.random.default_rng(seed))
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
