"""The loops once more, with bounds checked and as plain Python."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SMALL_RUN = """
import sys
import warnings
import numpy as np
from scipy.sparse import csr_array
from isosne import (
    AdaptiveGaussianKernel, GaussianKernel, IsolationKernel, KNNKernel, nearest_neighbors
)

warnings.simplefilter("error")
np.seterr(over="ignore")  # plain Python reports that the product in count_ones wraps round
X = np.random.default_rng(0).normal(size=(24, 3))
grid = np.random.default_rng(1).integers(0, 3, (24, 2)).astype(np.float32)
A = X[:5] + 0.1
found = {}
for name, data in (("points", X), ("grid", grid), ("csr", csr_array(X))):
    for psi in (2, 7):
        for more in (
            {"n_partitions": 6},
            {"n_partitions": 6, "partition": "forest"},
            {"n_partitions": 6, "metric": "manhattan"},
            {"n_partitions": "exact"},
        ):
            kernel = IsolationKernel(psi, random_state=0, **more).fit(data)
            label = f"{name} {psi} {sorted(more.items())}"
            found[label] = kernel.similarity()
            found[label + " near"] = kernel.neighbor_similarity(nearest_neighbors(data, 9))
    found[name + " indices"], found[name + " distances"] = nearest_neighbors(data, 5)
    found[name + " knn"] = KNNKernel(3).fit(data).similarity()
kernel = IsolationKernel(5, n_partitions=6, random_state=0).fit(X)
walked = np.zeros((24, 6), np.uint8)
kernel.partitions_[0]._walk(X, np.arange(24), 3, walked)
found["walk"] = walked
found["many cells"] = IsolationKernel(24, n_partitions=4, random_state=0).fit(X).similarity(A, X)
found["gaussian"] = GaussianKernel([2, 8]).fit(X).rows().block(slice(3, 20))
found["gaussian new"] = GaussianKernel(5).fit(X).similarity(A)
found["adaptive"] = AdaptiveGaussianKernel(3).fit(X).similarity()
np.savez(sys.argv[1], **found)
"""


def small_run(folder, **settings):
    """Run the script with a cache of its own and return what it found."""
    (folder / "cache").mkdir()
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")} | settings
    target = folder / "found.npz"
    done = subprocess.run(
        [sys.executable, "-c", SMALL_RUN, str(target)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with np.load(target) as stored:
        return dict(stored)


@pytest.fixture(scope="module")
def as_usual(tmp_path_factory):
    return small_run(tmp_path_factory.mktemp("usual"))


def assert_close(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name].dtype == value.dtype, name
        # Compiled sums may fuse a product and a sum, so the last digit of float32 may differ.
        np.testing.assert_allclose(found[name], value, 1e-5, 1e-7, err_msg=name)


@pytest.mark.slow
def test_no_loop_leaves_its_arrays(as_usual, tmp_path):
    assert_close(small_run(tmp_path, NUMBA_BOUNDSCHECK="1"), as_usual)


@pytest.mark.slow
def test_loops_say_the_same_as_plain_python(as_usual, tmp_path):
    assert_close(small_run(tmp_path, NUMBA_DISABLE_JIT="1"), as_usual)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "chosen"),
    [
        ("test_counts.py", "both_loops or partners"),
        ("test_exact.py", "closed_form_is_the_expectation or by_hand or listed"),
        ("test_forest.py", "alone or copies or csr or box"),
        ("test_voronoi.py", "heavy_duplicates or smallest"),
    ],
)
def test_unit_tests_of_loops_pass_with_bounds_checked(folder, chosen, tmp_path):
    root = Path(__file__).parents[2]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_BOUNDSCHECK": "1"}
    tests = str(root / "tests" / "unit" / "kernels" / folder)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", chosen, tests],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
    )
    assert done.returncode == 0, done.stdout
