"""A page of tiles in a real browser: zooming in shows finer tiles."""

import numpy as np
import pytest

from isosne.pages import write_tile_page
from isosne.plots.palette import COLORS
from tests.browser.reader import count_pixels
from tests.unit.tiles.examples import build, make_rows

pytestmark = pytest.mark.browser

SHOWN = """
const [figure] = Bokeh.documents[0].roots()
const {x, y, side} = figure.renderers[0].data_source.data
return Array.from(x, (_, i) => [x[i], y[i], side[i]])
"""
ZOOM = """
const [x, y, half] = arguments
const [figure] = Bokeh.documents[0].roots()
figure.x_range.setv({start: x - half, end: x + half})
figure.y_range.setv({start: y - half, end: y + half})
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiles")
    return write_tile_page(folder / "map.html", build(folder / "t", make_rows(4000)))


def test_zooming_in_shows_finer_tiles_of_what_is_in_view(open_page, page):
    reader = open_page(page, size=(1200, 700))
    whole = np.array(reader.run(SHOWN))
    assert set(whole[:, 2]) == {2}  # level 1: 512 pixels for 588 of the screen
    assert len(whole) == 4
    reader.run(ZOOM, 0.5, -0.5, 0.3)
    reader.settle()
    assert reader.run(SHOWN) == [[0, -1, 1]]  # level 2: of 16 tiles the one in view
    reader.run(ZOOM, 1, 0, 0.3)
    reader.settle()
    assert sorted(reader.run(SHOWN)) == [[0, -1, 1], [0, 0, 1], [1, -1, 1], [1, 0, 1]]


def test_a_large_page_shows_a_finer_level(open_page, page):
    reader = open_page(page, size=(1600, 1100))
    assert {side for _, _, side in reader.run(SHOWN)} == {1}


def test_tiles_are_drawn_in_the_colors_of_the_legend(open_page, page):
    reader = open_page(page, size=(1200, 700))
    reader.run(ZOOM, 1, 0, 0.1)
    reader.settle()
    picture = reader.picture()
    for color in COLORS[:2]:
        assert count_pixels(picture, color, 1.0) > 20
