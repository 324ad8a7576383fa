"""Pages in a real browser: what is seen, what the controls do, and that nothing is asked for."""

import csv
import io
import re

import numpy as np
import pytest
from matplotlib.path import Path as Outline
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from isosne import TSNE, quality
from isosne.layout.schedules import Phase, Schedule
from isosne.pages import write_page, write_report
from isosne.plots.palette import COLORS
from isosne.plots.raster import auto_alpha
from isosne.studies import study
from tests.browser.conftest import NO_GPU, SOFTWARE_GPU
from tests.browser.reader import count_pixels

pytestmark = pytest.mark.browser
PANS = """
const figures = Bokeh.documents[0].roots().slice(0, 4)
return figures.map((figure) => figure.toolbar.tools.find((tool) => tool.type == "PanTool").active)
"""
TOOLS = 30
"""Pixels of the tools above a map."""
SHORT = TSNE(schedule=Schedule((Phase(30, exaggeration=4), Phase(30))))
"""Sixty steps, for pages that are opened only."""
EVIL = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"


@pytest.fixture(scope="module")
def wine():
    """A map of wine, its labels as text, and some columns."""
    data = load_wine()
    X = minmax_scale(data.data)
    Y = TSNE(random_state=0).fit(X).embedding_
    labels = data.target_names[data.target]
    columns = {
        "alcohol": data.data[:, 0],
        "color, hue": np.where(data.data[:, 10] > 1, 'a "bright" one', "dull, rather"),
        "bottle": np.arange(178) + 1000,
    }
    return X, Y, labels, columns


@pytest.fixture(scope="module")
def page(wine, tmp_path_factory):
    X, Y, labels, columns = wine
    path = tmp_path_factory.mktemp("page") / "wine.html"
    return write_page(path, Y, columns=columns, labels=labels, trust=quality.compare(X, Y).trust())


def class_pixels(reader, number=0):
    """Count the pixels of the three classes of wine."""
    picture = reader.picture(number)
    return [count_pixels(picture, color, auto_alpha(178)) for color in COLORS[:3]]


@pytest.mark.parametrize("flags", [SOFTWARE_GPU, NO_GPU], ids=["webgl", "canvas"])
def test_points_are_seen_in_the_colors_of_their_classes(open_page, page, wine, flags):
    reader = open_page(page, flags)
    # A point is 9 pixels wide: 64 in area, of which the rim is blended.
    sizes = np.unique(wine[2], return_counts=True)[1]
    for found, size in zip(class_pixels(reader), sizes, strict=True):
        assert 15 * size < found < 70 * size


def test_the_map_has_equal_scales_and_every_point_is_inside(open_page, page):
    reader = open_page(page)
    plot = "const plot = Bokeh.documents[0].roots()[0];"
    plot += "const pixels = (size, {start, end}) => size / (end - start);"
    both = "pixels(plot.inner_width, plot.x_range), pixels(plot.inner_height, plot.y_range)"
    across, up = reader.run(f"{plot} return [{both}]")
    assert across == pytest.approx(up, rel=0.01)
    left, top, right, bottom = reader.run(
        "const box = document.querySelector('.map').getBoundingClientRect();"
        "return [box.left, box.top, box.right, box.bottom]"
    )
    pixels = reader.locate_points()
    assert (pixels > [left, top + TOOLS]).all()
    assert (pixels < [right, bottom]).all()


def test_hovering_shows_the_columns_of_the_row(open_page, page, wine):
    reader = open_page(page)
    X, Y, labels, columns = wine
    row = int(np.argmax(np.linalg.norm(Y - Y.mean(axis=0), axis=1)))  # at the rim, alone
    said = reader.hover(reader.locate_points()[row])
    assert f"row {row}\n" in said
    assert f"label {labels[row]}" in said
    assert f"alcohol {columns['alcohol'][row]:g}" in said
    assert f"color, hue {columns['color, hue'][row]}" in said
    assert f"bottle {1000 + row}" in said
    assert f"trust {quality.compare(X, Y).trust().agreement[row]:g}" in said
    assert reader.hover((5, 5)) is None


