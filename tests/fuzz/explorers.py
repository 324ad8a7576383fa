"""Hostile tables in the page of `isosne explore`, and in pages that it saves, in a real browser.

A case draws a table of strange names and values, opens it, and does a few things that a user does,
in any order. Nothing in the table may run or become markup, the browser and the server may report
no error, and the page may show none that is internal. Policies of pages are switched off. The cases
run in this process, which ends its browser.
"""

import logging
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from isosne.explorer import Explorer
from isosne.explorer.data import Settings, from_python, from_table
from isosne.explorer.files import save_page, save_picture, save_rows
from isosne.explorer.session import Session
from isosne.rows.table_reader import read_table
from isosne.studies.point_columns import well_formed
from tests.browser.conftest import NO_GPU, WAIT_FOR_MAPS, start_browser
from tests.browser.hostile import KINDS, WATCH, evil, made_of_text
from tests.browser.visitor import Visitor
from tests.fuzz.case import Case, judge
from tests.fuzz.host import Result

AREA = "page"
SECONDS_TO_FOLLOW = 0.5
"""The page looks at the session every tenth of a second."""
STRANGE = (
    "",
    " ",
    "id",
    "label",
    "trust",
    "nothing",
    "selection",
    "named selections",
    "map 1 x",
    "index",
    "__proto__",
    "constructor",
    "nan",
    "a\nb",
    "a\tb",
    "a\0b",
    "\x1b[31m",
    "\u202eabc",
    "\udc80\udcff",
    "e\u0301\U0001f600",
    "x" * 300,
    "@id",
    "$index",
    "{}",
    "%s",
    "=1+1",
    "</div>",
    "&amp;",
    "\ufeffx",
)


def run_pages(seeds, *, seconds=float("inf"), report=lambda result: None):
    """Judge cases until the seeds or the seconds end; return the number of each outcome."""
    counts: Counter[str] = Counter()
    programs = shutil.which("chromium"), shutil.which("chromedriver")
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = start_browser(programs, Path(folder), NO_GPU)
        try:
            browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
            browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
            for seed in seeds:
                if time.monotonic() > until:
                    break
                result = _judge(browser, seed, Path(folder) / "case")
                counts[result.outcome] += 1
                report(result)
        finally:
            browser.quit()
    return counts


