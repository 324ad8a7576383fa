"""A few hostile tables with fixed seeds; `make fuzz` tries more."""

import pytest

from tests.fuzz.explorers import run_pages

pytestmark = [pytest.mark.browser, pytest.mark.slow]
N_CASES = 6


def test_a_hostile_table_is_explored_or_refused_and_nothing_runs():
    found = []
    counts = run_pages(range(N_CASES), report=found.append)
    assert [result for result in found if result.outcome == "failed"] == []
    assert counts["succeeded"] > 1
    assert counts.total() == N_CASES
