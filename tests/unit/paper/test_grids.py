"""Which values of psi and perplexity are tried."""

import pytest

from isosne.paper.grids import (
    choose_grid,
    finest_exact,
    grid_values,
    is_affordable_exactly,
)
from isosne.studies.parameter_sweep import paper_grid


def test_small_sets_get_the_papers_grid_and_large_ones_less():
    assert [choose_grid(n) for n in (178, 1300, 1301, 5000, 5001)] == [
        "paper",
        "paper",
        "thin",
        "thin",
        "least",
    ]
    assert choose_grid(178, quick=True) == "thin"
    assert choose_grid(10_000, quick=True) == "least"


@pytest.mark.parametrize("n", [178, 569, 2310, 10_992])
@pytest.mark.parametrize("name", ["thin", "least"])
def test_thinner_grids_are_parts_of_the_papers(name, n):
    assert set(grid_values(name, n)) <= set(paper_grid(n))
    assert 29 in grid_values(name, n)


def test_values_that_no_map_can_have_are_left_out():
    # of 30 points: 5 to 29, and 0.05, 0.25, 0.49, 0.81 of 30: 2, 8, 15, 24
    assert grid_values("thin", 30) == [2, 5, 8, 9, 13, 15, 21, 24, 29]


def test_the_exact_kernel_is_tried_where_its_lists_are_short():
    # 10 000 points: 5e7 pairs, so that 100 listed points are affordable: psi from 14 * 100
    assert is_affordable_exactly(1400, 10_000)
    assert not is_affordable_exactly(1399, 10_000)
    assert finest_exact(10_000) == 1400
    assert finest_exact(1000) == 2
