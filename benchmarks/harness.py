"""Run a piece of work in a process of its own; report seconds and peak memory.

A *job* is a function that prepares data and returns a dict of named callables. Each callable is
run once on small data by the job itself if it wants its loops compiled before (warm figures).
"""

import ctypes
import gc
import multiprocessing
import os
import platform
import subprocess
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"
"""Figures, maps and pictures that runs leave behind; not in git."""


def in_fresh_process(job: Callable[..., Any], *args: Any) -> Any:
    """Return job(*args), run in a new interpreter."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(job, args)


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return seconds, MB of memory at the peak beyond what was held before, and the result.

    The peak is the kernel's own count of resident pages (Linux).
    """
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = _status_mb("VmRSS")
    start = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - start
    return seconds, _status_mb("VmHWM") - before, result


def release_memory() -> None:
    """Give memory that is free, but still held by the process, back to the system (glibc)."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def _status_mb(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"/proc/self/status has no {field}: memory is measured on Linux only")


def table(header: list[str], rows: list[list[Any]]) -> str:
    """Return rows as a Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def load(name: str, shape: tuple[int, int]) -> tuple[np.ndarray, str]:
    """Return a real data set from the folder ISOSNE_DATA, or random bytes of its shape."""
    folder = os.environ.get("ISOSNE_DATA")
    path = Path(folder or "") / f"{name}.npz"
    if folder and path.exists():
        with np.load(path) as file:
            return file["X"], name
    random = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    return random, f"random bytes ({name} not found in ISOSNE_DATA)"


def commit() -> str:
    """Return the short name of the commit, with a plus if tracked files differ from it."""
    here = Path(__file__).parent
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    return subprocess.run(
        command, cwd=here, capture_output=True, text=True, check=False
    ).stdout.strip()


def versions(packages: list[str]) -> dict[str, str]:
    """Return the version of each package, or "not installed"."""
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def machine() -> dict[str, Any]:
    """Return what the figures depend on beside the code."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
