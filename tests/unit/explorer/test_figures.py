"""The data source of the maps, and which rows are drawn of very many."""

import numpy as np
import pytest

from isosne.explorer.figures import Points

N = 1000


@pytest.fixture
def points():
    return Points(N)


def test_a_sample_is_half_selected_rows_at_the_most_and_has_no_row_that_is_not_wanted(points):
    is_wanted = np.arange(N) < 800
    assert sorted(points.choose(is_wanted, np.arange(5), N)) == list(range(800))
    rows = points.choose(is_wanted, np.arange(500), 100)
    assert (rows[:50] >= 500).all()
    assert (rows[50:] < 500).all()  # selected rows are in front
    assert len(np.unique(rows)) == 100
    assert rows.max() < 800
    few_others = points.choose(is_wanted, np.arange(790), 100)
    assert np.sum(few_others < 790) == 90


def test_only_other_colors_are_sent(points):
    colors, places = np.zeros(N, np.uint32), np.zeros((N, 2), np.float32)
    points.fill(np.arange(N), [places], (colors, colors))
    sent = []
    points._patch = sent.append
    points.paint(0, colors.copy())
    assert not sent
    points.paint(0, colors + np.uint32(1))
    assert [list(one) for one in sent] == [["c0"]]
