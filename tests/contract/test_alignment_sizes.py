"""A map that is aligned to itself stays as good as it was, at every size."""

import pytest
from sklearn.datasets import make_blobs

from isosne import TSNE
from isosne.quality import compare


@pytest.mark.large
@pytest.mark.parametrize("n", [2_000, 5_000, 20_000])
def test_a_map_aligned_to_itself_keeps_its_neighborhoods(n):
    X, _ = make_blobs(n, 20, centers=30, cluster_std=3, random_state=0)
    Y = TSNE(random_state=0).fit_transform(X)
    aligned = TSNE(random_state=1, align_to=Y).fit(X)
    before, after = (
        float(compare(X, found, n_queries=1000, random_state=0).auc())
        for found in (Y, aligned.embedding_)
    )
    # measured on real data: 0.1 to 0.4 % better (docs/decisions/0020)
    assert after > 0.99 * before
    assert aligned.displacement_.mean() < 0.1
