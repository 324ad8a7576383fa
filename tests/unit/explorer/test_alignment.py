import numpy as np
import pytest

from isosne.explorer.alignment import align, into_square, moved_most


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


def test_the_alignment_of_noisy_maps_is_the_best_of_all_turns(points):
    noisy = points[:, ::-1] + np.random.default_rng(1).normal(size=(50, 2))
    found = ((align(noisy, points) - points) ** 2).sum()
    A, B = noisy - noisy.mean(axis=0), points - points.mean(axis=0)
    best = np.inf
    for angle in np.linspace(0, 2 * np.pi, 721):
        for sign in (1, -1):
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            turned = A @ turn * [sign, 1] * np.sqrt((B**2).sum() / (A**2).sum())
            best = min(best, ((turned - B) ** 2).sum())
    assert found == pytest.approx(best, rel=1e-4)


def test_a_map_that_has_nothing_in_common_gets_the_same_size(points):
    other = 100 * np.random.default_rng(5).normal(size=(50, 2))
    found = align(other, points)
    assert found.var(axis=0).sum() == pytest.approx(points.var(axis=0).sum(), rel=1e-4)


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


def test_the_rows_that_moved_most_come_first(points):
    other = points.copy()
    other[7] += 5
    other[3] += 1
    other[9] = np.nan
    rows, distances = moved_most(points, other, 2)
    assert rows.tolist() == [7, 3]
    np.testing.assert_allclose(distances, [5 * np.sqrt(2), np.sqrt(2)])
