"""What watching costs: fits with and without a page, the first step, and frames while panning.

The page is open in Chromium without a graphics card on the same machine, as for the tests
(`make browser`).
"""

import json
import multiprocessing
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from benchmarks.harness import load, table
from isosne import TSNE
from isosne.explorer import Explorer
from isosne.explorer.data import Settings, from_python
from isosne.explorer.session import Session

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-3d-apis", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--disable-dev-shm-usage",
)
SETTLE_SECONDS = 2
"""Rest between two fits, in which the page draws the map before."""
N_POINTS = """
const figure = window.Bokeh?.documents[0]?.get_model_by_name("map0")
if (figure == null) { return 0 }
const {data} = figure.renderers.find((r) => r.name == "points").data_source
return Array.from(data.x0).filter(Number.isFinite).length
"""
HAS_STEP = """
for (const model of Bokeh.documents[0]._all_models.values()) {
  if (/(Running|Finished), step/.test(model.text ?? "")) { return true }
}
return false
"""
IS_MEASURED = """
for (const model of Bokeh.documents[0]?._all_models.values() ?? []) {
  if (/area under R_NX/.test(model.text ?? "")) { return true }
}
return false
"""
PAN = """
const done = arguments[0]
const figure = Bokeh.documents[0].get_model_by_name("map0")
const times = []
let last = null, step = 0
const move = (now) => {
  if (last != null) { times.push(now - last) }
  last = now
  if (++step > 40) { return done(times) }
  Bokeh.documents[0].interactive_start(figure)
  figure.x_range.setv({start: figure.x_range.start + 0.01, end: figure.x_range.end + 0.01})
  requestAnimationFrame(move)
}
requestAnimationFrame(move)
"""


@contextmanager
def browser_at(address: str) -> Iterator[Any]:
    """Open a page."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    with tempfile.TemporaryDirectory() as folder:
        for flag in (*FLAGS, f"--user-data-dir={folder}"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
        browser.set_script_timeout(300)
        try:
            browser.get(address)
            yield browser
        finally:
            browser.quit()


@contextmanager
def opened(session: Session) -> Iterator[Any]:
    """Serve a session, and open its page."""
    explorer = Explorer(session)
    explorer.start()
    try:
        with browser_at(explorer.address) as browser:
            yield browser
    finally:
        explorer.close()


def load_digits(n: int) -> np.ndarray:
    """Return the first n digits of MNIST."""
    return load("mnist70k", (70_000, 784))[0][:n].astype(np.float32)


def timed(work: Callable[[], Any]) -> float:
    """Return the seconds that a function takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def wait(condition: Any) -> None:
    """Wait until something holds."""
    while not condition():
        time.sleep(0.02)


def fit_alone(n: int) -> float:
    """Return the seconds of a fit of the first n digits in this process."""
    X = load_digits(n)
    return timed(lambda: TSNE(random_state=0).fit(X))


def overhead(n: int, n_rounds: int) -> list[float]:
    """Return the seconds of fits without and with a page, the medians of several in turns.

    Fits without a page run in a process of their own, as they do in a script: a second thread that
    computes in one process is slower. The page stays open, and rests meanwhile.
    """
    session = Session(from_python(load_digits(n)))
    plain, watched = [], []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as alone, opened(session) as browser:
        for _ in range(n_rounds + 1):
            session.begin(0, Settings())
            watched.append(timed(session.maps[0].join))
            wait(lambda: browser.execute_script(IS_MEASURED))  # which takes time after a run
            time.sleep(SETTLE_SECONDS)
            plain.append(alone.submit(fit_alone, n).result())
            time.sleep(SETTLE_SECONDS)
    return [statistics.median(plain[1:]), statistics.median(watched[1:])]  # the first are compiled


def first_step(X: np.ndarray) -> float:
    """Return the seconds from the command to the first step.

    The browser is already running, as it is on most desks.
    """
    with tempfile.TemporaryDirectory() as folder, browser_at("about:blank") as browser:
        np.save(Path(folder) / "X.npy", X)
        line = [sys.executable, "-m", "isosne", "explore", "X.npy", "--no-browser", "--json", "-q"]
        start = time.perf_counter()
        with subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                browser.get(json.loads(server.stdout.readline())["address"])
                wait(lambda: browser.execute_script(HAS_STEP))
                return time.perf_counter() - start
            finally:
                server.kill()


def panning(n: int) -> list[float]:
    """Return the milliseconds of a frame while a map of n points is moved: wall and CPU time.

    The CPU time is that of the browser, and does not depend on other work of the machine.
    """
    rng = np.random.default_rng(0)
    session = Session(from_python(rng.normal(size=(n, 2)), np.arange(n) % 10))
    session.add_map(rng.normal(size=(n, 2)), "normal")
    with opened(session) as browser:
        wait(lambda: browser.execute_script(N_POINTS))
        browser.execute_async_script(PAN)  # compiled, and at rest after the measures of the map
        processes = psutil.Process(browser.service.process.pid).children(recursive=True)
        before = _cpu_seconds(processes)
        times = browser.execute_async_script(PAN)
        spent = _cpu_seconds(processes) - before
        return [float(np.median(times)), 1000 * spent / len(times)]


def _cpu_seconds(processes: list[psutil.Process]) -> float:
    used = [process.cpu_times() for process in processes if process.is_running()]
    return float(sum(times.user + times.system for times in used))


def run(quick: bool) -> str:
    """Return the tables."""
    digits, (_, name) = load_digits(70_000), load("mnist70k", (70_000, 784))
    rounds = [(5_000, 3)] if quick else [(5_000, 9), (10_000, 7), (70_000, 3)]
    fits = []
    for n, n_rounds in rounds:
        plain, watched = overhead(n, n_rounds)
        fits.append([f"{n:,}", plain, watched, f"{100 * (watched / plain - 1):.1f} %"])
    tables = [table(["points", "fit, s", "fit that is watched, s", "overhead"], fits)]
    sizes = [1_000] if quick else [1_000, 70_000]
    firsts = [[f"{n:,} x 784", first_step(digits[:n])] for n in sizes]
    tables.append(table(["rows", "command to first step, s"], firsts))
    frames = [[f"{n:,}", *panning(n)] for n in ([100_000] if quick else [100_000, 1_000_000])]
    tables.append(table(["points", "frame while panning, ms", "CPU time of it, ms"], frames))
    return "\n\n".join([f"### Explore, {name}", *tables])
