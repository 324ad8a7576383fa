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
    TSNE, AdaptiveGaussianKernel, GaussianKernel, IsolationKernel, KNNKernel, nearest_neighbors
)
from isosne.affinities.sampled import SampledAffinities
from isosne.affinities.sparse import sparse_affinities
from isosne.neighbors.clustered import ClusteredPoints
from isosne.neighbors.distances import Metric
from isosne.layout.attraction import DrawnAttraction, ListedAttraction
from isosne.layout.exact import ExactRepulsion
from isosne.layout.mesh import MeshRepulsion
from isosne.layout.placement import ListedPlacement, Placement
from isosne.layout.schedules import Phase, Schedule
from isosne.layout.forces import ARRANGE_FROM, SplitForces
from isosne.layout.tree import TreeRepulsion

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

# Step 2 from lists and draws, step 3 with every way to push, and further points on the map.
kernel = IsolationKernel([4, 9], n_partitions=6, random_state=0).fit(X)
neighbors = nearest_neighbors(X, 9)
joint, _ = sparse_affinities(kernel, neighbors, 6)
found["sparse indptr"], found["sparse indices"], found["sparse data"] = joint
source = SampledAffinities(kernel, n_draws=8, random_state=3)
found["drawn"], found["weights"] = source.draw(2)
found["drawn toward"] = source.draw_toward(kernel.cells_at_scales(A))
found["mean log p"] = np.array(source.mean_log_p(source.draw(2)))
clustered = ClusteredPoints(X, Metric())
found["clustered"], found["clustered distances"] = clustered.neighbors(5)
found["clustered new"], _ = clustered.nearest(A, 4)
for d in (1, 2, 3):
    Y = np.ascontiguousarray(2 * X.T[:d], np.float32)
    for dof in (1.0, 3.0):
        pushes = {"exact": ExactRepulsion(dof), "tree": TreeRepulsion(d, dof, 0.5)}
        if d < 3:
            pushes["mesh"] = MeshRepulsion(d, dof, 0.03)
            pushes["fine mesh"] = MeshRepulsion(d, dof, 0.01)
        for pairs in ("kept", "drawn"):
            for name, push in pushes.items():
                pull = ListedAttraction(joint, dof) if pairs == "kept" else DrawnAttraction(
                    source, dof
                )
                forces = SplitForces(pull, push, dof)
                forces.prepare(ARRANGE_FROM, Y)
                label = f"forces {d} {dof} {pairs} {name} "
                found[label + "gradient"] = forces.gradient(Y, 2.0)
                found[label + "value"] = np.array(forces.value(Y))
    if d < 3:
        mapped = np.ascontiguousarray(Y.T)
        weights = kernel.neighbor_similarity(neighbors)[0, :2]
        place = ListedPlacement(mapped, 1.0)
        found[f"placed {d}"] = place.place(neighbors.indices[:2], weights + np.float32(0.1))
        similarity = np.ascontiguousarray(kernel.similarity()[:2])
        found[f"placed among all {d}"] = Placement(mapped, 1.0).place(similarity)
few = Schedule((Phase(3, exaggeration=4, step=1.0),))
for affinities in ("sparse", "sampled"):
    for push in ("exact", "mesh", "tree"):
        model = TSNE(
            IsolationKernel(5, n_partitions=6), affinities=affinities, forces=push,
            schedule=few, random_state=0, start=X[:, :2],
        ).fit(X)
        found[f"map {affinities} {push}"] = model.embedding_
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
        # Compiled sums may fuse a product and a sum, so the last digit of float32 may differ; the
        # forces of a map are differences of such sums.
        small = 2e-5 * np.abs(value).max() if name.startswith(("forces", "placed", "map")) else 1e-7
        np.testing.assert_allclose(found[name], value, 1e-5, small, err_msg=name)


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
