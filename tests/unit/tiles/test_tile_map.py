"""Tiles of all levels show what a count of one row after the other finds."""

import json

import numpy as np
import pytest

from isosne.errors import DataError, ParameterError
from isosne.tiles import TileMap
from isosne.tiles import pyramid as pyramid_module
from isosne.tiles.bins import add_up, bin_rows, bin_type, read_bins, write_bins
from tests.reference.tiles import count_pixels
from tests.unit.tiles.examples import CLASSES, GRID, bins_of, build, make_rows


@pytest.fixture(scope="module")
def rows():
    return make_rows()


@pytest.fixture(scope="module")
def tiles(rows, tmp_path_factory):
    return build(tmp_path_factory.mktemp("tiles") / "t", rows, 4)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_every_level_shows_what_counting_row_by_row_finds(rows, tiles, level):
    Y, classes, values = rows
    given = [None if v != v else v for v in values.tolist()]
    n_pixels = 256 * 2**level
    expected, n_outside = count_pixels(Y, classes, given, GRID[:2], GRID.side, n_pixels)
    counts, by_class = np.zeros((n_pixels,) * 2), np.zeros((n_pixels, n_pixels, 3))
    sums, n_values = np.zeros((2, n_pixels, n_pixels))
    for (row, column, c), (n, total, n_known) in expected.items():
        counts[row, column] += n
        by_class[row, column, c] += n
        sums[row, column] += total
        n_values[row, column] += n_known
    np.testing.assert_array_equal(tiles.counts(level), counts)
    np.testing.assert_array_equal(tiles.class_counts(level), by_class)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(tiles.means(level, "v"), sums / n_values, rtol=1e-12)
    assert n_outside == tiles.n_outside >= 3


def test_tiles_tell_what_they_show(tiles):
    assert tiles.extent == (-1.0, 3.0, -2.0, 2.0)
    assert (tiles.levels, tiles.n_rows, tiles.label) == (3, 600, "kind")
    assert (tiles.classes, tiles.values) == (CLASSES, ("v",))
    assert repr(tiles) == f"TileMap({str(tiles.folder)!r}: 600 rows, 3 levels)"


def test_bins_are_added_in_the_order_of_the_parts(rows):
    parts = [bins_of(*(column[k::3] for column in rows)) for k in range(3)]
    found = add_up(parts)
    whole = bins_of(*rows)
    for name in ("pixel", "class", "n", "n_values"):
        np.testing.assert_array_equal(found[name], whole[name])
    np.testing.assert_allclose(found["sum"], whole["sum"], rtol=1e-12)
    keys = found["pixel"].astype(np.int64) * 3 + found["class"]
    assert (np.diff(keys) > 0).all()


def test_holding_few_bins_changes_no_count(rows, tmp_path, tiles, monkeypatch):
    monkeypatch.setattr(pyramid_module, "HELD_BINS", 10)
    monkeypatch.setattr(pyramid_module, "TILES_AT_A_TIME", 3)
    found = build(tmp_path / "t", rows, 7)
    for level in range(3):
        np.testing.assert_array_equal(found.class_counts(level), tiles.class_counts(level))


def test_the_bins_of_some_tiles_are_read_from_a_file(rows, tmp_path):
    bins = bins_of(*rows)
    path = tmp_path / "x.bins"
    with path.open("wb") as file:
        write_bins(file, bins, GRID.n_tiles)
    tile = bins["pixel"] // 65_536
    for some in (range(16), range(5, 7), range(15, 16)):
        expected = bins[(tile >= some.start) & (tile < some.stop)]
        assert read_bins(path, 1, some, GRID.n_tiles).tobytes() == expected.tobytes()


@pytest.mark.parametrize("n_bytes", [0, 100, 160])
def test_bins_that_lost_their_end_are_refused(rows, tmp_path, n_bytes):
    path = tmp_path / "x.bins"
    with path.open("wb") as file:
        write_bins(file, bins_of(*rows), GRID.n_tiles)
    path.write_bytes(path.read_bytes()[:n_bytes])
    with pytest.raises(DataError, match=r"^Cannot read the part of the tiles .*: the file is dam"):
        read_bins(path, 1, range(16), GRID.n_tiles)


def test_no_rows_have_no_bins():
    empty = bin_rows(np.empty(0, np.uint32), np.empty(0, np.uint16), np.empty((0, 2)))
    assert len(empty) == 0
    assert empty.dtype == bin_type(2)


@pytest.mark.parametrize("level", [-1, 3])
def test_a_level_that_is_not_there_is_refused(tiles, level):
    sentence = rf"^level must be .*got level={level}\. The tiles have 3 level\(s\)\.$"
    with pytest.raises(ParameterError, match=sentence):
        tiles.counts(level)


def test_a_column_that_is_not_there_is_refused(tiles):
    with pytest.raises(ParameterError) as caught:
        tiles.means(0, "w")
    assert str(caught.value) == (
        "column must be one of 'v'; got column='w'. Name the column when the tiles are made."
    )


def change(folder, **entries):
    path = folder / "tiles.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))


@pytest.mark.parametrize(
    "entries",
    [
        {"isosne": "model"},
        {"levels": 99},
        {"extent": [0, 0, -1]},
        {"extent": [0, 0, float("nan")]},
        {"extent": None},
        {"levels": "3"},
    ],
)
def test_a_damaged_header_is_refused(rows, tmp_path, entries):
    build(tmp_path / "t", rows, 1)
    change(tmp_path / "t", **entries)
    with pytest.raises(DataError, match=r"^Cannot read the tiles .*tiles\.json: the file is dam"):
        TileMap(tmp_path / "t")


def test_tiles_of_a_later_format_are_refused(rows, tmp_path):
    build(tmp_path / "t", rows, 1)
    change(tmp_path / "t", form=9, version="9.0")
    with pytest.raises(DataError) as caught:
        TileMap(tmp_path / "t")
    assert str(caught.value) == (
        f"{tmp_path / 't' / 'tiles.json'} uses file format 9, written by isosne 9.0; this version "
        "reads formats up to 1. Update isosne to read it."
    )


def test_a_folder_without_tiles_is_refused(tmp_path):
    with pytest.raises(DataError) as caught:
        TileMap(tmp_path)
    path = tmp_path / "tiles.json"
    assert str(caught.value) == f"Cannot read the tiles {path}: no such file. Check the name."


def test_a_damaged_tile_is_refused(rows, tmp_path):
    tiles = build(tmp_path / "t", rows, 1)
    path = tmp_path / "t" / "0" / "0-0.tile"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"^Cannot read the tile .*0-0\.tile: the file is damaged"):
        tiles.counts(0)
