"""Maps beside programs that keep the cores busy: seconds, and how many times the fair share.

The fair share of a run is the CPU time that it takes alone on one thread, divided by the share of
a core that one of all these programs gets, cores / (loops + 1).
"""

import math
import multiprocessing
import os
import time
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from benchmarks.harness import table
from benchmarks.peers.methods import METHODS
from benchmarks.peers.points import draw_points

LOOPS = [0, 2, 4, 8]
LIMIT = 150.0
"""Seconds after which a run is ended."""
spawn = multiprocessing.get_context("spawn")


def spin() -> None:
    """Keep a core busy."""
    while True:
        math.sqrt(2.0)


def fit_on_demand(key: str, X: np.ndarray, threads: int, channel: Connection) -> None:
    """Fit once for each message; send seconds and CPU seconds."""
    METHODS[key].fit(X[:2000], threads, 0)
    if METHODS[key].prepare is not None:
        METHODS[key].prepare(X, threads, 0)
    channel.send(None)
    while channel.recv():
        start, worked = time.perf_counter(), time.process_time()
        METHODS[key].fit(X, threads, 0)
        channel.send((time.perf_counter() - start, time.process_time() - worked))


def seconds(key: str, X: np.ndarray, threads: int, loops: list[int]) -> list[Any]:
    """Return (seconds, CPU seconds) beside each number of loops; None for what took too long."""
    here, there = spawn.Pipe()
    process = spawn.Process(target=fit_on_demand, args=(key, X, threads, there), daemon=True)
    process.start()
    here.recv()
    found: list[Any] = []
    for n in loops:
        if found and found[-1] is None:  # more loops take longer
            found.append(None)
            continue
        busy = [spawn.Process(target=spin, daemon=True) for _ in range(n)]
        for loop in busy:
            loop.start()
        time.sleep(1)  # until all have started
        here.send(True)
        found.append(here.recv() if here.poll(LIMIT) else None)
        for loop in busy:
            loop.kill()
    process.kill()
    return found


def run(quick: bool) -> str:
    """Return the table."""
    cores = len(os.sched_getaffinity(0))
    sizes = [500, 2000] if quick else [500, 2000, 10_000, 70_000]
    rows = []
    for n in sizes:
        X = draw_points("mnist70k", n).X
        for key in ["isosne", "sklearn", "opentsne"] if n < 70_000 else ["isosne", "opentsne"]:
            alone = seconds(key, X, 1, [0])[0][1] if key == "isosne" else 0.0
            rows.append([n, METHODS[key].name, *cells(seconds(key, X, cores, LOOPS), alone, cores)])
            print(rows[-1], flush=True)
    header = ["points", "method", *(f"{n} loops, s" if n else "alone, s" for n in LOOPS)]
    title = f"Beside busy loops: samples of MNIST, {cores} cores, warm; in brackets: fair shares"
    return f"### {title}\n\n{table(header, rows)}"


def cells(found: list[Any], alone: float, cores: int) -> list[str]:
    """Return the seconds as text, with the ratio to the fair share if `alone` is known."""
    texts = []
    for n, took in zip(LOOPS, found, strict=True):
        fair = alone * max(1.0, (n + 1) / cores)
        share = f" ({took[0] / fair:.2f})" if took and alone and n else ""
        texts.append(f"{took[0]:.2f}{share}" if took else f"over {LIMIT:.0f}")
    return texts
