"""A short fuzz run with fixed seeds: everything succeeds or is refused in one sentence."""

import os

import pytest

from tests.fuzz.host import AREAS, run_cases

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="limits of POSIX processes"),
]
N_CASES = 30


@pytest.mark.parametrize("area", AREAS)
def test_strange_input_succeeds_or_is_refused_in_one_sentence(area):
    failed = []

    def report(result):
        if result.outcome == "failed":
            failed.append(f"{result.command}: {result.reason}")

    counts = run_cases(area, range(N_CASES), report=report)
    assert not failed
    assert counts.total() == N_CASES
    assert counts["succeeded"] > 0
    assert counts["refused"] > 0
