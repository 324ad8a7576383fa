"""Call every compiled loop once on few points: `python -m tests.contract.every_loop [FILE]`.

`make warm` runs this to fill Numba's cache before parallel workers start. The tests of the loops
run it with bounds checked and as plain Python, and compare what it finds.
"""

import sys
import warnings

import numpy as np
from scipy.sparse import csr_array

from isosne import (
    TSNE,
    AdaptiveGaussianKernel,
    GaussianKernel,
    IsolationKernel,
    IsolationOutliers,
    KNNKernel,
    LeidenClustering,
    OwnerKernel,
    TableForest,
    nearest_neighbors,
)
from isosne.affinities.sampled import SampledAffinities
from isosne.affinities.sparse import sparse_affinities
from isosne.layout.all_pairs import ExactRepulsion
from isosne.layout.attraction import ARRANGE_FROM, DrawnAttraction, ListedAttraction, SplitForces
from isosne.layout.mesh import MeshRepulsion
from isosne.layout.placement import ListedPlacement, Placement
from isosne.layout.schedules import Phase, Schedule
from isosne.layout.tree import TreeRepulsion
from isosne.neighbors.approximate import ClusteredPoints
from isosne.neighbors.metric import Metric
from isosne.tables import gower_points

X = np.random.default_rng(0).normal(size=(24, 3))
# Two columns of numbers, one of categories, with gaps.
TABLE = np.column_stack([X[:, 0].round(1), np.arange(24) % 7, np.arange(24) % 4]).astype(object)
TABLE[::5, 0] = TABLE[1::6, 2] = None
GRID = np.random.default_rng(1).integers(0, 3, (24, 2)).astype(np.float32)
A = X[:5] + 0.1
FORMS = (
    {"n_partitions": 6},
    {"n_partitions": 6, "partition": "forest"},
    {"n_partitions": 6, "partition": "spheres"},
    {"n_partitions": 6, "metric": "manhattan"},
    {"n_partitions": "exact"},
)


def kernels():
    """Yield what step 1 computes, by name."""
    for name, data in (("points", X), ("grid", GRID), ("csr", csr_array(X))):
        neighbors = nearest_neighbors(data, 9)
        for psi in (2, 7):
            for form in FORMS:
                kernel = IsolationKernel(psi, random_state=0, **form).fit(data)
                label = f"{name} {psi} {sorted(form.items())}"
                yield label, kernel.similarity()
                yield f"{label} near", kernel.neighbor_similarity(neighbors)
        powers = (("chebyshev", 2), ("minkowski", 3), ("minkowski", 1.7))  # of dense points only
        for metric, p in (("manhattan", 2), *(powers if name != "csr" else ())):
            found = nearest_neighbors(data, 4, metric=metric, p=p)
            yield f"{name} {metric} {p} indices", found.indices
            yield f"{name} {metric} {p} distances", found.distances
        yield f"{name} indices", neighbors.indices
        yield f"{name} distances", neighbors.distances
        yield f"{name} knn", KNNKernel(3).fit(data).similarity()
        yield f"{name} owner", OwnerKernel(3).fit(data).similarity()
    kernel = IsolationKernel(5, n_partitions=6, random_state=0).fit(X)
    walked = np.zeros((24, 6), np.uint8)
    kernel.partitions_[0]._walk(X, np.arange(24), 3, walked)
    yield "walk", walked
    many = IsolationKernel(24, n_partitions=4, random_state=0).fit(X)
    yield "many cells", many.similarity(A, X)
    yield "gaussian", GaussianKernel([2, 8]).fit(X).rows().block(slice(3, 20))
    yield "gaussian new", GaussianKernel(5).fit(X).similarity(A)
    yield "adaptive", AdaptiveGaussianKernel(3).fit(X).similarity()
    for data in (X, csr_array(X)):
        whitened = nearest_neighbors(data, 4, metric="mahalanobis")
        yield f"mahalanobis {type(data).__name__}", whitened.distances
        unit = nearest_neighbors(data, 4, metric="cosine")
        yield f"cosine {type(data).__name__}", unit.distances
    graph = csr_array(np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)))
    yield "stored", nearest_neighbors(graph, 4, metric="precomputed").indices
    forest = TableForest(n_trees=5, categorical=[2], random_state=0).fit(TABLE)
    codes = forest.transform(TABLE)
    yield "table", codes
    coded = nearest_neighbors(codes, 4, metric="hamming")
    yield "hamming", coded.indices
    yield "hamming distances", coded.distances
    gower = gower_points(TABLE, [2])
    yield "gower", nearest_neighbors(gower, 4, metric="gower").distances
    search = ClusteredPoints(X, Metric())
    yield "clustered", search.neighbors(5).indices
    yield "clustered distances", search.neighbors(5).distances
    yield "clustered new", search.nearest(A, 4)[0]