def test_hovering_shows_the_image_of_the_row_and_the_columns_asked_for(open_page, tmp_path):
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    images = np.zeros((4, 4, 2, 3), np.uint8)
    images[:, :2] = [[[[200, 0, 0]]], [[[0, 200, 0]]], [[[0, 0, 200]]], [[[90, 90, 90]]]]
    texts = [f"{row} " + "x" * 300 for row in range(4)]
    columns = {"text": texts, "other": np.arange(4)}
    path = write_page(tmp_path / "map.html", Y, columns=columns, images=images, hover=["text"])
    reader = open_page(path)
    pixels = reader.locate_points()
    for row, color in enumerate([[200, 0, 0], [0, 200, 0], [0, 0, 200], [90, 90, 90]]):
        assert reader.hover(pixels[row]) == f"text {row} " + "x" * 158 + "…"
        size, above, below = reader.run(
            "const drawn = document.querySelector('#tip canvas');"
            "const column = drawn.getContext('2d').getImageData(24, 0, 1, drawn.height).data;"
            "const at = (y) => Array.from(column.slice(4 * y, 4 * y + 4));"
            "return [[drawn.width, drawn.height], at(10), at(90)]"
        )
        assert size == [48, 96]
        assert above == [*color, 255]
        assert below == [0, 0, 0, 255]


def test_a_legend_entry_hides_its_class_and_shows_it_again(open_page, page):
    reader = open_page(page)
    before = class_pixels(reader)
    entry = reader.entries()[1]
    assert entry.text.split() == ["class_1", "71"]
    assert entry.get_attribute("aria-pressed") == "true"
    entry.click()
    reader.settle()
    assert entry.get_attribute("aria-pressed") == "false"
    hidden = class_pixels(reader)
    assert hidden[1] == 0
    assert hidden[0] >= before[0]
    entry.click()
    reader.settle()
    assert class_pixels(reader) == before
    reader.press("#legend .none")
    assert class_pixels(reader) == [0, 0, 0]
    reader.press("#legend .all")
    assert class_pixels(reader) == before


def test_hidden_points_are_neither_hovered_nor_selected(open_page, page, wine):
    reader = open_page(page)
    row = int(np.argmax(np.linalg.norm(wine[1] - wine[1].mean(axis=0), axis=1)))
    c = ["class_0", "class_1", "class_2"].index(wine[2][row])
    reader.entries()[c].click()
    assert reader.hover(reader.locate_points()[row]) is None
    select_all(reader)
    left = 178 - int((wine[2] == wine[2][row]).sum())
    assert reader.run("return document.getElementById('download').textContent") == (
        f"Save {left} selected rows"
    )


def test_colors_follow_the_choice(open_page, page):
    reader = open_page(page)
    options = "return Array.from(document.querySelectorAll('#choice option'), (o) => o.text)"
    assert reader.run(options) == ["label", "trust", "alcohol", "color, hue", "bottle"]
    by_label = reader.picture()
    legend = reader.choose("trust")
    assert re.fullmatch(r"neighbors kept, of 10\n\d+% fewer\n\d+% more", legend)
    by_trust = reader.picture()
    assert class_pixels(reader)[2] == 0
    assert reader.choose("alcohol").split("\n") == ["alcohol", "11.03", "14.83"]
    by_alcohol = reader.picture()
    pairs = [(by_label, by_trust), (by_trust, by_alcohol), (by_label, by_alcohol)]
    for one, other in pairs:
        assert (np.abs(one - other).max(axis=2) > 20).sum() > 2000
    assert 'a "bright" one' in reader.choose("color, hue")
    reader.choose("label")
    np.testing.assert_allclose(reader.picture(), by_label, atol=8)  # the frame is redrawn


@pytest.mark.parametrize("size", [(1200, 1000), (360, 800)])
def test_a_page_opens_with_its_color_and_a_scale_that_can_be_read(open_page, wine, tmp_path, size):
    _, Y, labels, columns = wine
    told = {"columns": columns, "labels": labels, "color": "alcohol"}
    reader = open_page(write_page(tmp_path / "map.html", Y, **told), size=size)
    assert reader.run("return document.getElementById('choice').value") == "alcohol"
    assert max(class_pixels(reader)) < 100
    name, bar, low, high = (
        reader.run(f"return document.querySelector('#legend {part}').getBoundingClientRect()")
        for part in (".name", ".bar", ".end", ".end:last-child")
    )
    assert low["left"] == pytest.approx(bar["left"], abs=2)
    assert high["right"] == pytest.approx(bar["right"], abs=2)
    assert low["right"] < high["left"]
    assert low["top"] == high["top"] >= bar["bottom"]
    assert name["bottom"] <= bar["top"] + 2


