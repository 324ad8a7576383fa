"""Text from data is never markup: every place that shows some is visited with text that would run.

The policies of the pages are switched off, except where a test is about them. A place counts when
the text was seen there.
"""

import csv
from dataclasses import replace

import numpy as np
import pytest
from selenium.webdriver.common.by import By

from isosne import TSNE, quality
from isosne._html import columns_table, map_picture, pairs_table
from isosne.explorer.data import Settings, from_python
from isosne.explorer.maps import FAILED, Status
from isosne.explorer.session import Session
from isosne.pages import write_page, write_report
from isosne.plots import plot_map, save_figure
from isosne.studies import Study, compare_maps
from tests.browser.conftest import NO_GPU
from tests.browser.hostile import KINDS, WATCH, evil, made_of_text
from tests.browser.test_explore import exploring, serving

pytestmark = pytest.mark.browser
N_ROWS = 40
FILE_NAME = evil(0)
"""Without a slash, so that a file can have this name."""
ID, LABEL, NUMBER, TEXT, MANY, CONSTANT, FIRST, SECOND = map(evil, range(1, 9))
"""Names of columns; the numbers that follow are of their values, and of names that are typed."""
LABELS, TEXTS, TYPED, UNKNOWN = map(evil, range(45, 49))
TEXTS_OF = """
const texts = []
walk(document, (node) => { if (node.matches("%s")) { texts.push(node.textContent) } })
return texts
"""
OPTIONS, BOLD = TEXTS_OF % "option", TEXTS_OF % "p > b"
CELLS = TEXTS_OF % ".box th, .box td"


