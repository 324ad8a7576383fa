"""The data source of the maps, and what is drawn of a large map while it is computed."""

import numpy as np
import pytest

from isosne.explorer.figures import MAX_COMPUTED, MapFigure, Points

N = 5 * MAX_COMPUTED
NONE = np.empty(0, np.int64)


@pytest.fixture
def places():
    return np.random.default_rng(0).normal(size=(N, 2)).astype(np.float32)


@pytest.fixture
def points():
    return Points(N, {})


def test_a_sample_is_of_all_parts_of_the_table(points, places):
    rows = points.sample(places, NONE)
    assert len(np.unique(rows)) == len(rows) == MAX_COMPUTED
    shares = np.bincount(rows * 10 // N, minlength=10) / MAX_COMPUTED
    np.testing.assert_allclose(shares, 0.1, atol=4 * np.sqrt(0.09 / MAX_COMPUTED))


def test_selected_rows_are_in_the_sample_and_drawn_last(points, places):
    selection = np.array([3, 700, N - 1])
    rows = points.sample(places, selection)
    assert sorted(rows[-3:]) == sorted(selection)
    assert len(np.unique(rows)) == len(rows) == MAX_COMPUTED


def test_a_large_selection_leaves_half_of_the_sample_to_the_others(points, places):
    rows = points.sample(places, np.arange(N // 2))
    assert np.sum(rows < N // 2) == MAX_COMPUTED // 2
    assert len(rows) == MAX_COMPUTED


def test_a_selection_of_all_rows_fills_the_sample(points, places):
    assert len(np.unique(points.sample(places, np.arange(N)))) == MAX_COMPUTED


def test_rows_without_a_place_are_not_in_the_sample(points, places):
    places[50:] = np.nan
    assert sorted(points.sample(places, np.array([7, 60]))) == list(range(50))


def test_a_figure_draws_a_sample_or_every_point(points, places):
    drawn = MapFigure(0, points, N, [])
    by_name = {renderer.name: renderer for renderer in drawn.figure.renderers}
    colors = np.arange(4, dtype=np.uint32)
    drawn.show_sample(places[:4], colors)
    assert [by_name[name].visible for name in ("sample", "points")] == [True, False]
    data = by_name["sample"].data_source.data
    np.testing.assert_array_equal(np.column_stack([data["x"], data["y"]]), places[:4])
    np.testing.assert_array_equal(data["c"], colors)
    drawn.show_every()
    assert [by_name[name].visible for name in ("sample", "points")] == [False, True]


def test_only_other_colors_are_sent(points, places):
    colors = np.zeros(N, np.uint32)
    points.fill(np.arange(N), [places], (colors,))
    sent = []
    points._patch = sent.append
    points.paint(0, colors.copy())
    assert not sent
    points.paint(0, colors + np.uint32(1))
    assert [list(one) for one in sent] == [["c0"]]