def test_rows_in_the_lasso_are_saved_as_csv(open_page, page, wine):
    reader = open_page(page)
    _, Y, labels, columns = wine
    pixels = reader.locate_points()
    low, high = pixels.min(axis=0) - 8, pixels.max(axis=0) + 8
    middle = (low[1] + high[1]) / 2
    corners = [low, (high[0], low[1]), (high[0], middle - 20), (low[0], middle + 20)]
    expected = np.flatnonzero(Outline(np.array(corners)).contains_points(pixels))
    assert 30 < len(expected) < 150
    assert not reader.browser.find_element("id", "download").is_enabled()
    reader.take_tool("Lasso")
    reader.draw_around(corners)
    assert reader.browser.find_element("id", "download").text == (
        f"Save {len(expected)} selected rows"
    )
    reader.press("#download")
    head, *rows = csv.reader(io.StringIO(reader.saved_file("selected.csv"), newline=""))
    named = ["row", "label", "trust", "coarse trust", "alcohol", "color, hue", "bottle", "x", "y"]
    assert head == named
    assert [int(row[0]) for row in rows] == expected.tolist()
    assert [row[1] for row in rows] == labels[expected].tolist()
    assert [float(row[4]) for row in rows] == columns["alcohol"][expected].tolist()
    assert [row[5] for row in rows] == columns["color, hue"][expected].tolist()
    assert [int(row[6]) for row in rows] == columns["bottle"][expected].tolist()
    found = np.array([[float(row[7]), float(row[8])] for row in rows])
    np.testing.assert_array_equal(found.astype(np.float32), Y[expected])
    reader.press("#clear")
    assert not reader.browser.find_element("id", "download").is_enabled()


def select_all(reader):
    """Draw a lasso around all points."""
    pixels = reader.locate_points()
    low, high = pixels.min(axis=0) - 8, pixels.max(axis=0) + 8
    reader.take_tool("Lasso")
    reader.draw_around([low, (high[0], low[1]), high, (low[0], high[1])])


def test_saved_texts_are_no_formulas(open_page, tmp_path):
    notes = ["=1+1", "-5", "'a", "b"]
    Y = np.eye(4)[:, :2] + np.arange(4)[:, None]
    reader = open_page(write_page(tmp_path / "map.html", Y, columns={"note": notes}))
    select_all(reader)
    reader.press("#download")
    rows = csv.DictReader(io.StringIO(reader.saved_file("selected.csv"), newline=""))
    assert [row["note"] for row in rows] == ["'=1+1", "-5", "''a", "b"]


def test_the_wheel_zooms_and_reset_comes_back(open_page, page):
    reader = open_page(page)
    before = reader.locate_points()
    reader.scroll(before.mean(axis=0), -300)
    assert np.ptp(reader.locate_points(), axis=0)[0] > 1.1 * np.ptp(before, axis=0)[0]
    reader.take_tool("Reset")
    np.testing.assert_allclose(reader.locate_points(), before, atol=0.5)


def test_what_users_name_is_shown_as_text(open_page, tmp_path):
    Y = np.array([[0.0, 0.0], [1.0, 1.0]])
    columns = {EVIL: [EVIL, "$$x^2$$"], "@{row}": ["{{ 7 * 7 }}", "&lt;b&gt;"]}
    path = write_page(tmp_path / "map.html", Y, columns=columns, labels=[EVIL, "b"], title=EVIL)
    reader = open_page(path)
    said = reader.hover(reader.locate_points()[0])
    assert said.count(EVIL) == 3  # a label, a name of a column, an entry of it
    assert "@{row} {{ 7 * 7 }}" in said
    assert "@{row} &lt;b&gt;" in reader.hover(reader.locate_points()[1])
    assert EVIL in reader.choose(EVIL)
    assert reader.run("return document.title") == EVIL
    assert reader.run("return window.hacked === undefined")


