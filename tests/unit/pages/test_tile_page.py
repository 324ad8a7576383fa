"""A page of tiles, by what it holds."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from isosne.errors import OutputError, ParameterError
from isosne.pages import tile_page as tile_page_module
from isosne.pages import write_tile_page
from isosne.plots.palette import COLORS
from isosne.plots.tiles import Shading
from tests.unit.tiles.examples import CLASSES, build, make_rows

EVIL = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def tiles(tmp_path_factory):
    return build(tmp_path_factory.mktemp("tiles") / "t", make_rows())


def image_of(content):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(content))), np.float64) / 255


def test_a_page_holds_the_tiles_of_all_levels(tmp_path, read_page, tiles):
    page = read_page(write_tile_page(tmp_path / "map.html", tiles))
    about = page.about
    assert (about["left"], about["bottom"], about["side"], about["tile"]) == (-1, -2, 4, 256)
    assert len(about["levels"]) == 3
    shading = Shading(tiles, "kind")
    for level, images in enumerate(about["levels"]):
        picture = shading.picture(level)
        found = np.zeros_like(picture)
        for name, content in images.items():
            column, row = (256 * int(number) for number in name.split("-"))
            found[row : row + 256, column : column + 256] = image_of(content)[::-1]
        # Values are rounded to steps of 1/51; a clear pixel has no color.
        np.testing.assert_allclose(found[..., 3], picture[..., 3], atol=0.011)
        filled = picture[..., 3] > 0
        np.testing.assert_allclose(found[filled], picture[filled], atol=0.011)


def test_a_page_tells_what_it_shows(tmp_path, tiles):
    text = write_tile_page(tmp_path / "map.html", tiles, title="All birds").read_text()
    assert "<title>All birds</title>" in text
    detail = f"1,024 x 1,024 pixels. {tiles.n_outside:,} rows lie outside."
    assert f"The finest level has {detail}" in text
    sizes = tiles.class_counts(0).sum(axis=(0, 1))
    for name, color, size in zip(CLASSES[1:], COLORS, sizes[1:], strict=False):
        assert f'fill="{color}"' in text
        assert f'class="name">{name}</span><span class="count">{size:,}</span>' in text
    assert f'class="name">no label</span><span class="count">{sizes[0]:,}</span>' in text


def test_values_have_a_scale(tmp_path, tiles):
    text = write_tile_page(tmp_path / "map.html", tiles, "v").read_text()
    assert '<span class="name">mean of v</span>' in text
    assert "linear-gradient(to right, #" in text
    paint = Shading(tiles, "v").paint
    assert f'<span\n          class="end">{paint.low:.4g}</span>' in text


def test_a_page_of_counts_has_no_legend(tmp_path, tiles):
    text = write_tile_page(tmp_path / "map.html", tiles, "count").read_text()
    assert "<title>Map of 600 rows</title>" in text
    assert 'class="entry"' not in text
    assert 'class="scale"' not in text


def test_levels_that_are_too_large_for_a_page_are_left_out(tmp_path, read_page, tiles, monkeypatch):
    whole = read_page(write_tile_page(tmp_path / "whole.html", tiles)).about["levels"]
    size = sum(len(image) for level in whole[:2] for image in level.values())
    monkeypatch.setattr(tile_page_module, "MOST_BYTES", size)
    path = write_tile_page(tmp_path / "map.html", tiles)
    assert read_page(path).about["levels"] == whole[:2]
    sentence = "The finest level has 512 x 512 pixels; the tiles have 1 finer level(s)."
    assert sentence in path.read_text()


def test_names_cannot_leave_their_place(tmp_path):
    tiles = build(tmp_path / "t", make_rows(), label=EVIL, classes=("", EVIL, "b"))
    text = write_tile_page(tmp_path / "map.html", tiles, title=EVIL).read_text()
    assert "<script>alert(1)" not in text


def test_the_same_tiles_give_the_same_page(tmp_path, tiles, read_page):
    one, two = (read_page(write_tile_page(tmp_path / f"{k}.html", tiles)).about for k in "ab")
    assert one == two


def test_files_and_names_are_checked(tmp_path, tiles):
    (tmp_path / "map.html").touch()
    with pytest.raises(OutputError, match=r"the file already exists"):
        write_tile_page(tmp_path / "map.html", tiles)
    write_tile_page(tmp_path / "map.html", tiles, force=True)
    with pytest.raises(ParameterError, match=r"html"):
        write_tile_page(tmp_path / "map.png", tiles)
