"""Print digests of what steps 1 and 2 compute: `python -m tests.contract.kernel_bits`.

Numbers in float64 where there are any: a difference in their last bit rarely survives the rounding
of a similarity to float32, but it does with many points.
"""

import json
import warnings
from hashlib import sha256

import numpy as np
from scipy.sparse import csr_array

from isosne import (
    AdaptiveGaussianKernel,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    Landmarks,
    nearest_neighbors,
)
from isosne.affinities.dense import dense_affinities
from isosne.affinities.sampled import SampledAffinities
from isosne.affinities.sparse import sparse_affinities
from isosne.neighbors.metric import Metric
from isosne.rows import open_rows
from isosne.tsne.input import draw_landmarks

RNG = np.random.default_rng(0)
X = (RNG.random((250, 17)) + RNG.random((250, 17)) - 1) * np.linspace(0.5, 3, 17)
NEW = X[:20] * 1.01 + 0.01
MANY = RNG.random((1500, 9), dtype=np.float32)
METRICS = {
    "euclidean": {"metric": "euclidean"},
    "manhattan": {"metric": "manhattan"},
    "chebyshev": {"metric": "chebyshev"},
    "cosine": {"metric": "cosine"},
    "mahalanobis": {"metric": "mahalanobis"},
    "minkowski 3": {"metric": "minkowski", "p": 3},
    "minkowski 1.7": {"metric": "minkowski", "p": 1.7},
}


def kernels():
    """Yield what step 1 computes, for every metric and container."""
    for metric, chosen in METRICS.items():
        for container, points in (("f8", X), ("f4", X.astype(np.float32)), ("csr", csr_array(X))):
            if container == "csr" and metric.startswith(("chebyshev", "minkowski")):
                continue
            name = f"{metric} {container}"
            neighbors = nearest_neighbors(points, 30, **chosen)
            yield f"{name} neighbors", neighbors
            gaussian = GaussianKernel([5, 20], **chosen).fit(points)
            yield f"{name} bandwidths", [gaussian.bandwidths(), gaussian.bandwidths(NEW)]
            yield f"{name} squares", [gaussian._sq_distances(points, points)]
            yield f"{name} radii", [KNNKernel(7, **chosen).fit(points)._radii(NEW)]
            for kernel in (
                IsolationKernel([20, 60], n_partitions=30, random_state=0, **chosen),
                IsolationKernel([50, 90], n_partitions="exact", **chosen),
                gaussian,
                AdaptiveGaussianKernel(7, **chosen),
            ):
                kernel.fit(points)
                near = kernel.neighbor_similarity(neighbors)
                yield f"{name} {kernel}", [kernel.similarity(), near, kernel.similarity(NEW)]
    for partition in ("forest", "spheres"):
        kernel = IsolationKernel(20, n_partitions=30, partition=partition, random_state=0).fit(X)
        yield partition, [kernel.similarity(), kernel.similarity(NEW)]
    for metric in ("euclidean", "cosine", "mahalanobis"):
        found = nearest_neighbors(MANY, 15, metric=metric, method="approximate")
        yield f"approximate {metric}", found
    landmarks = Landmarks(300, "spread")
    *_, ids = draw_landmarks(open_rows(MANY), landmarks, Metric(), np.random.default_rng(0))
    yield "landmarks", [ids]


def affinities():
    """Yield what step 2 computes, in every form."""
    drawn = IsolationKernel([20, 60], n_partitions=30, random_state=0).fit(X)
    neighbors = nearest_neighbors(X, 60)
    for kernel in (drawn, GaussianKernel(15).fit(X), AdaptiveGaussianKernel(7).fit(X)):
        yield f"dense {kernel}", dense_affinities(kernel)[0]
        yield f"sparse {kernel}", sparse_affinities(kernel, neighbors, 40)[0][:3]
    source = SampledAffinities(drawn)
    partners = source.draw(3)
    yield "sampled", [*partners, np.array(source.mean_log_p(partners))]
    yield "sampled new", [*source.draw_toward(drawn.cells_at_scales(NEW))]


def digests():
    """Return a digest of each result, by its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = dict(kernels()) | dict(affinities())
    return {name: _digest(arrays) for name, arrays in results.items()}


def _digest(arrays):
    digest = sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    print(json.dumps(digests()))  # noqa: T201