def _judge(browser, seed, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    case = Case(np.random.default_rng([*AREA.encode(), seed]), folder)
    outcome = judge(lambda case: run_page(case, browser), case)
    return Result(f"python -m tests.fuzz {AREA} {seed}", *outcome)


class Heard(logging.Handler):
    """Keeps the errors that a server logs."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.errors = []

    def emit(self, record):
        self.errors.append(self.format(record))


def run_page(case, browser):
    """Open a table of any content, and do a few things with it."""
    session, heard = Session(draw_data(case)), Heard()
    session.begin(0, Settings(n_iter=160))
    explorer = Explorer(session)
    logging.getLogger().addHandler(heard)
    try:
        explorer.start()
        browser.get_log("browser")
        browser.get(explorer.address)
        visitor = Visitor(browser, case.folder)
        visitor.until(lambda: "Finished, step" in visitor.text(), "the end of a map")
        look(case, visitor, "opened")
        for _ in range(case.rng.integers(2, 7)):
            act(case, visitor, session)
        browser.get("about:blank")
        look_at_files(case, browser, session)
    finally:
        logging.getLogger().removeHandler(heard)
        browser.get("about:blank")
        explorer.close()
    case.promise(not heard.errors, f"the server logged {heard.errors[:1]}")


def draw_text(case):
    if case.happens(0.5):
        return evil(int(case.rng.integers(1000)), int(case.rng.integers(len(KINDS))))
    return case.pick(*STRANGE) + case.pick("", "", evil(0), "2")


def draw_values(case, n):
    """Return values of one kind, and of another kind here and there."""
    rng, text = case.rng, draw_text(case)
    values = case.pick(
        rng.normal(size=n),
        rng.normal(size=n) * 10.0 ** rng.integers(-300, 300),
        rng.integers(0, 3, n),
        rng.integers(-(2**62), 2**62, n),
        np.full(n, 2.5),
        np.array([f"{text}{i % 3}" for i in range(n)], object),
        np.array([f"{text}{i}" for i in range(n)], object),
        pd.date_range("2026-01-01", periods=n),
        rng.random(n) < 0.5,
    )
    if case.happens(0.2):
        values = pd.Series(values).astype(object)
        values.iloc[int(rng.integers(n))] = case.pick(None, np.nan, text)
    return values


def draw_data(case):
    n = int(case.rng.integers(2, 30))
    names = list({draw_text(case): None for _ in range(case.rng.integers(1, 7))})
    columns = {name: draw_values(case, n) for name in names}
    features = {draw_text(case): case.rng.normal(size=n) for _ in range(case.rng.integers(1, 4))}
    ids = [f"{draw_text(case)}{i}" for i in range(n)]
    labels = pd.Series(draw_values(case, n), name=draw_text(case))
    case.note(f"names: {[*features, *names, labels.name]}")
    if case.happens(0.5):
        return read_file(case, pd.DataFrame(features | columns | {labels.name: labels}))
    mixed = pd.DataFrame(features | columns) if case.happens(0.3) else pd.DataFrame(features)
    given = labels if case.happens(0.7) else None
    return from_python(mixed, given, ids if case.happens(0.5) else None, columns)


def read_file(case, frame):
    """Return the rows of a table in a file with a strange name."""
    stem = draw_text(case).replace("/", "").replace("\0", "")[:100]
    path = case.path(f"{stem or 'x'}.csv")
    path.write_bytes(frame.to_csv(index=False).encode("utf-8", "surrogateescape"))
    label = case.pick(None, str(frame.columns[-1]))
    case.note(f"file: {path.name!r}, label: {label!r}")
    table = read_table(path, label=label, text_columns="leave_out")
    return from_table(table, table, path.name, (None, label), (path.name,))


def act(case, visitor, session):
    """Do one thing, as a user does it in the page."""
    name = case.pick("color", "search", "select", "name", "tab", "setting", "upload", "hover")
    text = well_formed(draw_text(case))  # a browser sends Unicode
    case.note(f"{name}: {text!r}")
    if name == "color":
        select = visitor.field("Color by")
        n = visitor.run("return arguments[0].options.length", select)
        chosen = "arguments[0].selectedIndex = arguments[1];"
        changed = "arguments[0].dispatchEvent(new Event('change', {bubbles: true}))"
        visitor.run(chosen + changed, select, int(case.rng.integers(n)))
    elif name == "search":
        visitor.enter("Search", case.pick(text, str(session.rows.ids[0])))
    elif name == "select":
        session.select(case.rng.permutation(session.rows.n_rows)[: case.rng.integers(1, 9)])
    elif name == "name":
        session.select(np.arange(2))
        session.name_selection(text.strip() or "x")
    elif name == "tab":
        visitor.open_tab(case.pick("Selection", "Point", "Quality", "Run settings", "Save"))
    elif name == "setting":
        visitor.open_tab("Run settings")
        visitor.enter(case.pick("Cell size", "Seed", "Steps", "Exaggeration"), text[:200])
        visitor.press("Compute")
    elif name == "upload" and len(session.maps) == 1:
        Y = case.rng.normal(size=(session.rows.n_rows, 2)).astype(np.float32)
        session.add_map(Y, text)
    else:
        pixels = visitor.pixels()
        visitor.hover(pixels[case.pick(*pixels)])
    look(case, visitor, f"{name}: {text!r}")


def look(case, visitor, what):
    """Wait until the page has followed; check what is in it."""
    end = time.monotonic() + SECONDS_TO_FOLLOW
    while time.monotonic() < end:
        visitor.settle()
    check_page(case, visitor.browser, what)
    said = visitor.text()
    case.promise("Internal error" not in said, f"after {what}, the page says: {said[:3000]}")


def check_page(case, browser, what):
    made = made_of_text(browser)
    case.promise(made == [], f"after {what}, markup: {made[:2]}")
    said = [one["message"] for one in browser.get_log("browser") if one["level"] == "SEVERE"]
    case.promise(not said, f"after {what}, the browser says: {said[:2]}")


def look_at_files(case, browser, session):
    """Save the map as a page and a picture, and open both."""
    corners = np.array([[-1.1, -1.1], [1.1, 1.1]])
    save_rows(session, np.arange(2), case.pick("csv", "parquet"))
    page, picture = case.path("page.html"), case.path("picture.svg")
    page.write_bytes(save_page(session, 0))
    browser.get(page.as_uri())
    browser.execute_async_script(WAIT_FOR_MAPS)
    check_page(case, browser, "saving a page")
    picture.write_bytes(save_picture(session.maps[0].Y, None, corners, "svg"))
    browser.get(picture.as_uri())
    check_page(case, browser, "saving a picture")
