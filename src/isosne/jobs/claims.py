"""Divide work between processes: who claims a piece of it, does it.

A claim is a small file that names its owner: host, process and start of the process. It appears
complete, and only if there is none yet. Nobody waits for a claim. A claim is abandoned if its owner
no longer runs, which is known at once on the same host; on another host, if the owner has not
renewed it for some minutes. Claims save work and no result depends on them: if two processes do the
same piece, both write the same bytes.
"""

import json
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from isosne._files import encode_json, whole_file
from isosne.errors import OutputError

ABANDONED_SECONDS = 600
"""Time after which a claim of another host that was not renewed is abandoned. Chosen: far more than
the seconds between two blocks of rows, after each of which a claim is renewed."""
START_TOLERANCE_SECONDS = 5.0
"""Largest difference between two readings of the start of a process, which is computed from the
clock of the system. Chosen: numbers of processes are not used again so soon."""


class Owner(NamedTuple):
    """A process."""

    host: str
    pid: int
    started: float

    @classmethod
    def this_process(cls) -> "Owner":
        """Return the current process."""
        return cls(platform.node(), os.getpid(), psutil.Process().create_time())

    def is_gone(self) -> bool:
        """Return whether the process is known to have ended; False for other hosts."""
        if self.host != platform.node():
            return False
        try:
            process = psutil.Process(self.pid)
            is_same = abs(process.create_time() - self.started) < START_TOLERANCE_SECONDS
            return not is_same or bool(process.status() == psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return True
        except psutil.AccessDenied:
            return False


class Claim:
    """A claim of this process."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def renew(self) -> None:
        """Tell other hosts that the work goes on."""
        with suppress(OSError):
            os.utime(self.path)

    def release(self) -> None:
        """Remove the claim."""
        with suppress(OSError):
            self.path.unlink()


@contextmanager
def claimed(path: Path) -> Iterator[Claim | None]:
    """Claim a piece of work for the time of the block; None if another process has claimed it."""
    claim = _try_claim(path)
    try:
        yield claim
    finally:
        if claim is not None:
            claim.release()


def _try_claim(path: Path) -> Claim | None:
    if path.exists():
        if not _is_abandoned(path):
            return None
        path.unlink(missing_ok=True)
    try:
        with whole_file(path) as file:
            file.write(encode_json(Owner.this_process()._asdict()).encode())
    except OutputError:
        if path.exists():  # another process was faster
            return None
        raise
    return Claim(path)


def _is_abandoned(path: Path) -> bool:
    try:
        owner = Owner(**json.loads(path.read_bytes()))
        age_seconds = time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return True  # just released
    except (ValueError, TypeError):
        return True  # damaged: no owner can be found
    return owner.is_gone() or age_seconds > ABANDONED_SECONDS
