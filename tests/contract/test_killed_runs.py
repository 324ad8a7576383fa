"""Runs that are killed twenty times, at any moment, and end as one that nobody disturbed.

A host loads isosne once and lives each life of a run in a fork of itself, which a signal ends that
cannot be caught: at a step, while a file is written or renamed, or after a while, wherever the run
is then.
"""

import json
import os
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="forks and signals of POSIX"),
]

HOST = """
import hashlib, json, os, pathlib, signal, sys, time
import numpy as np
import numpy.lib.format
from isosne import TSNE, IsolationKernel
from isosne._archive import read_archive
from isosne.layout.schedules import opt_sne, standard

folder = pathlib.Path(sys.argv[1])
path, result = folder / "run.isosne", folder / "map.npy"
N_KILLS = 20
rng = np.random.default_rng(int(sys.argv[3]))
data = np.random.default_rng(0)
X = data.normal(size=(240, 6)) + 4 * data.integers(0, 3, (240, 1))
ROUTES = {
    "dense": {},
    "lists and mesh": {"affinities": "sparse", "forces": "mesh", "schedule": standard(n_iter=420)},
    "draws and mesh": {"affinities": "sampled", "forces": "mesh", "schedule": standard(n_iter=420)},
    "ends by itself": {"schedule": opt_sne()},
    "landmarks without a seed": {"landmarks": 100, "random_state": None},
}
settings = {"random_state": 0, "n_jobs": 1} | ROUTES[sys.argv[2]]


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def dying(function, moment):
    \"\"\"Return a function that dies when it is called for the moment-th time.\"\"\"
    calls = iter(range(moment, -1, -1))

    def called(*args, **more):
        if next(calls, 1) == 0:
            die()
        return function(*args, **more)

    return called


def live(checkpoint, kind=None, moment=0):
    \"\"\"Live one life of the run in a fork; return whether it came to its end.\"\"\"
    child = os.fork()
    if child == 0:
        callback = dying(lambda state: None, moment) if kind == "step" else None
        if kind == "array":
            numpy.lib.format.write_array = dying(numpy.lib.format.write_array, moment)
        if kind == "fsync":
            os.fsync = dying(os.fsync, moment)
        if kind == "rename":
            os.replace = dying(os.replace, moment)
            pathlib.Path.replace = dying(pathlib.Path.replace, moment)
        model = TSNE(IsolationKernel(12), callback=callback, **settings)
        model.fit(X, checkpoint=checkpoint, every=5)
        np.save(result, model.embedding_)
        os._exit(0)
    if kind == "while":
        signal.sigtimedwait([signal.SIGCHLD], moment)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return False
    assert os.WEXITSTATUS(status) == 0, status
    return True


def digest():
    found = hashlib.sha256(result.read_bytes()).hexdigest()
    result.unlink()
    return found


signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
began = time.perf_counter()
undisturbed = None
if settings["random_state"] is not None:
    assert live(None)
    undisturbed = digest()
else:  # the first state has the random numbers; from it on the run is one that can be repeated
    assert not live(path, "step", 7)
    copy = folder / "copy.isosne"
    copy.write_bytes(path.read_bytes())
    assert live(copy)
    undisturbed = digest()
    copy.unlink()
seconds = time.perf_counter() - began
moments = []
for k in range(N_KILLS):
    kind = ("step", "while", "array", "fsync", "rename")[k % 5]
    # Some ten steps at the most, some fifteen arrays, and two files; half of a life at the most.
    most = {"step": 14, "array": 15, "fsync": 3, "rename": 2, "while": 0}[kind]
    moment = rng.uniform(0, 0.5 * seconds) if kind == "while" else int(rng.integers(most))
    ended = live(path, kind, moment)
    moments.append((kind, moment, ended))
    if path.exists():
        read_archive(path, "checkpoint")
    if ended:
        break
assert live(path)
left = sorted(part.name for part in folder.iterdir())
print(json.dumps({"undisturbed": undisturbed, "killed": digest(), "left": left,
                  "n_kills": sum(not ended for *_, ended in moments), "moments": moments}))
"""
ROUTES = ["dense", "lists and mesh", "draws and mesh", "ends by itself", "landmarks without a seed"]


@pytest.mark.parametrize("route", ROUTES)
def test_a_run_killed_at_twenty_moments_ends_with_the_same_bytes(route, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", HOST, str(tmp_path), route, str(ROUTES.index(route))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["n_kills"] == 20, told["moments"]
    assert told["killed"] == told["undisturbed"], told["moments"]
    assert told["left"] == ["map.npy", "run.isosne"]
