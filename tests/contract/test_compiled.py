"""The loops once more: with bounds checked, as plain Python, and as on other CPUs."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.contract import every_loop, kernel_bits

pytestmark = pytest.mark.compiled
ROOT = Path(__file__).parents[2]


def run(*arguments, **settings):
    """Run a module of Python in a process with other settings of Numba; return what it printed."""
    command = [sys.executable, "-m", *map(str, arguments)]
    environment = os.environ | settings
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def as_usual():
    return every_loop.found()


def assert_close(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name].dtype == value.dtype, name
        # Compiled sums may fuse a product and a sum, so the last digit of float32 may differ; the
        # forces of a map are differences of such sums.
        small = 2e-5 * np.abs(value).max() if name.startswith(("forces", "placed", "map")) else 1e-7
        np.testing.assert_allclose(found[name], value, 1e-5, small, err_msg=name)


def found_with(settings, folder):
    run("tests.contract.every_loop", folder / "found.npz", **settings)
    with np.load(folder / "found.npz") as stored:
        return dict(stored)


def test_no_loop_leaves_its_arrays(as_usual, tmp_path):
    # With a cache of its own, as the entries of a cache do not name this setting.
    settings = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert_close(found_with(settings, tmp_path), as_usual)


def test_loops_say_the_same_as_plain_python(as_usual, tmp_path):
    assert_close(found_with({"NUMBA_DISABLE_JIT": "1"}, tmp_path), as_usual)


OTHER_MACHINES = {
    "numpy": {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"},
    "blas": {"OPENBLAS_CORETYPE": "Prescott"},
    "libm": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-AVX2,-AVX512F"},
    "numba": {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""},
}
"""Settings under which each library computes as on an older CPU of the same kind."""


@pytest.mark.parametrize(
    "machine", OTHER_MACHINES if platform.machine() in ("x86_64", "AMD64") else ()
)
def test_kernels_and_affinities_have_the_same_bits_on_other_machines(machine):
    found = json.loads(run("tests.contract.kernel_bits", **OTHER_MACHINES[machine]))
    expected = kernel_bits.digests()
    assert {name for name in expected if found[name] != expected[name]} == set()