@pytest.mark.parametrize(("n_dims", "n_maps"), [(1, 1), (3, 3)])
def test_lines_and_boxes_are_drawn(open_page, tmp_path, n_dims, n_maps):
    Y = np.random.default_rng(0).normal(size=(200, n_dims))
    labels = np.repeat(["a", "b"], 100)
    reader = open_page(write_page(tmp_path / "map.html", Y, labels=labels))
    assert reader.run("return document.querySelectorAll('.map').length") == n_maps
    for number in range(n_maps):
        picture = reader.picture(number)
        assert min(count_pixels(picture, c, auto_alpha(200)) for c in COLORS[:2]) > 800


@pytest.fixture(scope="module")
def report(wine, tmp_path_factory):
    X, _, labels, columns = wine
    path = tmp_path_factory.mktemp("report") / "report.html"
    model = TSNE("isolation")
    found = study(X, labels, columns=columns, title="Wine", model=model, n_seeds=2)
    return write_report(path, found)


def test_a_report_shows_both_maps_and_their_trust(open_page, report):
    reader = open_page(report)
    captions = "return Array.from(document.querySelectorAll('figcaption'), (c) => c.textContent)"
    assert reader.run(captions) == ["Isolation kernel", "Gaussian kernel"] * 2
    for number in (0, 1):
        assert min(class_pixels(reader, number)) > 500
    trusts = [reader.picture(number) for number in (2, 3)]
    for picture in trusts:
        assert (picture.max(axis=2) - picture.min(axis=2) > 25).sum() > 1500
    reader.choose("trust")
    assert class_pixels(reader)[2] == 0
    # Below the tools, whose icons move by a fraction of a pixel with the height of the legend.
    np.testing.assert_allclose(reader.picture(2)[TOOLS:], trusts[0][TOOLS:], atol=8)
    curve = reader.browser.find_element("css selector", ".curve")
    assert curve.size["height"] > 200


def test_what_is_selected_in_one_map_of_a_report_is_so_in_the_other(open_page, report, wine):
    reader = open_page(report)
    before = class_pixels(reader, 1)
    reader.run("document.querySelector('.map').scrollIntoView()")
    pixels = reader.locate_points(0)
    low, high = pixels.min(axis=0) - 8, pixels.max(axis=0) + 8
    middle = pixels.mean(axis=0)
    reader.take_tool("Lasso")
    reader.draw_around([low, (high[0], low[1]), (high[0], middle[1]), (low[0], middle[1])])
    after = class_pixels(reader, 1)
    assert sum(after) < 0.8 * sum(before)
    assert sum(after) > 0
    reader.press("#download")
    head = reader.saved_file("selected.csv").partition("\r\n")[0]
    assert '"trust, Isolation kernel"' in head
    assert '"Gaussian kernel, y"' in head


@pytest.mark.parametrize("width", [360, 1200])
def test_a_report_fits_a_phone_and_a_printer(open_page, report, width):
    reader = open_page(report, size=(width, 800))
    assert reader.run("return document.documentElement.scrollWidth") <= width
    reader.run("window.addEventListener('beforeprint', () => (window.copies = count_copies()))")
    reader.run("window.count_copies = () => document.querySelectorAll('canvas.copy').length")
    printed = reader.browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert printed["data"].startswith("JVBERi")  # %PDF
    assert reader.run("return [window.copies, count_copies()]") == [5, 0]


@pytest.mark.parametrize(("size", "is_active"), [((360, 800), False), ((1200, 800), True)])
def test_a_finger_scrolls_a_report_and_a_mouse_moves_its_maps(open_page, report, size, is_active):
    reader = open_page(report, size=size)
    assert reader.run(PANS) == [is_active] * 4


def test_a_report_without_labels_or_columns_opens(open_page, tmp_path, two_blobs):
    found = study(two_blobs, model=SHORT, n_seeds=1)
    reader = open_page(write_report(tmp_path / "report.html", found))
    assert reader.run("return document.querySelectorAll('.map').length") == 4
    assert (reader.picture(0) < 250).any()
