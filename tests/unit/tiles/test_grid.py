"""Pixels along a Z-order curve."""

import numpy as np
import pytest

from isosne.tiles.grid import TILE, TILE_PIXELS, Grid, deinterleave, interleave


def test_bits_of_columns_and_rows_alternate():
    # Column 0b011, row 0b101: the bits of row and column in turn are 10 01 11.
    assert interleave([3], [5]).tolist() == [0b100111]


def test_positions_give_back_columns_and_rows():
    rng = np.random.default_rng(0)
    columns, rows = rng.integers(0, 2**16, (2, 1000))
    found = deinterleave(interleave(columns, rows))
    np.testing.assert_array_equal(found, [columns, rows])


def test_the_pixels_of_a_tile_are_consecutive_and_a_quarter_is_a_pixel_of_the_next_level():
    columns, rows = np.array([300, 511]), np.array([700, 767])
    tile = interleave(columns // TILE, rows // TILE)
    np.testing.assert_array_equal(interleave(columns, rows) // TILE_PIXELS, tile)
    coarser = interleave(columns // 2, rows // 2)
    np.testing.assert_array_equal(interleave(columns, rows) // 4, coarser)


def test_a_grid_is_a_square_around_the_map_with_a_margin():
    grid = Grid.around(np.array([[0, 0], [10, 4]], np.float32), levels=3)
    # The longer side is 10, with a margin of a twentieth on each side; the middle is (5, 2).
    np.testing.assert_allclose(grid[:3], [5 - 5.5, 2 - 5.5, 11])
    assert (grid.finest, grid.n_tiles) == (2, 16)


def test_a_map_whose_points_coincide_has_a_grid():
    grid = Grid.around(np.full((3, 2), 7, np.float32), levels=1)
    assert grid.side > 0
    pixels, inside = grid.pixels_of(np.full((3, 2), 7, np.float32))
    assert inside.all()
    assert set(deinterleave(pixels)[0].tolist()) <= {TILE // 2 - 1, TILE // 2}


@pytest.mark.parametrize(("x", "is_inside"), [(-0.01, False), (0, True), (1.99, True), (2, False)])
def test_the_left_edge_is_inside_and_the_right_edge_is_not(x, is_inside):
    _, inside = Grid(0.0, 0.0, 2.0, 1).pixels_of(np.array([[x, 1]]))
    assert inside.tolist() == [is_inside]
