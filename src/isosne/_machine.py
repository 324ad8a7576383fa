"""Limits of the machine: the CPUs and the memory that this process may use.

A container or a batch system may allow less than the machine has. On Linux, the limits of control
groups (cgroups, versions 1 and 2) are read; groups are nested, and the lowest limit counts. What
cannot be read limits nothing.
"""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import psutil

ROOT = Path("/")
CONTAINER = "container limit"
CACHE = ("inactive_file", "total_inactive_file")
"""Lines of memory.stat, by version 2 and 1: cached files, which the kernel frees on demand."""


class Limit(NamedTuple):
    """A number of CPUs or bytes, and what limits it to less than the machine has, if anything."""

    value: int
    reason: str = ""


def cpu_limit() -> Limit:
    """Return the number of CPUs that this process may use."""
    limits = [Limit(os.cpu_count() or 1)]
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        limits.append(Limit(len(os.sched_getaffinity(0)), "affinity"))
    limits += _quotas()
    return min(limits, key=lambda limit: limit.value)  # the first of equals


def free_memory() -> Limit:
    """Return the number of bytes that can be used without swapping or being killed."""
    free = Limit(int(psutil.virtual_memory().available))
    rooms = [Limit(room, CONTAINER) for room in map(_room, _groups("memory")) if room >= 0]
    return min([free, *rooms], key=lambda limit: limit.value)


@cache
def _quotas() -> tuple[Limit, ...]:
    """Return CPU quotas, rounded up; read once, because loops ask for the number of threads."""
    found = []
    for group in _groups("cpu"):
        old = (_read(group / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
        with suppress(ValueError):  # "max", or no such file
            quota, period = map(int, _read(group / "cpu.max").split() or " ".join(old).split())
            if quota > 0:  # -1: no limit
                found.append(Limit(math.ceil(quota / period), "quota"))
    return tuple(found)


def _room(group: Path) -> int:
    """Return the bytes that a group may still use; -1 if it has no limit."""
    limits = [_number(group / f"memory.{name}") for name in ("max", "high", "limit_in_bytes")]
    limits = [limit for limit in limits if limit >= 0]
    used = max(_number(group / f"memory.{name}") for name in ("current", "usage_in_bytes"))
    words = _read(group / "memory.stat").split()
    stat = dict(zip(words[::2], words[1::2], strict=False))
    cached = max(int(stat.get(name, 0)) for name in CACHE)
    return max(0, min(limits) - max(0, used - cached)) if limits else -1


def _groups(controller: str) -> Iterator[Path]:
    """Yield the folders of the groups that this process is in, the innermost first.

    In a container, the groups of the path may be outside, and its own be the root.
    """
    for line in _read(ROOT / "proc/self/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        if names and controller not in names.split(","):
            continue
        mount = ROOT / "sys/fs/cgroup" / (controller if names else "")
        group = PurePosixPath(path.lstrip("/"))
        yield from (mount / folder for folder in (group, *group.parents))


def _number(path: Path) -> int:
    """Return the number in a file; -1 if there is none."""
    text = _read(path).strip()
    return int(text) if text.isdigit() else -1


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
