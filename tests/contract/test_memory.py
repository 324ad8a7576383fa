"""The plan's memory, against the peak of real processes."""

import sys

import pytest

from tests.contract.memory_host import run

pytestmark = [
    pytest.mark.large,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
HANDFUL = [
    "owner, 9,000 x 784",
    "owner, 40,000 x 20",
    "owner, mixed table, 10,000 x 20",
    "owner, parquet, 20,000 x 300",
    "owner, landmarks, npy, 100,000 x 100",
    "Gaussian, dense, 6,000 x 784",
    "isolation, dense, 6,000 x 784",
    "isolation, closed form, 8,000 x 784",
    "isolation, sampled, 7,000 x 784",
]


@pytest.mark.parametrize("name", HANDFUL)
def test_the_peak_is_at_most_the_plan_and_the_plan_at_most_half_as_much_again(name):
    found = run(name)
    assert found["peak"] <= found["planned"] <= 1.5 * found["peak"]
