"""Runs on disks that are full, and two runs with one checkpoint."""

import ctypes
import os
import resource
import signal
from pathlib import Path

from tests.contract.kill_host import Kill, Point, live, there
from tests.contract.kill_jobs import JOBS, Checkpointed, Job

LIMITS = (100, 900)
"""Bytes that a file may have; the largest file of each job has more."""
FULL = "no space left on the disk. Free some space, or write to another disk."
IMPOSSIBLE = 77
"""Exit code if the system does not let a process mount a disk of its own."""
NEW_MOUNTS, NEW_USER, PRIVATE = 0x20000, 0x10000000, 0x44000
"""Flags of Linux: CLONE_NEWNS, CLONE_NEWUSER, and MS_PRIVATE with MS_REC."""


def full_disks(folder):
    """Run each job on each disk, then on one with space.

    Return both exit codes, what was said, whether the old files are as before, and what is left.
    """
    disks = {f"files of {n} bytes": limited(n) for n in LIMITS} | {"small disk": on_small_disk}
    found = []
    for job in {type(job): job for job in JOBS}.values():
        for disk, wrapped in disks.items():
            place = folder / f"{job.name}, {disk}"
            place.mkdir()
            job.begin(place)
            before = contents(place)
            death = live(wrapped(job.run), place)
            said = death.said.strip().rpartition("\n")[2]
            is_kept = before.items() <= contents(place).items()
            parts = there(place)[1]
            codes = [death.code, live(job.run, place).code]
            found.append([job.name, disk, codes, said, is_kept, parts])
    return found


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def limited(n_bytes):
    """Return what makes a run one that can write only files of some bytes."""

    def wrapped(run):
        def run_limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))
            return run()

        return run_limited

    return wrapped


def on_small_disk(run):
    """Return a run on a disk of one page in place of its folder, which no other process sees."""

    def run_there():
        system = ctypes.CDLL(None, use_errno=True)
        here = os.fsencode(Path.cwd())
        flags = NEW_MOUNTS if os.geteuid() == 0 else NEW_MOUNTS | NEW_USER
        if (
            system.unshare(flags)
            or system.mount(b"none", b"/", None, PRIVATE, None)
            or system.mount(b"tmpfs", here, b"tmpfs", 0, b"size=4k")
        ):
            os.write(2, b"impossible\n")
            return IMPOSSIBLE
        os.chdir(here)
        code = run()
        assert there(".")[1] == []
        return code

    return run_there


def two_runs(folder):
    """Begin a second run, with other parameters, while the first one holds their checkpoint."""
    place = folder / "two runs"
    place.mkdir()
    first, other = Checkpointed("first"), Checkpointed("second", "--seed", "2")
    second = Job("second", *other.line[:-1], "second.csv")
    pause = Kill("first", Point("step", 3), signal.SIGCONT, True)
    refused = []
    death = live(first.run, place, pause, lambda: refused.append(live(second.run, place)))
    return {
        "first": [death.hit, death.code, death.said],
        "second": [refused[0].code, refused[0].said],
        "left": there(place),
    }
