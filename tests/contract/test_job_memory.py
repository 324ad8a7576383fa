"""The memory of a job does not grow with the number of its rows."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.job_memory import FEW, MANY, N_PART

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the peak is in kilobytes on Linux only"),
]


def test_six_times_as_many_rows_take_the_same_memory():
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.job_memory"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    few, many = json.loads(done.stdout)
    n_more = (MANY - FEW) * N_PART
    # Less than 20 bytes per row: coordinates alone have 8. The tiles are more densely filled.
    assert many - few < 20 * n_more
