"""`isosne explore` in a real browser: from a CSV file to maps, questions, selections and files."""

import contextlib
import csv
import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
import pytest
from selenium.webdriver import Keys
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from isosne import nearest_neighbors
from isosne.explorer import Explorer
from isosne.explorer.canvas import MAX_COMPUTED, MAX_IN_VIEW, MAX_POINTS
from isosne.explorer.colors import DARK, LIGHT
from isosne.explorer.data import Settings, from_python
from isosne.explorer.session import Session
from tests.browser.axe import violations

pytestmark = pytest.mark.browser
DIFFERENCES = """
const names = []
walk(document, (node) => {
  if (node.matches("button[data-ask^=color]")) { names.push(node.textContent) }
})
return names
"""
LONG = "100000"
"""Steps of a run that does not end by itself."""


@contextlib.contextmanager
def serving(folder, *words):
    """Run `isosne explore`; give its address."""
    line = [sys.executable, "-m", "isosne", "explore", *words, "--no-browser", "--json", "-q"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, cwd=folder, env=dict(os.environ), **pipes) as process:
        try:
            first = process.stdout.readline()
            assert first, process.stderr.read()
            yield json.loads(first)["address"]
        finally:
            process.terminate()
            assert process.wait(60) == 128 + signal.SIGTERM, process.stderr.read()


@contextlib.contextmanager
def exploring(session):
    """Serve a session in this process; give its address."""
    explorer = Explorer(session)
    explorer.start()
    try:
        yield explorer.address
    finally:
        explorer.close()


