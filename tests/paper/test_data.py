"""Step 1 on data sets of the paper (set ISOSNE_DATA to the folder that holds them)."""

import tracemalloc

import numpy as np
import pytest

from isosne import IsolationKernel, nearest_neighbors

pytestmark = pytest.mark.paper


@pytest.mark.parametrize(
    "more", [{"metric": "cosine"}, {"partition": "forest"}], ids=["cosine", "forest"]
)
def test_news_of_more_than_a_million_attributes_is_never_densified(data_set, more):
    X, y = data_set("news20")
    assert X.shape[0] == 9998
    assert X.shape[1] > 1_000_000
    kernel = IsolationKernel(16, n_partitions=20, random_state=0, **more)
    tracemalloc.start()
    try:
        kernel.fit(X)
        cells = kernel.cells()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # A dense copy would take 100 GB; the CSR itself has some 60 MB.
    assert peak < 1.5e9
    assert cells.shape == (9998, 20)
    assert cells.dtype == np.uint8
    assert cells.max() <= 15
    # A sampled point lies in its own cell (Voronoi), or in a leaf that no other one shares.
    for p, sample in enumerate(kernel.partitions_[0].samples):
        assert len(set(cells[sample, p])) == 16
    # Each class is nearer to itself than to the other.
    shares = kernel.similarity(X[:400], X[400:1200])
    assert np.all((shares >= 0) & (shares <= 1))
    if "metric" in more:
        same = y[:400, None] == y[None, 400:1200]
        assert shares[same].mean() > shares[~same].mean()


def test_the_exact_kernel_of_wine_is_the_limit_of_many_partitionings(data_set):
    X, y = data_set("wine")
    assert X.shape == (178, 13)
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    exact = IsolationKernel(20, n_partitions="exact").fit(X).similarity()
    t = 10_000
    drawn = IsolationKernel(20, n_partitions=t, random_state=0).fit(X).similarity()
    # Five standard errors of a mean of t draws, and a little for chances near zero.
    bound = 5 * np.sqrt(exact * (1 - exact) / t) + 5 / t + 5e-6
    assert np.all(np.abs(drawn - exact) <= bound)
    same = y[:, None] == y
    assert exact[same].mean() > 2 * exact[~same].mean()


def test_handwritten_digits_are_most_similar_to_their_own_class(data_set):
    X, y = data_set("usps")
    chosen = np.random.default_rng(0).choice(len(X), 1500, replace=False)
    X, y = X[chosen], y[chosen]
    kernel = IsolationKernel(100, n_partitions=200, random_state=0).fit(X)
    neighbors = nearest_neighbors(X, 30)
    K = kernel.neighbor_similarity(neighbors)[0]
    of_same_class = y[neighbors.indices] == y[:, None]
    # Weighted by similarity, neighbors agree more often than counted alike.
    weighted = (K * of_same_class).sum() / K.sum()
    assert weighted > of_same_class.mean() + 0.05
