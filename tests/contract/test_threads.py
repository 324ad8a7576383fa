"""The same bytes whatever the number of threads, and inputs that stay as they were."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from isosne import (
    JSE,
    TSNE,
    AdaptiveGaussianKernel,
    GaussianKernel,
    IsolationKernel,
    IsolationOutliers,
    KNNKernel,
    LeidenClustering,
    Mesh,
    NeRV,
    Sparse,
    nearest_neighbors,
)
from isosne.kernels.monte_carlo import VoronoiPartitions
from isosne.layout.schedules import Phase, Schedule
from isosne.structure import null_test


def many_points(dtype=np.float32):
    """Enough rows for several blocks of each loop."""
    return np.random.default_rng(0).normal(size=(700, 6)).astype(dtype)


def cells_by(way):
    def find(X):
        kernel = IsolationKernel(24, n_partitions=30, random_state=0).fit(X)
        partitions = kernel.partitions_[0]
        assert isinstance(partitions, VoronoiPartitions)
        cells = np.empty((X.shape[0], 30), np.uint8)
        if way == "scan":
            partitions._scan(X, cells)
        else:
            partitions._walk(X, np.arange(X.shape[0]), 60, cells)
        return cells

    return find


def isolation(psi=24, **more):
    return IsolationKernel(psi, random_state=0, **more)


WORK = {
    "cells by scan": cells_by("scan"),
    "cells by walk": cells_by("walk"),
    "cells of a forest": lambda X: isolation(partition="forest").fit(X).cells(),
    "cells of spheres": lambda X: isolation(partition="spheres").fit(X).cells(),
    "cells by manhattan": lambda X: isolation(metric="manhattan", n_partitions=20).fit(X).cells(),
    "cells of csr": lambda X: isolation(n_partitions=20).fit(csr_array(X)).cells(),
    "similarity": lambda X: isolation(n_partitions=50).fit(X).similarity(),
    "sparse similarity": lambda X: isolation(200, n_partitions=50).fit(X).similarity(),
    "exact similarity": lambda X: isolation(200, n_partitions="exact").fit(X).similarity(),
    "exact rows": lambda X: (
        isolation([200], n_partitions="exact").fit(X).rows().block(slice(9, 99))
    ),
    "exact similarity of neighbors": lambda X: (
        isolation(100, n_partitions="exact").fit(X).neighbor_similarity(nearest_neighbors(X, 60))
    ),
    "gaussian rows": lambda X: GaussianKernel([5, 30]).fit(X).rows().block(slice(0, 700)),
    "gaussian similarity": lambda X: GaussianKernel(30).fit(X).similarity(),
    "adaptive similarity": lambda X: AdaptiveGaussianKernel(7).fit(X).similarity(),
    "knn similarity": lambda X: KNNKernel(7).fit(X).similarity(),
    "neighbors": lambda X: np.hstack(nearest_neighbors(X, 20)),
    "approximate neighbors": lambda X: np.hstack(nearest_neighbors(X, 9, method="approximate")),
    "cosine neighbors": lambda X: np.hstack(nearest_neighbors(X, 20, metric="cosine")),
    "clusters": lambda X: LeidenClustering(random_state=0).fit_predict(X),
    "outlier scores": lambda X: IsolationOutliers(random_state=0).fit(X).score_samples(X),
    "p-values of points": lambda X: null_test(X[:150], n_draws=2).point_p_values,
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_bytes_do_not_depend_on_the_number_of_threads_or_the_run(work, threads):
    X = many_points()
    one = threads(1, lambda: work(X))
    two = threads(2, lambda: work(X))
    again = threads(2, lambda: work(X))
    assert one.tobytes() == two.tobytes()
    assert two.tobytes() == again.tobytes()
    assert np.unique(one).size > 1


BROAD, NARROW = IsolationKernel(60), IsolationKernel(0.1, n_partitions="exact")
ROUTES = {
    "dense": (BROAD, {"affinities": "dense"}),
    "dense, nerv": ("knn", {"objective": NeRV(0.8)}),
    "dense, jse": (IsolationKernel(60, partition="forest"), {"objective": JSE(0.4)}),
    "sparse, exact": (NARROW, {"affinities": "sparse", "forces": "exact"}),
    "sparse, mesh": (NARROW, {"affinities": "sparse", "forces": "mesh"}),
    "sparse, tree": (NARROW, {"affinities": "sparse", "forces": "tree"}),
    "sampled, exact": (BROAD, {"affinities": "sampled", "forces": "exact"}),
    "sampled, mesh": (BROAD, {"affinities": "sampled", "forces": "mesh"}),
    "sampled, tree": (BROAD, {"affinities": "sampled", "forces": "tree"}),
    "approximate": ("gaussian", {"affinities": Sparse(neighbors="approximate")}),
    "one dimension": (NARROW, {"affinities": "sparse", "forces": "mesh", "n_components": 1}),
    "three dimensions": (
        NARROW,
        {"affinities": "sparse", "forces": Mesh(accuracy=0.2), "n_components": 3},
    ),
}


def bytes_of_a_map(kernel, settings, X, n_iter, n_jobs):
    """Map X in few steps; return the bytes of the map, of the trace, and of further places."""
    # Points change their order in memory after 50 steps; a wide start has forces of every size.
    schedule = Schedule((Phase(n_iter, exaggeration=4, momentum=0.5), Phase(3)))
    settings = settings | {"start": 3 * X[:, : settings.get("n_components", 2)]}
    model = TSNE(kernel, schedule=schedule, random_state=0, n_jobs=n_jobs, **settings).fit(X)
    parts = model.embedding_, model.trace_, model.transform(X[:300] + 0.01)
    return [part.tobytes() for part in parts]


@pytest.mark.parametrize(
    "route",
    [pytest.param(r, marks=pytest.mark.slow if r == "three dimensions" else ()) for r in ROUTES],
)
def test_maps_do_not_depend_on_the_number_of_threads(route):
    # Enough pairs for a second thread, which a descent uses from a thousand points on.
    X = np.random.default_rng(0).normal(size=(1200, 6)).astype(np.float32)
    one, two = (bytes_of_a_map(*ROUTES[route], X, 55, n_jobs) for n_jobs in (1, 2))
    assert one == two


@pytest.mark.large
@pytest.mark.parametrize("route", ROUTES)
def test_large_maps_do_not_depend_on_the_number_of_threads(route):
    # Three chunks of charges on the mesh and three blocks of drawn partners, of 4096 points each.
    X = np.random.default_rng(0).normal(size=(9000, 6)).astype(np.float32)
    n_iter = 55 if route == "sparse, mesh" else 10  # small maps have changed their order in memory
    one, two = (bytes_of_a_map(*ROUTES[route], X, n_iter, n_jobs) for n_jobs in (1, 2))
    assert one == two


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cells_and_neighbors_do_not_depend_on_how_many_points_are_asked_for(dtype):
    X = many_points(dtype)
    kernel = isolation(n_partitions=40).fit(X)
    cells = kernel.cells(X)
    for rows in (slice(0, 1), slice(100, 103), slice(250, 600)):
        np.testing.assert_array_equal(kernel.cells(X[rows]), cells[rows])


def unsorted_csr():
    """Rows whose indices are not in order, with an entry stored twice."""
    X = csr_array(
        (np.array([3.0, 1.0, 2.0, 1.0, 5.0, 4.0, 1.0]), [2, 0, 1, 1, 2, 0, 1], [0, 2, 4, 6, 7]),
        shape=(4, 3),
    )
    assert not X.has_canonical_format
    return X


def read_only():
    X = np.abs(np.random.default_rng(1).normal(size=(12, 3))) + 1
    X.flags.writeable = False
    return X


def read_only_csr():
    X = csr_array(np.array(read_only()))
    for part in (X.data, X.indices, X.indptr):
        part.flags.writeable = False
    return X


INPUTS = {
    "float64": lambda: np.array(read_only()),
    "float32": lambda: read_only().astype(np.float32),
    "uint8": lambda: (10 * read_only()).astype(np.uint8),
    "columns first": lambda: np.asfortranarray(read_only()),
    "every other row": lambda: np.repeat(read_only(), 2, axis=0)[::2],
    "read-only": read_only,
    "read-only csr": read_only_csr,
    "unsorted csr": unsorted_csr,
    "pandas": lambda: pd.DataFrame(np.array(read_only()), columns=list("abc")),
    "polars": lambda: pl.DataFrame(np.array(read_only()), schema=list("abc")),
}


def content(X):
    if isinstance(X, csr_array):
        return [part.copy() for part in (X.data, X.indices, X.indptr)]
    return [np.array(X)]


ESTIMATORS = {
    "voronoi": IsolationKernel(2, n_partitions=10, random_state=0),
    "manhattan": IsolationKernel(2, n_partitions=10, metric="manhattan", random_state=0),
    "cosine": IsolationKernel(2, n_partitions=10, metric="cosine", random_state=0),
    "forest": IsolationKernel(2, n_partitions=10, partition="forest", random_state=0),
    "exact": IsolationKernel(2, n_partitions="exact"),
    "gaussian": GaussianKernel(2),
    "adaptive": AdaptiveGaussianKernel(2),
    "knn": KNNKernel(2),
}


@pytest.mark.parametrize("kernel", ESTIMATORS.values(), ids=ESTIMATORS)
@pytest.mark.parametrize("make", INPUTS.values(), ids=INPUTS)
def test_inputs_stay_as_they_were(make, kernel):
    X = make()
    before = content(X)
    kernel.fit(X)
    kernel.similarity()
    K = kernel.similarity(X)
    kernel.rows().block(slice(0, 2))
    nearest_neighbors(X, 2)
    for part, old in zip(content(X), before, strict=True):
        np.testing.assert_array_equal(part, old)
        assert part.dtype == old.dtype
    dense = X.toarray() if isinstance(X, csr_array) else np.array(X)
    # Whatever the container, the result is that of the plain float64 array.
    expected = kernel.fit(dense.astype(np.float64)).similarity(dense.astype(np.float64))
    np.testing.assert_allclose(K, expected, 1e-4, 1e-5)


def test_precomputed_distances_stay_as_they_were():
    D = np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0)))
    D.flags.writeable = False
    before = D.copy()
    for name in ("voronoi", "exact", "gaussian", "adaptive", "knn"):
        kernel = ESTIMATORS[name].__class__(2, metric="precomputed").fit(D)
        kernel.similarity()
        kernel.similarity(D[:3])
    np.testing.assert_array_equal(D, before)
