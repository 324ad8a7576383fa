"""Print digests of maps that every machine must reproduce: `python -m tests.contract.digests`.

With `--compare`, compare them with the recorded ones, and name those that differ.
Data are made from integers by a generator of our own, so that they depend on no library.
"""

import hashlib
import json
import platform
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from isosne import (
    JSE,
    KL,
    TSNE,
    AdaptiveGaussianKernel,
    Alignment,
    GaussianKernel,
    GroupFeatures,
    IsolationKernel,
    IsolationOutliers,
    KNNKernel,
    Landmarks,
    LeidenClustering,
    Mesh,
    NeRV,
    OwnerKernel,
    Phase,
    Schedule,
    Sparse,
    TableForest,
    Tree,
    ViewsKernel,
)


def points(n, d, n_groups=5):
    """Return points (n, d) in groups, from a linear congruential generator."""
    state, numbers = 12345, []
    for _ in range(n * d + n_groups * d):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        numbers.append((state >> 40) / 2**24)
    centers = np.array(numbers[: n_groups * d]).reshape(n_groups, d)
    noise = np.array(numbers[n_groups * d :]).reshape(n, d)
    return 8 * centers[np.arange(n) % n_groups] + noise


FEW = Schedule((Phase(40, exaggeration=4.0, momentum=0.5), Phase(60, momentum=0.8)))
SMALL, LARGE = (300, 8), (3500, 5)
MAPS = {
    "isolation": (SMALL, {"kernel": "isolation"}),
    "isolation of the paper": (SMALL, {"kernel": IsolationKernel(16, n_partitions=100)}),
    "isolation forest": (SMALL, {"kernel": IsolationKernel(16, partition="forest")}),
    "isolation spheres": (SMALL, {"kernel": IsolationKernel(16, partition="spheres")}),
    "isolation exact": (SMALL, {"kernel": IsolationKernel(16, n_partitions="exact")}),
    "gaussian": (SMALL, {"kernel": GaussianKernel(30)}),
    "gaussian at two perplexities, cosine": (
        SMALL,
        {"kernel": GaussianKernel((10, 50), metric="cosine")},
    ),
    "adaptive gaussian": (SMALL, {"kernel": AdaptiveGaussianKernel()}),
    "knn": (SMALL, {"kernel": KNNKernel(10)}),
    "owner, few points": (SMALL, {"schedule": "annealed"}),
    "owner, near field": (LARGE, {"schedule": "annealed"}),
    "owner, tree in three dimensions": (LARGE, {"n_components": 3}),
    "owner, all pairs": (SMALL, {"kernel": OwnerKernel((4, 0.1)), "affinities": "dense"}),
    "owner, far partners": (LARGE, {"kernel": OwnerKernel((3, 0.1))}),
    "one dimension": (SMALL, {"n_components": 1}),
    "three dimensions": (SMALL, {"n_components": 3, "objective": KL(dof=3)}),
    "nerv": (SMALL, {"objective": NeRV(0.3)}),
    "jse, gaussian map": (SMALL, {"objective": JSE(0.5, dof=np.inf)}),
    "spectral start": (SMALL, {"start": "spectral"}),
    "minkowski": (SMALL, {"kernel": IsolationKernel(16, metric="minkowski", p=3)}),
    "sparse, mesh": (LARGE, {"affinities": "sparse", "forces": Mesh()}),
    "sparse, mesh in three dimensions": (
        LARGE,
        {"affinities": Sparse("exact"), "forces": Mesh(0.05), "n_components": 3},
    ),
    "sparse, tree": (LARGE, {"affinities": "sparse", "forces": Tree(), "kernel": "gaussian"}),
    "sparse, spectral start": (LARGE, {"affinities": Sparse("approximate"), "start": "spectral"}),
    "sampled": (LARGE, {"affinities": "sampled", "kernel": IsolationKernel(16)}),
    "landmarks": (LARGE, {"landmarks": Landmarks(500)}),
    "landmarks, spread": (LARGE, {"landmarks": Landmarks(400, "spread")}),
    "aligned": (SMALL, {"align_to": 4 * points(300, 2), "affinities": "dense"}),
    "aligned, mesh, new rows": (
        LARGE,
        {
            "align_to": Alignment(
                6 * points(2500, 2), ids=range(3500), previous_ids=range(500, 3000)
            ),
            "affinities": "sparse",
            "forces": Mesh(),
        },
    ),
}


