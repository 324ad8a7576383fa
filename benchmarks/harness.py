"""Run a piece of work in a process of its own; report seconds and peak memory.

A *job* is a function that prepares data and returns a dict of named callables. Each callable is
run once on small data by the job itself if it wants its loops compiled before (warm figures).
"""

import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


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
