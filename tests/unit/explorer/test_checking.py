"""Whether a selection is a group: each sentence, and what it is counted from."""

import numpy as np
import pytest

from isosne import LeidenClustering, nearest_neighbors
from isosne.explorer.checking import find_inside, largest_piece, missing, weigh
from isosne.explorer.colors import paint
from isosne.explorer.measuring import Measurer
from isosne.explorer.session import CLUSTER, NULL_P, OUTLIERS, SEEDS
from isosne.structure import null_test

TIGHT = np.arange(30)
"""One of the two clusters."""


def test_the_share_inside_is_that_of_the_nearest_neighbors(mapped):
    rows = np.array([0, 1, 2, 3, 40, 41, 42, 50, 51, 52, 53, 54])
    near = nearest_neighbors(mapped.rows.X, 10).indices[rows]
    assert find_inside(mapped, rows, 99).share == pytest.approx(np.isin(near, rows).mean())
    assert find_inside(mapped, rows, 5).n_queries == 5
    few = find_inside(mapped, rows[:4], 99)  # of four rows, the three nearest
    near = nearest_neighbors(mapped.rows.X, 3).indices[:4]
    assert few.share == pytest.approx(np.isin(near, rows[:4]).mean())


def test_pieces_are_connected_by_neighbors_among_the_rows_only():
    chain = np.array([[1], [2], [3], [2], [5], [4]])  # 0-1-2-3 and 4-5
    assert largest_piece(chain, np.arange(6)) == pytest.approx(4 / 6)
    assert largest_piece(chain, np.array([0, 1, 3])) == pytest.approx(2 / 3)  # without 2


def test_a_cluster_is_weighed_when_it_is_asked_for(mapped):
    measurer = Measurer(mapped)
    mapped.select(TIGHT)
    measurer._look()
    assert [is_for for _, is_for in weigh(mapped)] == [True, None]
    mapped.check()
    assert missing(mapped) == [CLUSTER, NULL_P, SEEDS]
    while missing(mapped):
        measurer._look()
    inside, kept, cluster, null, maps = weigh(mapped)
    assert inside == (
        "100% of their nearest neighbors in the data are selected, too (by chance 49%).",
        True,
    )
    trust = mapped.measures[mapped.maps[0]].trust
    words = f"Neighbors kept by the map: {trust[TIGHT].mean():.0%} (whole map: {trust.mean():.0%})."
    assert kept == (words, None)
    found = LeidenClustering(random_state=0).fit(mapped.maps[0].model)
    c, test = found.labels_[0], null_test(mapped.rows.X)
    words = f"30 of them are in cluster {c}, which has 30 rows and stability 1.00."
    assert cluster == (words, True)
    assert f"(null test of all rows: p = {test.p_value:.2g})" in null[0]
    assert f"{np.mean(test.point_p_values[TIGHT] <= 0.05):.0%} of them" in null[0]
    assert maps == ("They are in one piece on 5 of 5 maps with other seeds.", True)


def test_rows_that_are_no_group_are_not_supported(mapped):
    measurer = Measurer(mapped)
    mapped.select(np.arange(0, 60, 7))  # of both clusters
    mapped.check()
    measurer._look()
    assert [is_for for _, is_for in weigh(mapped)] == [False, None, False]
    mapped.select(np.arange(60))  # all rows, or one: there is nothing to compare
    assert weigh(mapped) == []
    mapped.select(np.arange(1))
    assert weigh(mapped) == []


def test_a_new_map_is_checked_anew(mapped):
    mapped.check()
    Measurer(mapped)._look()
    assert CLUSTER in mapped.checks
    mapped.begin(0, mapped.maps[0].settings)
    assert (mapped.checks, missing(mapped)) == ({}, [])


@pytest.mark.parametrize("color", [CLUSTER, OUTLIERS, NULL_P])
def test_a_check_is_computed_while_it_is_the_color(mapped, color):
    mapped.color = color
    assert paint(mapped).legend == f"<b>{color}</b><span>is computed ...</span>"
    Measurer(mapped)._look()
    painted = paint(mapped)
    assert f"<b>{color}</b>" in painted.legend
    assert (painted.paints[0] is None) == ("all values are equal" in painted.legend)


def test_a_check_that_fails_says_so_and_is_not_tried_again(mapped, monkeypatch):
    mapped.color = OUTLIERS
    monkeypatch.setattr("isosne.explorer.checking.IsolationOutliers", lambda **_: 1 / 0)
    measurer = Measurer(mapped)
    measurer._look()
    assert mapped.failure.startswith("No outlier score could be found. Internal error")
    assert missing(mapped) == []
    assert paint(mapped).paints == (None, None)
