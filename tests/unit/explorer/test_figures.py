"""The data source of the maps, and what is drawn of a large map while it is computed."""

import numpy as np
import pytest

from isosne.explorer.figures import MAX_COMPUTED, Points

N = 5 * MAX_COMPUTED
NONE = np.empty(0, np.int64)


@pytest.fixture
def places():
    return np.random.default_rng(0).normal(size=(N, 2)).astype(np.float32)


@pytest.fixture
def points():
    return Points(N, {})


def test_a_large_selection_leaves_half_of_the_sample_to_the_others(points, places):
    rows = points.sample(places, np.arange(N // 2))
    assert np.sum(rows < N // 2) == MAX_COMPUTED // 2
    assert len(rows) == MAX_COMPUTED


def test_rows_without_a_place_are_not_in_the_sample(points, places):
    places[50:] = np.nan
    assert sorted(points.sample(places, np.array([7, 60]))) == list(range(50))


def test_only_other_colors_are_sent(points, places):
    colors = np.zeros(N, np.uint32)
    points.fill(np.arange(N), [places], (colors, colors))
    sent = []
    points._patch = sent.append
    points.paint(0, colors.copy())
    assert not sent
    points.paint(0, colors + np.uint32(1))
    assert [list(one) for one in sent] == [["c0"]]