@pytest.fixture(scope="module")
def wine_folder(tmp_path_factory):
    """A folder with wine.csv."""
    folder = tmp_path_factory.mktemp("wine")
    frame = load_wine(as_frame=True).frame
    kinds = frame.pop("target").map(["Barolo", "Grignolino", "Barbera"].__getitem__)
    frame.insert(0, "bottle", [f"b{i:03}" for i in range(178)])
    frame.insert(1, "cultivar", kinds)
    frame.to_csv(folder / "wine.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def wine(wine_folder):
    """The address of a server that shows wine."""
    words = ("wine.csv", "--label", "cultivar", "--id", "bottle", "--scale", "minmax")
    with serving(wine_folder, *words) as address:
        yield address


def finished(visitor):
    """Wait for the end of the first map."""
    visitor.says("Finished, step")
    visitor.until(lambda: len(visitor.positions()) == 178, "all points have a place")


def corners(visitor, ids, m=0):
    """Return the corners of a box around some points on the screen."""
    pixels = np.array([visitor.pixels(m)[name] for name in ids])
    return pixels.min(axis=0) - 6, pixels.max(axis=0) + 6


def left_half(visitor):
    """Return the identifiers in the left part of the first map, up to its widest gap."""
    places = visitor.positions()
    x = np.sort([place[0] for place in places.values()])[20:-20]
    gap = np.diff(x).argmax()
    return sorted(name for name, place in places.items() if place[0] <= x[gap])


def test_a_map_moves_until_it_is_paused_and_takes_another_kernel(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    visitor.open_tab("Run settings")
    visitor.enter("Steps", LONG)
    visitor.press("Compute")
    visitor.says("Running, step")
    before = visitor.positions()
    assert len(before) == 178
    visitor.until(lambda: visitor.positions()["b000"].tolist() != before["b000"].tolist(), "a move")
    visitor.press("Pause")
    visitor.says("Paused, step")
    visitor.press("Resume")
    visitor.says("Running, step")
    visitor.enter("Cell size", "7")
    visitor.enter("Kernel", "gaussian")
    assert visitor.field("Perplexity").get_attribute("value") == ""  # 7 was meant for cells
    visitor.press("Compute")
    visitor.says("Gaussian kernel")
    visitor.says("Running, step")
    visitor.press("Stop")
    visitor.says("Stopped, step")
    visitor.press("100 more steps")
    visitor.says("Finished, step")
    visitor.enter("Kernel", "owner")
    visitor.enter("Steps", "")  # until the objective has settled
    visitor.press("Compute")
    visitor.says("Finished, step")


def test_a_lasso_or_a_box_selects_rows_that_are_shown_saved_named_and_mapped_again(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    wanted = left_half(visitor)
    visitor.draw_around(box(visitor, wanted))
    visitor.says(f"{len(wanted)} of 178 rows are selected.")
    visitor.lists(wanted)
    visitor.press("Save selected rows (CSV)")
    saved = list(csv.DictReader(io.StringIO(visitor.saved_file("wine-selection.csv"))))
    assert sorted(line["bottle" if "bottle" in line else "id"] for line in saved) == wanted
    visitor.says("effect size")
    visitor.press("Save selected rows (Parquet)")
    table = parquet.read_table(io.BytesIO(visitor.saved_bytes("wine-selection.parquet")))
    assert sorted(table["id"].to_pylist()) == wanted
    visitor.field("name of the selection").send_keys("left")
    visitor.press("Name the selection")
    visitor.says(f"left {len(wanted)}")  # the legend, with the number of rows
    visitor.says(f"no label {178 - len(wanted)}")
    visitor.enter("Color by", "cultivar")
    visitor.press("Map only these rows")
    visitor.says(f"Owner kernel, {len(wanted)} selected rows")
    visitor.until(lambda: sorted(visitor.positions(1)) == wanted, "a map of these rows")
    visitor.browser.refresh()
    visitor.says(f"{len(wanted)} of 178 rows are selected.")
    visitor.lists(wanted)
    visitor.until(lambda: sorted(visitor.positions(1)) == wanted, "the second map again")
    visitor.press("Close the second map")
    visitor.press("Clear (Esc)")
    visitor.says("No rows are selected.")
    visitor.take_tool("Box Select")
    visitor.drag(*corners(visitor, wanted))
    visitor.lists(wanted)
    visitor.press("Clear (Esc)")


def test_which_rows_are_an_island_is_it_real_and_what_makes_it_different(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    assert visitor.browser.title == "wine.csv - isosne"
    visitor.says("neighbors kept")
    wanted = left_half(visitor)
    visitor.draw_around(box(visitor, wanted))
    visitor.lists(wanted)  # which rows
    visitor.says("1 of 1 checks speak for a group")
    visitor.press("Is this group real?")
    visitor.says("on 5 of 5 maps with other seeds.")
    visitor.says("stability")
    visitor.says("null test of all rows: p = 0.05")
    first = visitor.until(lambda: visitor.run(DIFFERENCES), "columns that differ")[1]  # a number
    visitor.press(first)
    visitor.until(lambda: "Grignolino 71" not in visitor.text(), f"the color {first}")
    tip = visitor.until(lambda: visitor.hover(visitor.pixels()[wanted[0]]), "a tip")
    assert f"{first}:" in tip
    visitor.hover((3, 3))
    before = visitor.text()
    visitor.enter("Compare with", "the nearest rows on the map")
    visitor.until(lambda: visitor.text() != before, "other means")
    whole = np.ptp(visitor.limits()[:2])
    visitor.key("z")
    visitor.until(lambda: np.ptp(visitor.limits()[:2]) < 0.9 * whole, "a closer view")
    visitor.press(wanted[0])  # in the table
    visitor.says("Nearest in the data (lines)")
    visitor.until(lambda: len(visitor.lines()[0]) == 10, "lines to its neighbors")
    visitor.key(Keys.ESCAPE)
    visitor.until(lambda: len(visitor.lines()[0]) == 0, "no lines")
    visitor.key("z")
    visitor.until(lambda: np.isclose(np.ptp(visitor.limits()[:2]), whole), "the whole map")
    visitor.enter("Color by", "cluster")
    visitor.says("cluster 0 ")
    visitor.press("0 " + visitor.text().split("cluster 0 ")[1].split()[0])  # in the legend
    visitor.until(lambda: len(visitor.positions()) < 178, "a hidden cluster")
    visitor.enter("Color by", "cultivar")
    visitor.until(lambda: len(visitor.positions()) == 178, "all rows")


def test_the_page_has_no_violation_of_wcag(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    visitor.draw_around(box(visitor, left_half(visitor)))
    visitor.says("effect size")
    for tab in ("Selection", "Quality", "Run settings", "Save"):
        visitor.open_tab(tab)
        visitor.until(lambda: not violations(visitor.browser), f"no violation in {tab}")
    visitor.open_tab("Selection")
    visitor.press("Clear (Esc)")


def box(visitor, ids, m=0):
    low, high = corners(visitor, ids, m)
    return [low, (high[0], low[1]), high, (low[0], high[1])]


def test_lines_lead_from_a_clicked_point_to_its_true_neighbors(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    places = visitor.positions()
    name = max(places, key=lambda one: np.linalg.norm(places[one]))  # at the rim, alone
    visitor.click(visitor.pixels()[name])  # opens the tab of the point
    visitor.says("of its neighbors kept")
    ends, _ = visitor.lines()
    found = nearest_neighbors(minmax_scale(load_wine().data), 10).indices[int(name[1:])]
    expected = np.array([places[f"b{row:03}"] for row in found])
    np.testing.assert_allclose(sorted(ends.tolist()), sorted(expected.tolist()), atol=1e-6)
    for row in found:
        assert f"b{row:03}" in visitor.text()


def test_two_maps_are_aligned_and_selection_hover_and_zoom_are_linked(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    visitor.press("Compare with a second map")
    visitor.says("Gaussian kernel")
    visitor.until(lambda: len(visitor.positions(1)) == 178, "a second map")
    visitor.until(lambda: visitor.text().count("Finished, step") == 2, "the end of both")
    first, second = visitor.positions(0), visitor.positions(1)
    apart = [np.linalg.norm(first[name] - second[name]) for name in first]
    assert np.median(apart) < 0.5  # of maps from -1 to 1
    wanted = left_half(visitor)
    visitor.draw_around(box(visitor, wanted))
    visitor.says(f"{len(wanted)} of 178 rows are selected.")
    name = max(second, key=lambda one: np.linalg.norm(second[one]))
    visitor.mouse("mouseMoved", visitor.pixels(1)[name] - 3)
    visitor.mouse("mouseMoved", visitor.pixels(1)[name])
    visitor.until(lambda: visitor.inspected(0) > 0, "the same point is marked in the first map")
    visitor.open_tab("Quality")
    visitor.says("Gaussian kernel: area under R_NX")
    whole = visitor.limits()
    np.testing.assert_array_equal(visitor.limits(1), whole)
    target = visitor.pixels()["b000"]
    visitor.scroll(target, -240)
    visitor.until(lambda: np.ptp(visitor.limits()[:2]) < 0.95 * np.ptp(whole[:2]), "a closer view")
    np.testing.assert_array_equal(visitor.limits(1), visitor.limits(0))
    np.testing.assert_allclose(visitor.pixels()["b000"], target, atol=1)  # under the pointer
    visitor.take_tool("Reset", 1)
    visitor.until(lambda: (visitor.limits(0) == whole).all(), "the whole map again")
    visitor.take_tool("Box Zoom", 1)
    visitor.drag(*corners(visitor, left_half(visitor), 1))
    visitor.until(lambda: visitor.limits()[1] < whole[1], "a closer view of the left half")
    np.testing.assert_array_equal(visitor.limits(1), visitor.limits(0))
    visitor.press("Close the second map")


@pytest.mark.parametrize("width", [1440, 390])
def test_the_page_fits_its_window(visit, wine, width):
    visitor = visit(wine, (width, 1000))
    finished(visitor)
    visitor.enter("Search", "b01")  # the widest content: columns that differ, and the table
    visitor.says("10 of 178 rows are selected.")
    visitor.says("effect size")
    overflow = "return document.documentElement.scrollWidth - window.innerWidth"
    visitor.until(lambda: visitor.run(overflow) <= 0, f"{width} pixels are enough")
    visitor.press("Clear (Esc)")
    visitor.says("No rows are selected.")
    side = visitor.width_of("map0")
    visitor.open_tab("Run settings")
    visitor.enter("Steps", LONG)
    visitor.press("Compute")
    visitor.says("s left")  # the longest title, which must not make its map larger
    assert visitor.width_of("map0") == side
    visitor.press("Stop")
    visitor.says("Stopped, step")
    visitor.enter("Steps", "")  # until the objective has settled
    visitor.press("Compute")
    visitor.says("Finished, step")


def test_the_figures_follow_the_theme_of_the_browser(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    for scheme, theme in (("dark", DARK), ("light", LIGHT)):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        visitor.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        visitor.until(lambda: visitor.background("map0") == theme.background, scheme)  # noqa: B023  used at once
        wanted = {int(color[1:] + "ff", 16) for color in theme.classes[:3]}
        visitor.until(lambda: visitor.colors() == wanted, f"the colors of classes, {scheme}")  # noqa: B023  used at once


def test_a_search_selects_a_row_and_a_color_changes_the_legend(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    visitor.says("Grignolino 71")  # in the legend, with its number of rows
    visitor.enter("Color by", "alcohol")
    visitor.until(lambda: "Grignolino 71" not in visitor.text(), "another legend")
    visitor.enter("Color by", "cultivar")
    visitor.says("Grignolino 71")
    visitor.enter("Search", "b017")
    visitor.says("1 row found")
    visitor.lists(["b017"])
    visitor.enter("Search", "b021, b004")
    visitor.lists(["b004", "b021"])
    visitor.enter("Search", "barbera")  # a label
    visitor.says("48 of 178 rows are selected.")
    visitor.enter("Search", "b017")
    visitor.until(lambda: len(visitor.lines()[0]) == 10, "lines to neighbors")
    visitor.enter("Search", "")
    visitor.says("No rows are selected.")
    visitor.until(lambda: len(visitor.lines()[0]) == 0, "no lines")


def test_the_command_and_files_of_the_map_are_offered(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    line = "isosne embed wine.csv --id bottle --label cultivar --scale minmax -o map.parquet"
    visitor.open_tab("Run settings")
    visitor.says(line)
    visitor.press("Copy")
    assert visitor.clipboard() == line
    visitor.open_tab("Save")
    visitor.press("PNG")
    assert visitor.saved_bytes("wine-map.png").startswith(b"\x89PNG")
    visitor.press("HTML page")
    assert "<title>Owner kernel</title>" in visitor.saved_file("wine-map.html")


def test_a_map_of_another_program_is_matched_by_its_identifiers(visit, wine, tmp_path):
    visitor = visit(wine)
    finished(visitor)
    first = visitor.positions()
    visitor.open_tab("Run settings")
    lines = ["id,UMAP_1,UMAP_2", "b000,1.5,2.5"]
    (tmp_path / "umap.csv").write_text("\n".join(lines))
    visitor.upload(tmp_path / "umap.csv")
    visitor.says("one point for each of the 178 rows of wine.csv; it has 1 points")
    visitor.press("Close")
    visitor.until(lambda: "it has 1 points" not in visitor.text(), "the message is closed")
    order = np.random.default_rng(0).permutation(sorted(first))
    lines[1:] = [f"{name},{3 * first[name][1] + 9},{-3 * first[name][0]}" for name in order]
    (tmp_path / "umap2.csv").write_text("\n".join(lines))
    visitor.upload(tmp_path / "umap2.csv")
    visitor.says("points are matched with rows by the column 'id'.")
    visitor.until(lambda: len(visitor.positions(1)) == 178, "the second map")
    second = visitor.positions(1)
    for name in first:  # turned, mirrored, moved and scaled back
        np.testing.assert_allclose(second[name], first[name], atol=1e-4)
    visitor.press("Close the second map")


def test_the_map_of_a_model_is_shown_and_can_be_continued(visit):
    X = minmax_scale(load_wine().data)
    model = Settings("gaussian").make_model().fit(X)
    session = Session(from_python(X))
    session.add_model(model)
    with exploring(session) as address:
        visitor = visit(address)
        visitor.says("Gaussian kernel")
        visitor.until(lambda: len(visitor.positions()) == 178, "the map")
        places = np.array([visitor.positions()[f"{i}"] for i in range(178)])
        for axis, wanted in zip(places.T, model.embedding_.T, strict=True):
            assert np.corrcoef(axis, wanted)[0, 1] > 1 - 1e-6
        n = model.n_iter_
        visitor.says(f"Finished, step {n} of {n}")
        visitor.open_tab("Run settings")
        visitor.says("--kernel gaussian")
        visitor.press("100 more steps")
        visitor.says(f"Finished, step {n + 100} of {n + 100}")
        visitor.says(f"the map shown has {n + 100} steps")


def test_a_table_with_text_and_gaps_is_explored(visit):
    rng = np.random.default_rng(0)
    weights = rng.normal(4, 1, 80) + 4 * (np.arange(80) % 2)
    weights[3::10] = np.nan
    coats = [rng.choice([["red", "black"], ["white", "gray"]][i % 2]) for i in range(80)]
    cats = pd.DataFrame({"weight": weights, "coat": coats})
    labels, ids = np.tile(["a", "b"], 40), [f"cat {i:02}" for i in range(80)]
    session = Session(from_python(cats, labels, ids))
    session.begin(0, Settings())
    with exploring(session) as address:
        visitor = visit(address)
        visitor.says("Finished, step")
        visitor.until(lambda: len(visitor.positions()) == 80, "all points have a place")
        visitor.enter("Search", "red")
        visitor.says("rows are selected.")
        visitor.says("coat = red")
        visitor.enter("Search", "cat 03")
        visitor.open_tab("Point")
        visitor.says("Nearest in the data (lines)")
        visitor.enter("Color by", "trust")
        visitor.says("fraction of the 10 nearest neighbors preserved")
        visitor.open_tab("Quality")
        visitor.says("Owner kernel: area under R_NX")


def test_a_large_map_shows_a_sample_of_its_points_while_it_is_computed(visit):
    n = 3 * MAX_COMPUTED
    session = Session(from_python(np.random.default_rng(0).normal(size=(n, 5))))
    session.begin(0, Settings(n_iter=int(LONG)))
    with exploring(session) as address:
        visitor = visit(address)
        visitor.says(f"({MAX_COMPUTED:,} points shown)")
        visitor.open_tab("Run settings")
        visitor.until(lambda: len(visitor.positions()) == MAX_COMPUTED, "a sample")
        corners = (-1.05, -1.05), (1.05, -1.05), (1.05, 1.05), (-1.05, 1.05)
        visitor.draw_around([visitor.pixel_of(x, y) for x, y in corners])
        visitor.open_tab("Selection")
        visitor.says(f"{n:,} of {n:,} rows are selected.")
        visitor.open_tab("Run settings")
        visitor.press("Pause")
        visitor.until(lambda: len(visitor.positions()) == n, "all points")
        visitor.press("Resume")
        visitor.until(lambda: len(visitor.positions()) == MAX_COMPUTED, "a sample again")
        visitor.press("Stop")
        visitor.until(lambda: len(visitor.positions()) == n, "all points at the end")
        shown = np.array(list(visitor.positions().values()))
        np.testing.assert_allclose(np.abs(shown).max(), 1, atol=1e-6)  # the map fills its square


def test_of_very_many_points_those_in_view_are_drawn(visit):
    Y = np.random.default_rng(0).normal(size=(MAX_POINTS + 1, 2))
    session = Session(from_python(Y))
    session.add_map(Y, "many points")
    with exploring(session) as address:
        visitor = visit(address)
        visitor.says(f"({MAX_IN_VIEW:,} points shown)")
        place = next(iter(visitor.positions().values()))
        for _ in range(8):
            visitor.scroll(visitor.pixel_of(*place), -240)
        left, right, bottom, top = visitor.limits()
        low, span = Y.min(axis=0), np.ptp(Y, axis=0)
        x, y = ((Y - low - span / 2) / (span.max() / 2)).T  # as the page draws them
        n_in_view = np.sum((left <= x) & (x <= right) & (bottom <= y) & (y <= top))
        assert 0 < n_in_view < MAX_IN_VIEW
        visitor.until(lambda: len(visitor.positions()) == n_in_view, f"{n_in_view} points")


def test_two_tabs_show_the_same_session(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    first = visitor.browser.current_window_handle
    visitor.browser.switch_to.new_window("tab")
    visitor.browser.get(wine)
    finished(visitor)
    visitor.enter("Search", "b003")
    visitor.says("1 of 178 rows is selected.")
    visitor.browser.close()
    visitor.browser.switch_to.window(first)
    visitor.says("1 of 178 rows is selected.")
    visitor.lists(["b003"])
