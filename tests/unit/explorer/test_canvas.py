"""Maps on a common scale, and selections of rows that are not drawn."""

import numpy as np
import pytest

from isosne.explorer.canvas import Canvas, align, inside, into_square
from isosne.explorer.maps import FINISHED, RUNNING, ShownMap, Status
from tests.unit.explorer.conftest import QUICK


def test_a_polygon_selects_the_points_inside():
    Y = np.array([[0, 0], [0.9, 0.9], [0.2, 0.1], [np.nan, 0]], np.float32)
    found = inside(Y, np.array([-0.5, 0.5, 0.5, -0.5]), np.array([-0.5, -0.5, 0.5, 0.5]))
    assert found.tolist() == [0, 2]


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(50, 2))


@pytest.mark.parametrize("is_mirrored", [False, True])
def test_a_turned_scaled_and_moved_map_is_laid_back_onto_its_original(points, is_mirrored):
    turn = np.array([[np.cos(1), -np.sin(1)], [np.sin(1), np.cos(1)]])
    moved = 7 * points @ turn + [30, -4]
    if is_mirrored:
        moved[:, 0] *= -1
    np.testing.assert_allclose(align(moved, points), points, atol=1e-5)


def test_a_map_that_has_nothing_in_common_gets_the_same_size(points):
    other = 100 * np.random.default_rng(5).uniform(-1, 1, (50, 2))  # no point is far away
    found = align(other, points)
    assert found.var(axis=0).sum() == pytest.approx(points.var(axis=0).sum(), rel=1e-4)


def test_a_map_with_far_points_is_shrunk_into_the_square_of_the_other(points):
    far = points.copy()
    far[0] = [40, 3]
    onto = into_square(points)
    found = align(far, onto)
    assert np.abs(found).max() == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(found.mean(axis=0), onto.mean(axis=0), atol=1e-5)


def test_rows_that_one_map_lacks_do_not_enter_and_stay_without_a_position(points):
    half = 3 * points
    half[25:] = np.nan
    found = align(half, points)
    np.testing.assert_allclose(found[:25], points[:25], atol=1e-5)
    assert np.isnan(found[25:]).all()


def test_a_map_fills_the_square_and_keeps_its_proportions(points):
    found = into_square(points)
    assert np.abs(found).max() == pytest.approx(1)
    ratio = np.ptp(points, axis=0) / np.ptp(found, axis=0)
    assert ratio[0] == pytest.approx(ratio[1], rel=1e-5)


def test_a_map_of_a_single_place_and_one_without_positions_stay_finite():
    assert np.array_equal(into_square(np.ones((3, 2))), np.zeros((3, 2)))
    assert np.isnan(into_square(np.full((3, 2), np.nan))).all()


def test_neighbors_are_found_on_a_map_that_ends_right_after_a_search(mapped):
    canvas, first = Canvas(mapped), mapped.maps[0]
    second = ShownMap("second", QUICK, np.full_like(first.Y, np.nan))
    second.status = Status(RUNNING)
    mapped.maps, mapped.asked = (first, second), 7
    canvas.arrange()
    assert [drawn.found is None for drawn in canvas.figures] == [False, True]
    second.Y = first.Y  # the last frame, which comes before the status
    canvas.tick()
    second.status = Status(FINISHED)
    canvas.tick()
    assert canvas.figures[1].found.row == 7
