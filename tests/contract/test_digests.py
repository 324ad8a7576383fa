"""The same bytes on every machine: maps, objectives and new points against recorded digests.

A change of `tests/data/digests.json` changes the maps of all users: the changelog says so. Record
with `python -m tests.contract.digests > tests/data/digests.json`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from tests.contract.digests import MAPS, differing, digests

ROOT = Path(__file__).parents[2]
RECORDED = json.loads((ROOT / "tests" / "data" / "digests.json").read_text())
HAS_AVX512 = llvm.get_host_cpu_features().get("avx512vl", False)
AVX512 = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"


def target(name):
    """Return the settings that compile for a CPU without the features of this one."""
    return {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ""}


OLD_LIBRARIES = {
    "OPENBLAS_CORETYPE": "Prescott",
    "NPY_DISABLE_CPU_FEATURES": f"{AVX512} AVX2 FMA3",
}
MACHINES = {
    "another BLAS, NumPy without AVX-512": {
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": AVX512,
    },
    "x86-64-v3, old BLAS, NumPy without AVX": target("x86-64-v3") | OLD_LIBRARIES,
    **({"skylake-avx512": target("skylake-avx512")} if HAS_AVX512 else {}),
}


@pytest.mark.parametrize("name", ["isolation", "gaussian", "three dimensions", "spectral start"])
def test_maps_are_those_of_every_machine(name):
    assert not differing({name: found for name, *found in digests([name])}, RECORDED)


@pytest.mark.compiled
@pytest.mark.parametrize("machine", MACHINES)
def test_maps_do_not_depend_on_the_machine(machine):
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.digests"],
        env=os.environ | MACHINES[machine],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.keys() == RECORDED.keys()
    assert not differing(found, RECORDED)
    assert len(RECORDED) > len(MAPS)
