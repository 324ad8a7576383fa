"""The exact isolation kernel: all pairs, and the pairs of neighbor lists."""

import numpy as np
from sklearn.decomposition import PCA

from benchmarks.harness import in_fresh_process, load, table, timed
from isosne import IsolationKernel, nearest_neighbors
from isosne.kernels.closed_form import listed_pairs
from isosne.neighbors.exact import with_self


def all_pairs_job(n: int, psi: int) -> list[float]:
    """Time the similarity of all pairs, warm."""
    X = np.random.default_rng(0).normal(size=(n, 20))
    kernel = IsolationKernel(psi, n_partitions="exact")
    kernel.fit(X[: psi + 10]).similarity()
    seconds, mb, _ = timed(lambda: kernel.fit(X).similarity())
    return [seconds, mb]


def principal_components(n: int) -> tuple[np.ndarray, str]:
    """Return 50 principal components of MNIST."""
    X, source = load("mnist70k", (70_000, 784))
    return PCA(50, random_state=0).fit_transform(X[:n].astype(np.float32)), source


def neighbor_pairs_job(n: int, n_listed: int, k: int) -> list[float]:
    """Time the neighbors, then the similarity of neighbor pairs, warm."""
    X, _ = principal_components(n)
    small = nearest_neighbors(X[:1000], n_listed - 1)
    near = with_self(small)
    listed_pairs(near, small.indices[:, :k], near, (66,))
    seconds_before, _, neighbors = timed(lambda: nearest_neighbors(X, n_listed - 1))
    lists, partners = with_self(neighbors), np.ascontiguousarray(neighbors.indices[:, :k])
    seconds, mb, _ = timed(lambda: listed_pairs(lists, partners, lists, (n // 15,)))
    return [seconds_before, seconds, mb]


def run(quick: bool) -> str:
    """Return the table."""
    rows = []
    for n, psi in [(2000, 200), (2000, 20)] if quick else [(2000, 200), (2000, 20), (10_000, 1000)]:
        seconds, mb = in_fresh_process(all_pairs_job, n, psi)
        rows.append([f"all pairs, n {n}, psi {psi}", "", seconds, mb])
    n = 10_000 if quick else 70_000
    before, seconds, mb = in_fresh_process(neighbor_pairs_job, n, 150, 90)
    rows.append([f"neighbor pairs, {n} x 50, L 150, 90 a point", before, seconds, mb])
    header = ["exact kernel", "neighbors, s", "kernel, s", "peak MB"]
    return f"### Exact isolation kernel\n\n{table(header, rows)}"