def mixed_table(n):
    """Return a table as an object array: numbers, categories and missing values."""
    X = points(n, 6)
    table = X.astype(object)
    table[:, 1] = [f"c{int(value)}" for value in X[:, 1]]
    table[:, 2] = [f"2024-01-{1 + int(value):02}" for value in X[:, 2]]
    table[points(n, 6, 7) % 1 < 0.1] = None
    return table


def digest(*arrays):
    """Return the first digits of a SHA-256 of the bytes of arrays."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def summary(model, new=None):
    """Return digests of a map, its objective and new points; "" where machines may differ.

    On arm64, SciPy fuses operations (docs/decisions/0010). Maps of a mesh need its Fourier
    transforms, and so do new points that are compared with their neighbors; a spectral start
    differs as well.
    """
    plan, is_fused = model.plan_, platform.machine().lower() in ("arm64", "aarch64")
    on_mesh = is_fused and (plan.forces == "mesh" or plan.start == "spectral")
    placed_on_mesh = is_fused and (on_mesh or plan.affinities != "dense")
    return (
        "" if on_mesh else digest(model.embedding_),
        "" if on_mesh else digest(np.float64(model.kl_divergence_)),
        "" if placed_on_mesh or new is None else digest(model.transform(new)),
    )


def differing(found, recorded):
    """Return the names of digests that are not the recorded ones."""
    return [
        name
        for name, parts in found.items()
        if any(part not in ("", known) for part, known in zip(parts, recorded[name], strict=True))
    ]


def digests(names=None):
    """Yield names and digests of maps, objectives and coordinates of new points."""
    for name in names or MAPS:
        size, parameters = MAPS[name]
        X = points(*size)
        model = TSNE(**{"schedule": FEW, "random_state": 0, **parameters})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = summary(model.fit(X), X[:40] + 0.01)
        yield name, *found
    if not names:
        X = csr_array(np.where(points(*SMALL) > 4, points(*SMALL), 0))
        model = TSNE(schedule=FEW, random_state=0).fit(X)
        yield "csr", *summary(model)
        X = points(*SMALL)
        model = TSNE(schedule=FEW, random_state=0).fit(X[:250]).extend(X[250:], n_iter=60)
        yield "extended", *summary(model)
        for shape in (SMALL, LARGE):
            Z, weights = points(*shape), 0.5 + np.arange(shape[0]) % 7
            model = TSNE(schedule=FEW, random_state=0).fit(Z, sample_weight=weights)
            yield f"{shape[0]} weights", *summary(model, Z[:40] + 0.01)
        clusters = LeidenClustering(resolution=2, random_state=0).fit(points(*LARGE))
        outliers = IsolationOutliers(random_state=0).fit(points(*LARGE))
        scores = outliers.score_samples(points(*LARGE))
        yield "clusters and outliers", digest(clusters.labels_), digest(scores), ""
        table = TableForest(random_state=0).fit(mixed_table(300))
        codes = table.transform(mixed_table(300))
        model = TSNE(OwnerKernel(metric="hamming"), schedule=FEW, random_state=0).fit(codes)
        yield "mixed table", *summary(model, table.transform(mixed_table(340)[300:]))
        X = points(*SMALL)
        model = TSNE(OwnerKernel(label_weight=0.3), schedule=FEW, random_state=0)
        labels = np.arange(300) % 10 - 1  # a tenth of the rows has none
        yield "labels", *summary(model.fit(X, labels), X[:40] + 0.01)
        A, B = X[:, :5].copy(), 100 * X[:, 5:]
        A[:30] = np.nan  # rows that lack the first view
        kernel = ViewsKernel([OwnerKernel(), OwnerKernel(metric="cosine")], weights=[2, 1])
        model = TSNE(kernel, schedule=FEW, random_state=0).fit([A, B])
        yield "views", *summary(model, [A[10:50] + 0.01, B[10:50] + 0.01])
        groups = points(*LARGE).reshape(175, 20, 5)
        features = GroupFeatures(random_state=0).fit(groups[:150])
        model = TSNE(schedule=FEW, random_state=0).fit(features.transform(groups[:150]))
        yield "groups", *summary(model, features.transform(groups[150:]))


def compare():
    """Stop if a digest is not the recorded one."""
    recorded = json.loads((Path(__file__).parents[1] / "data" / "digests.json").read_text())
    differ = differing({name: rest for name, *rest in digests()}, recorded)
    sys.exit(f"These maps have other bytes here: {', '.join(differ)}" if differ else 0)


if __name__ == "__main__":
    if sys.argv[1:] == ["--compare"]:
        compare()
    json.dump({name: rest for name, *rest in digests(sys.argv[1:])}, sys.stdout, indent=1)
