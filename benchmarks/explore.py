"""What watching costs: fits with and without a page, the first points, and frames while panning.

The page is open in Chromium without a graphics card on the same machine, as for the tests
(`make browser`).
"""

import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from benchmarks.harness import load, table
from isosne import TSNE
from isosne.explorer import Explorer
from isosne.explorer.data import from_python
from isosne.explorer.session import Session
from isosne.explorer.settings import Settings

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-3d-apis", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--disable-dev-shm-usage",
)
N_POINTS = """
const figure = window.Bokeh?.documents[0]?.get_model_by_name("map0")
const data = figure?.renderers.find((r) => r.glyph.type == "Scatter").data_source.data
const image = figure?.renderers[0].data_source.data.image
return figure == null ? 0 : Array.from(data.x0).filter(Number.isFinite).length + image.length
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
def opened(session: Session) -> Iterator[tuple[Any, Explorer]]:
    """Serve a session, and open its page."""
    explorer = Explorer(session)
    explorer.start()
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    with tempfile.TemporaryDirectory() as folder:
        for flag in (*FLAGS, f"--user-data-dir={folder}"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
        browser.set_script_timeout(300)
        try:
            browser.get(explorer.address)
            yield browser, explorer
        finally:
            browser.quit()
            explorer.close()


def wait(condition: Any) -> None:
    """Wait until something holds."""
    while not condition():
        time.sleep(0.02)


def overhead(X: np.ndarray, n_rounds: int) -> list[float]:
    """Return the seconds of fits without and with a page, the medians of several."""
    plain, watched = [], []
    session = Session()
    session.open(from_python(X))
    with opened(session) as (browser, _):
        for _ in range(n_rounds):
            session.begin(0, Settings())
            start = time.perf_counter()
            run = session.maps[0].run
            assert run is not None
            run.join()
            watched.append(time.perf_counter() - start)
            browser.get("about:blank")
            start = time.perf_counter()
            TSNE(random_state=0).fit(X)
            plain.append(time.perf_counter() - start)
            browser.back()
            wait(lambda: browser.execute_script(N_POINTS))
    return [statistics.median(plain), statistics.median(watched)]


def panning(n: int) -> float:
    """Return the median time of a frame in milliseconds while a map of n points is moved."""
    rng = np.random.default_rng(0)
    session = Session()
    session.open(from_python(rng.normal(size=(n, 2)), np.arange(n) % 10))
    session.add_map(rng.normal(size=(n, 2)), "normal")
    with opened(session) as (browser, _):
        wait(lambda: browser.execute_script(N_POINTS))
        return float(np.median(browser.execute_async_script(PAN)))


def run(quick: bool) -> str:
    """Return the tables."""
    digits, name = load("mnist70k", (70_000, 784))
    rows = []
    for n, n_rounds in ((5_000, 3),) if quick else ((5_000, 5), (70_000, 1)):
        plain, watched = overhead(digits[:n].astype(np.float32), n_rounds)
        rows.append([f"{n:,}", plain, watched, f"{100 * (watched / plain - 1):.1f} %"])
    header = ["points", "fit, s", "fit that is watched, s", "overhead"]
    frames = [[f"{n:,}", panning(n)] for n in ((100_000,) if quick else (100_000, 1_000_000))]
    return (
        f"### Explore, {name}\n\n{table(header, rows)}\n\n"
        f"{table(['points', 'frame while panning, ms'], frames)}"
    )