def forces():
    """Yield what steps 2 and 3 compute from lists and draws, and new points on the map."""
    kernel = IsolationKernel([4, 9], n_partitions=6, random_state=0).fit(X)
    neighbors = nearest_neighbors(X, 9)
    joint, _ = sparse_affinities(kernel, neighbors, 6)
    yield "sparse indptr", joint.indptr
    yield "sparse indices", joint.indices
    yield "sparse data", joint.data
    source = SampledAffinities(kernel, n_draws=8, random_state=3)
    yield "drawn", source.draw(2).indices
    yield "weights", source.draw(2).weights
    yield "drawn toward", source.draw_toward(kernel.cells_at_scales(A)).indices
    yield "mean log p", np.array(source.mean_log_p(source.draw(2)))
    for d in (1, 2, 3):
        Y = np.ascontiguousarray(2 * X.T[:d], np.float32)
        for dof in (1.0, 3.0):
            for name, push in repulsions(d, dof):
                for pull in (ListedAttraction(joint, dof), DrawnAttraction(source, dof)):
                    split = SplitForces(pull, push, dof)
                    split.prepare(ARRANGE_FROM, Y)
                    label = f"forces {d} {dof} {type(pull).__name__} {name}"
                    yield f"{label} gradient", split.gradient(Y, 2.0)
                    yield f"{label} value", np.array(split.value(Y))
        if d < 3:
            mapped = np.ascontiguousarray(Y.T)
            weights = kernel.neighbor_similarity(neighbors)[0, :2] + np.float32(0.1)
            place = ListedPlacement(mapped, 1.0).place
            yield f"placed {d}", place(neighbors.indices[:2], weights)
            similarity = np.ascontiguousarray(kernel.similarity()[:2])
            yield f"placed among all {d}", Placement(mapped, 1.0).place(similarity)


def repulsions(d, dof):
    """Yield every kind of repulsion that a map of d dimensions may have."""
    yield "exact", ExactRepulsion(dof)
    yield "tree", TreeRepulsion(d, dof, 0.5)
    if d < 3:
        yield "mesh", MeshRepulsion(d, dof, 0.03)
        yield "near field", MeshRepulsion(d, dof, 0.03, cutoffs=(2.0,))


def maps():
    """Yield maps of a few steps by every route but that of all pairs."""
    few = Schedule((Phase(3, exaggeration=4, step=1.0),))
    for affinities in ("sparse", "sampled"):
        for push in ("exact", "mesh", "tree"):
            model = TSNE(
                IsolationKernel(5, n_partitions=6),
                affinities=affinities,
                forces=push,
                schedule=few,
                random_state=0,
                start=X[:, :2],
            )
            yield f"map {affinities} {push}", model.fit_transform(X)


def structure():
    """Yield clusters and outlier scores."""
    for resolution in (0.5, 3.0):
        clusters = LeidenClustering(resolution=resolution, n_runs=2, random_state=0).fit(X)
        yield f"clusters {resolution}", clusters.labels_
        yield f"modularity {resolution}", np.array(clusters.modularity_)
    for name, data in (("points", X), ("grid", GRID), ("csr", csr_array(X))):
        outliers = IsolationOutliers(5, n_partitions=6, random_state=0).fit(data)
        yield f"outliers {name}", outliers.score_samples(data)


def found():
    """Return every result by its name."""
    # Plain Python reports that the product in count_ones wraps round.
    with warnings.catch_warnings(), np.errstate(over="ignore"):
        warnings.simplefilter("error")
        return dict(kernels()) | dict(forces()) | dict(maps()) | dict(structure())


if __name__ == "__main__":
    results = found()
    if len(sys.argv) > 1:
        np.savez(sys.argv[1], **results)
