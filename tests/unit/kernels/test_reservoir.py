"""Samples that stay uniform while rows are added."""

import numpy as np
import pytest
from scipy.stats import chisquare

from isosne.kernels.reservoir import grow_samples


def draw(n, psi, n_samples, rng):
    return np.stack([np.sort(rng.choice(n, psi, replace=False)) for _ in range(n_samples)])


@pytest.mark.parametrize(("psi", "grown_psi"), [(4, 4), (4, 6), (4, 3)])
def test_every_pair_of_rows_is_sampled_equally_often(psi, grown_psi):
    rng = np.random.default_rng(0)
    samples = draw(8, psi, 4_000, rng)
    grown = grow_samples(samples, 8, 10, grown_psi, rng)
    counts = np.zeros((10, 10))
    for a in range(grown_psi):
        for b in range(a):
            np.add.at(counts, (grown[:, b], grown[:, a]), 1)
    assert chisquare(counts[np.triu_indices(10, 1)]).pvalue > 0.001


@pytest.mark.parametrize("grown_psi", [3, 4, 6, 9])
def test_samples_have_distinct_ascending_rows(grown_psi):
    rng = np.random.default_rng(1)
    grown = grow_samples(draw(8, 4, 50, rng), 8, 10, grown_psi, rng)
    assert grown.shape == (50, grown_psi)
    assert (np.diff(grown, axis=1) > 0).all()
    assert grown.min() >= 0
    assert grown.max() < 10


def test_as_much_of_a_sample_is_kept_as_the_new_one_allows():
    rng = np.random.default_rng(2)
    samples = draw(800, 100, 50, rng)
    grown = grow_samples(samples, 800, 880, 110, rng)
    kept = np.array([len(np.intersect1d(a, b)) for a, b in zip(samples, grown, strict=True)])
    n_old = (grown < 800).sum(axis=1)
    np.testing.assert_array_equal(kept, np.minimum(n_old, 100))
    assert n_old.mean() == pytest.approx(100, abs=2)


def test_the_same_seed_gives_the_same_samples():
    samples = draw(20, 5, 10, np.random.default_rng(3))
    a, b = (grow_samples(samples, 20, 30, 7, np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(a, b)