class Places:
    """The places that were tried; each must have shown its text, of which nothing may have run."""

    def __init__(self, browser):
        self.browser, self.tried = browser, set()

    def add(self, place):
        made = made_of_text(self.browser)
        assert made == [], place
        assert place not in self.tried
        self.tried.add(place)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table whose names and values are all hostile."""
    folder = tmp_path_factory.mktemp("text")
    rng = np.random.default_rng(0)
    with (folder / f"{FILE_NAME}.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([ID, LABEL, NUMBER, TEXT, MANY, CONSTANT, FIRST, SECOND])
        for i, (a, b) in enumerate(rng.normal(size=(N_ROWS, 2))):
            texts = f"{LABELS}{i % 2}", i * 7 % 11, f"{TEXTS}{i % 3}", f"{evil(i)}many", 5.5
            writer.writerow([f"{evil(i)}#{i}", *texts, a, 1e4 * b])
    return folder / f"{FILE_NAME}.csv"


def words_of(visitor, script, *texts):
    """Wait until elements of the page have some texts."""
    for text in texts:
        visitor.until(lambda: any(text in one for one in visitor.run(script)), repr(text))  # noqa: B023  used at once


def test_nothing_runs_in_any_pane_of_the_live_page(unguarded, visit, table, tmp_path):
    roles = ("--id", ID, "--label", LABEL, "--text-columns", "leave_out")
    with serving(table.parent, table.name, *roles) as address:
        visitor = visit(address, (3000, 1800))  # so wide that the table shows all its columns
        places = Places(visitor.browser)

        def shows(place, *texts):
            for text in texts:
                visitor.says(text)
            places.add(place)

        visitor.says("Finished, step")
        visitor.until(lambda: len(visitor.positions()) == N_ROWS, "a map")
        shows("heading: file", f"{table.name} {N_ROWS} rows")
        assert visitor.browser.title == f"{table.name} - isosne"
        visitor.open_tab("Run settings")
        shows("command: file", "isosne embed")
        visitor.open_tab("Selection")
        shows("legend: label and classes", f"{LABEL} {LABELS}0 20 {LABELS}1 20")
        words_of(visitor, OPTIONS, LABEL, NUMBER, TEXT, MANY, FIRST)
        places.add("options of Color by: columns")
        for color, shown in (
            (TEXT, f"{TEXT} {TEXTS}0 14"),
            (NUMBER, f"{NUMBER} 0"),
            (MANY, f"{evil(0)}many 1"),
            (CONSTANT, f"{CONSTANT} all values are equal"),
            (LABEL, f"{LABEL} {LABELS}0"),
        ):
            visitor.enter("Color by", color)
            shows(f"legend: column {color}", shown)
        walk_selection(visitor, places, shows)
        walk_points(visitor, places, shows)
        walk_second_map(visitor, places, shows, tmp_path)
        walk_messages(visitor, shows, tmp_path)
        saved = save_files(visitor)
        assert len(places.tried) == 36
    visitor.says("The server has ended, or cannot be reached.")
    visitor.browser.get_log("browser")  # the page complains about its lost connection, rightly
    for path in saved:
        visitor.browser.get(path.as_uri())
        places.add(f"saved {path.suffix}")


def walk_selection(visitor, places, shows):
    visitor.enter("Search", f"{LABELS}0")
    shows("selection: columns that differ", f"{LABEL} = {LABELS}", f"{NUMBER}")
    words_of(visitor, CELLS, LABEL, NUMBER, TEXT, MANY, CONSTANT, FIRST, SECOND)
    places.add("selection: head of the table")
    words_of(visitor, CELLS, f"{evil(0)}#0", f"{LABELS}0", f"{TEXTS}0", f"{evil(0)}many")
    places.add("selection: cells of the table")
    visitor.enter("name of the selection", TYPED)
    visitor.press("Name the selection")
    shows("legend: named selection", f"{TYPED} 20")
    words_of(visitor, CELLS, TYPED)
    places.add("selection: name in the table")
    visitor.enter("Color by", LABEL)
    visitor.enter("Search", UNKNOWN)
    shows("search: text that is not found", "No row found")


def walk_points(visitor, places, shows):
    found = visitor.positions()
    for row in range(len(KINDS)):  # each kind of text is an identifier, and a value
        name = f"{evil(row)}#{row}"
        tip = visitor.until(lambda: visitor.hover(visitor.pixels()[name]), "a tip")  # noqa: B023  used at once
        for text in (LABEL, LABELS, NUMBER, CONSTANT, FIRST):
            assert text in tip
        assert any(f"{one}" in tip for one in found)
        places.add(f"tip: kind {row}")
    visitor.hover((1, 1))
    visitor.enter("Search", f"{evil(3)}#3")
    visitor.open_tab("Point")
    shows("point: identifier and label", f", {LABEL} {LABELS}1 {evil(3)}#3")
    shows("point: neighbors", "Nearest in the data (lines): ")
    shows("point: columns and values", f"{TEXT} {TEXTS}0", f"{MANY} {evil(3)}many")


def walk_second_map(visitor, places, shows, folder):
    other = folder / f"{evil(9)}.csv"
    rows = sorted(visitor.positions())
    with other.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([["id", "x", "y"], *([one, i, i * i] for i, one in enumerate(rows))])
    visitor.open_tab("Run settings")
    visitor.upload(other)
    shows("message: how a file was read", f"{other.name}: ")
    shows("title of a map: file", other.name)
    shows("command: title of a map", f"# {other.name}: read from a file")
    visitor.open_tab("Point")
    words_of(visitor, BOLD, other.name)
    places.add("point: title of a map")
    visitor.open_tab("Quality")
    shows("quality: title of a map", f"{other.name}: area under R_NX")
    visitor.press("Close the second map")


def walk_messages(visitor, shows, folder):
    visitor.open_tab("Run settings")
    for place, name, text, told in (
        ("message: unknown identifier", f"{FILE_NAME}1.csv", f"id,x,y\n{UNKNOWN},1,2\n", UNKNOWN),
        ("message: columns of a file", f"{FILE_NAME}2.csv", f"{UNKNOWN},b\nc,d\n", FILE_NAME),
        ("message: damaged file", f"{FILE_NAME}.npy", UNKNOWN, FILE_NAME),
    ):
        (folder / name).write_text(text)
        visitor.upload(folder / name)
        shows(place, told)
        visitor.press("Close")
    visitor.enter("Cell size", UNKNOWN)
    visitor.press("Compute")
    shows("message: value of a setting", "cell_size must be", UNKNOWN)


def save_files(visitor):
    """Save the map as a page and as a picture; return the paths."""
    visitor.open_tab("Save")
    for label in ("SVG", "HTML page"):
        visitor.press(label)
    names = [f"_img_src_x_onerror_isosne_ran_0_-map.{kind}" for kind in ("svg", "html")]
    for name in names:
        visitor.saved_bytes(name)
    return [visitor.saved / name for name in names]


def test_nothing_runs_in_messages_of_what_has_failed(unguarded, visit):
    session = Session(replace(from_python(np.eye(6)), source=evil(0)))
    session.begin(0, Settings(n_iter=160))
    assert session.maps[0].join(60)
    session.failure = evil(1)
    session.maps[0].status = Status(FAILED, message=evil(2))
    with exploring(session) as address:
        visitor = visit(address)
        places = Places(visitor.browser)
        for number, place in enumerate(("heading", "failed measures", "failed run")):
            visitor.says(evil(number))
            places.add(place)
        session.color = evil(3)  # not a column: the first choice is taken
        session.maps[0].title = evil(4)
        visitor.says(evil(4))
        places.add("title of a map")
        session.measures = {session.maps[0]: evil(5)}  # an internal error
        visitor.says("Internal error: AttributeError")
        places.add("internal error")
    assert len(places.tried) == 5


@pytest.fixture
def named():
    """Points, labels and columns of which each name and value is hostile; a row of each kind."""
    n = len(KINDS)
    X = np.random.default_rng(0).normal(size=(4 * n, 3))
    labels = np.array([f"{evil(i % n)}class" for i in range(4 * n)])
    texts = np.array([f"{evil(i)}value" for i in range(4 * n)])
    columns = {f"{evil(i)}column": texts if i % 2 else X[:, 0] + i for i in range(n)}
    return X, labels, columns


def walk_page(reader, places, columns):
    """Try the tips of all kinds of values, the choices of colors, and what they are called."""
    reader.run("document.querySelector('.map').scrollIntoView()")
    for kind in range(len(KINDS)):
        tip = reader.hover(reader.locate_points()[kind])
        assert f"{evil(kind)}value"[:50] in tip
        assert all(name[:50] in tip for name in columns)
        places.add(f"tip: kind {kind}")
    reader.hover((2, 2))
    options = reader.browser.find_elements(By.CSS_SELECTOR, "#choice option")
    for choice in [option.text for option in options]:
        assert reader.choose(choice)
        places.add(f"legend: {choice}")


def test_nothing_runs_in_a_page_of_a_map(unguarded, open_page, named, tmp_path):
    X, labels, columns = named
    path = write_page(
        tmp_path / f"{FILE_NAME}.html", X[:, :2], columns=columns, labels=labels, title=evil(0)
    )
    reader = open_page(path, NO_GPU)
    places = Places(reader.browser)
    assert (
        reader.run("return [document.title, document.querySelector('h1').textContent]")
        == [evil(0)] * 2
    )
    places.add("titles")
    walk_page(reader, places, columns)
    assert len(places.tried) == 1 + len(KINDS) + 1 + len(KINDS)


def test_nothing_runs_in_a_report(unguarded, open_page, named, tmp_path):
    X, labels, columns = named
    found = compare_maps(X, {evil(1): X[:, :2], evil(2): X[:, 1:]}, labels)
    maps = tuple(
        replace(judged, plan=evil(3), settings={evil(4): evil(5)}, fit_seconds=1, measure_seconds=1)
        for judged in found.maps
    )
    about = {evil(6): evil(7)}, evil(8), {evil(0): evil(1)}
    path = write_report(
        tmp_path / "report.html",
        Study(maps, labels, columns, evil(0), evil(2), *about),
    )
    reader = open_page(path, NO_GPU)
    places = Places(reader.browser)
    said = reader.run("return document.body.innerText + document.body.textContent")
    for number in range(len(KINDS)):
        assert evil(number) in said
        assert f"{evil(number)}class" in said  # trust by class
        places.add(f"words of the report: kind {number}")
    walk_page(reader, places, columns)
    assert len(places.tried) == len(KINDS) + len(KINDS) + 2 + len(KINDS)


def test_nothing_runs_in_pictures(unguarded, named, tmp_path):
    X, labels, _ = named
    places = Places(unguarded)
    for kind in range(len(KINDS)):
        axes = plot_map(X[:, :2], labels, title=evil(kind), annotate=True)
        unguarded.get(save_figure(axes, tmp_path / f"{kind}.svg").as_uri())
        places.add(f"svg: kind {kind}")


def test_nothing_runs_in_the_output_of_notebooks(unguarded, named, tmp_path):
    X, labels, _ = named
    outputs = {}
    for kind in range(len(KINDS)):
        outputs[f"estimator {kind}"] = TSNE(evil(kind), random_state=evil(kind))
        outputs[f"table {kind}"] = pairs_table([(evil(kind), evil(kind))])
        outputs[f"columns {kind}"] = columns_table([evil(kind)], [[evil(kind)]], marked=0)
        outputs[f"picture {kind}"] = map_picture(X, evil(kind))
    outputs["report"] = quality.report(X, X[:, :2], labels)
    places = Places(unguarded)
    for place, output in outputs.items():
        html = output if isinstance(output, str) else output._repr_html_()
        (tmp_path / "cell.html").write_text(f"<!doctype html><meta charset=utf-8>{html}")
        unguarded.get((tmp_path / "cell.html").as_uri())
        places.add(place)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "<" in kind and "%" not in kind])
def test_markup_would_be_noticed(unguarded, tmp_path, kind):
    """A twin of the tests above that fails: the same text, not escaped."""
    (tmp_path / "bad.html").write_text(f"<!doctype html><body>{kind.replace('{}', '7')}")
    unguarded.get((tmp_path / "bad.html").as_uri())
    assert made_of_text(unguarded) != []
    unguarded.get_log("browser")  # an image that there is not


INJECT = """
const [markup] = arguments
const place = document.body.appendChild(document.createElement("div"))
place.innerHTML = markup
for (const script of place.querySelectorAll("script")) {  // as Panel does, if it is given one
  const again = document.createElement("script")
  again.textContent = script.textContent
  script.replaceWith(again)
}
"""


def test_the_policy_of_the_live_page_stops_markup_that_would_run(visit):
    session = Session(from_python(np.eye(6)))
    session.begin(0, Settings(n_iter=160))
    with exploring(session) as address:
        visitor = visit(address)
        visitor.says("Finished, step")
        visitor.run(WATCH)
        for number, kind in enumerate(KINDS):
            visitor.run(INJECT, kind.replace("{}", str(number)))
            visitor.settle()
        assert visitor.run("return window.hits ?? []") == []
        visitor.run("isosne_ran(1)")
        assert visitor.run("return window.hits") == [1]
        refused = [one["message"] for one in visitor.browser.get_log("browser")]
        assert sum("Content Security Policy" in one for one in refused) >= 5


def test_the_policy_of_a_saved_page_stops_markup_that_would_run(open_page, tmp_path):
    reader = open_page(write_page(tmp_path / "map.html", np.eye(3)[:, :2]), NO_GPU)
    reader.run(WATCH)
    for number, kind in enumerate(KINDS):
        reader.run(INJECT, kind.replace("{}", str(number)))
        reader.settle()
    assert reader.run("return window.hits ?? []") == []
    refused = [one["message"] for one in reader.browser.get_log("browser")]
    assert sum("Content Security Policy" in one for one in refused) >= 5
