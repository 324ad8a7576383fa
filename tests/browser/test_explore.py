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
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from isosne import nearest_neighbors
from isosne.explorer.themes import DARK, LIGHT
from tests.browser.visitor import FIND

pytestmark = pytest.mark.browser
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


@pytest.fixture(scope="module")
def wine_folder(tmp_path_factory):
    """A folder with wine.csv."""
    folder = tmp_path_factory.mktemp("wine")
    data = load_wine()
    with (folder / "wine.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["bottle", "cultivar", *data.feature_names])
        for i, (row, kind) in enumerate(zip(data.data, data.target, strict=True)):
            writer.writerow([f"b{i:03}", ("Barolo", "Grignolino", "Barbera")[kind], *row])
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
    """Return the identifiers in the left half of the first map."""
    places = visitor.positions()
    middle = np.median([place[0] for place in places.values()])
    return sorted(name for name, place in places.items() if place[0] < middle)


def test_a_map_moves_until_it_is_paused_and_takes_another_kernel(visit, wine):
    visitor = visit(wine)
    finished(visitor)
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
    visitor.enter("Kernel", "gaussian")
    visitor.press("Compute")
    visitor.says("Gaussian kernel")
    visitor.says("Running, step")
    visitor.press("Stop")
    visitor.says("Stopped, step")
    visitor.press("100 more steps")
    visitor.says("Finished, step")
    visitor.enter("Kernel", "owner")
    visitor.enter("Steps", "500")
    visitor.press("Compute")
    visitor.says("Finished, step 500 of 500")


def test_a_lasso_selects_rows_that_are_shown_saved_named_and_mapped_again(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    wanted = left_half(visitor)
    visitor.draw_around(box(visitor, wanted))
    visitor.says(f"{len(wanted)} of 178 rows are selected.")
    visitor.lists(wanted)
    visitor.press("Save as CSV")
    saved = list(csv.DictReader(io.StringIO(visitor.saved_file("selection.csv"))))
    assert sorted(line["bottle" if "bottle" in line else "id"] for line in saved) == wanted
    visitor.press("Map only these rows")
    visitor.says(f"Owner kernel, {len(wanted)} selected rows")
    visitor.until(lambda: sorted(visitor.positions(1)) == wanted, "a map of these rows")
    visitor.browser.refresh()
    visitor.says(f"{len(wanted)} of 178 rows are selected.")
    visitor.lists(wanted)
    visitor.until(lambda: sorted(visitor.positions(1)) == wanted, "the second map again")
    visitor.press("Close the second map")
    visitor.press("Clear")
    visitor.says("No rows are selected.")


def box(visitor, ids, m=0):
    low, high = corners(visitor, ids, m)
    return [low, (high[0], low[1]), high, (low[0], high[1])]


def test_lines_lead_from_a_clicked_point_to_its_true_neighbors(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    places = visitor.positions()
    name = max(places, key=lambda one: np.linalg.norm(places[one]))  # at the rim, alone
    visitor.click(visitor.pixels()[name])
    visitor.open_tab("Point")
    visitor.says("trust ")
    ends, _ = visitor.lines()
    found = nearest_neighbors(minmax_scale(load_wine().data), 10).indices[int(name[1:])]
    expected = np.array([places[f"b{row:03}"] for row in found])
    np.testing.assert_allclose(sorted(ends.tolist()), sorted(expected.tolist()), atol=1e-6)
    for row in found:
        assert f"b{row:03}" in visitor.text()


def test_two_maps_are_aligned_and_linked(visit, wine):
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
    visitor.says("Rows that differ most between the aligned maps")
    visitor.press("Close the second map")


def test_the_figures_follow_the_theme_of_the_browser(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    for scheme, theme in (("dark", DARK), ("light", LIGHT)):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        visitor.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        for name in ("map0", "curves"):
            visitor.until(lambda: visitor.background(name) == theme.background, f"{name}, {scheme}")  # noqa: B023  used at once
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
    visitor.says("1 rows found")
    visitor.lists(["b017"])


def test_the_command_and_files_of_the_map_are_offered(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    visitor.open_tab("Save")
    visitor.says("isosne embed wine.csv --id bottle --label cultivar --scale minmax -o map.parquet")
    visitor.press("SVG")
    assert "<svg" in visitor.saved_file("map.svg")
    visitor.press("HTML page")
    assert "<title>Owner kernel</title>" in visitor.saved_file("map.html")


def test_two_tabs_show_the_same_session(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    first = visitor.browser.current_window_handle
    visitor.browser.switch_to.new_window("tab")
    visitor.browser.get(wine)
    finished(visitor)
    visitor.enter("Search", "b003")
    visitor.says("1 of 178 rows are selected.")
    visitor.browser.close()
    visitor.browser.switch_to.window(first)
    visitor.says("1 of 178 rows are selected.")
    visitor.lists(["b003"])


def test_a_run_goes_on_after_its_tab_was_closed(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    visitor.enter("Steps", LONG)
    visitor.press("Compute")
    visitor.says("Running, step")
    visitor.browser.get("about:blank")
    visitor.browser.get(wine)
    visitor.says("Running, step")
    visitor.press("Stop")
    visitor.says("Stopped, step")
    visitor.enter("Steps", "500")
    visitor.press("Compute")
    finished(visitor)


def test_settings_that_cannot_be_used_are_told_in_the_page(visit, wine):
    visitor = visit(wine)
    finished(visitor)
    visitor.enter("Cell size", "many")
    visitor.press("Compute")
    visitor.says("cell_size must be auto, a number of points")
    visitor.enter("Cell size", "100000")
    visitor.press("Compute")
    visitor.says("a number of points from 1 to n_samples (178)")
    visitor.says("Finished, step")  # the map from before is still there
    visitor.enter("Cell size", "4")
    visitor.press("Compute")
    finished(visitor)
    visitor.says("Owner kernel, cell size 4")


def test_without_a_table_the_page_asks_for_a_file(visit, wine_folder, tmp_path):
    with serving(tmp_path) as address:
        visitor = visit(address)
        visitor.says("Open a table")
        bad = tmp_path / "bad.csv"
        bad.write_text("a,b\n1,2\n3\n")
        chooser = visitor.until(lambda: visitor.run(FILE_INPUT), "a field for a file")
        chooser.send_keys(str(bad))
        visitor.press("Open")
        visitor.says("bad.csv")
        assert "Finished" not in visitor.text()
        chooser.send_keys(str(wine_folder / "wine.csv"))
        visitor.enter("Column with the class of each row (optional)", "cultivar")
        visitor.press("Open")
        visitor.until(lambda: visitor.run(FIND, "a", "Show its map"), "a link").click()
        finished(visitor)
        visitor.says("Barolo")


FILE_INPUT = """
let hit = null
const walk = (root) => {
  for (const node of root.querySelectorAll("*")) {
    if (node.matches("input[type=file]") && node.checkVisibility()) { hit = hit ?? node }
    if (node.shadowRoot) { walk(node.shadowRoot) }
  }
}
walk(document)
return hit
"""
