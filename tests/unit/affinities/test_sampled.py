"""Step 2 by drawing: partners follow p_{j|i}, weights stand for p_ij."""

import numpy as np
import pytest
from scipy import stats

from isosne import IsolationKernel
from isosne.affinities.dense import conditional_rows, dense_affinities
from isosne.affinities.sampled import PLACE_DRAWS, SampledAffinities
from tests.reference import affinities as reference

N = 24
N_NUMBERS = 400
"""How often partners are drawn: 12 800 draws for each point."""


def few_points():
    return np.random.default_rng(0).normal(size=(N, 3))


def copies():
    """Six points, four times each: copies share all their cells."""
    return np.repeat(few_points()[:6], 4, axis=0)


CASES = {
    "one scale": (few_points, IsolationKernel(5)),
    "two scales": (few_points, IsolationKernel([3, 12])),
    "many cells": (few_points, IsolationKernel(20)),
    "alone at one scale": (few_points, IsolationKernel([N - 1, 5])),
    "copies": (copies, IsolationKernel(4)),
    "spheres": (few_points, IsolationKernel([3, 8], partition="spheres")),
}


@pytest.fixture(params=CASES, scope="module")
def case(request):
    """A source of partners, its dense probabilities, and four hundred sets of partners."""
    data, kernel = CASES[request.param]
    kernel.set_params(n_partitions=30, random_state=1).fit(data())
    source = SampledAffinities(kernel, random_state=2)
    drawn = [source.draw(number) for number in range(N_NUMBERS)]
    layers = kernel.rows().block(slice(0, N)).astype(float)
    return kernel, source, drawn, layers


def conditional(layers):
    """Return p_{j|i} from similarity layers: the mean over those in which a point is not alone."""
    layers = layers * (1 - np.eye(N))
    sums = layers.sum(axis=2, keepdims=True)
    return (layers / np.where(sums > 0, sums, 1)).sum(axis=0) / (sums > 0).sum(axis=0)


def chi_square(counts, probabilities):
    """Return the chance of counts at least as far from the probabilities as these."""
    impossible = probabilities == 0
    assert not counts[impossible].any()
    expected = probabilities * counts.sum() / probabilities.sum()
    rare = expected < 5  # taken together: the test wants at least five in each
    observed = np.r_[counts[~rare], counts[rare].sum()]
    expected = np.r_[expected[~rare], expected[rare].sum()]
    some = expected > 0
    distance = ((observed - expected)[some] ** 2 / expected[some]).sum()
    return stats.chi2.sf(distance, some.sum() - 1) if some.sum() > 1 else 1.0


# A false alarm in one of some fifty tests of a fixed seed, at 1e-3 / 50 each.
ALPHA = 2e-5


def test_partners_follow_the_conditional_probabilities(case):
    _, source, drawn, layers = case
    p = conditional(layers)
    assert source.n_points == N
    share = ((layers * (1 - np.eye(N))).sum(axis=2) > 0).mean(axis=0)  # scales with partners
    for i in range(0, N, 5):
        found = [d.indices[i, d.weights[i] > 0] for d in drawn]
        counts = np.bincount(np.concatenate(found), minlength=N)
        assert counts.sum() == N_NUMBERS * source.n_draws * share[i]
        # Draws are spread evenly over partitionings, so counts vary a little less than at random.
        assert chi_square(counts, p[i]) > ALPHA


def test_weights_stand_for_the_joint_probabilities(case):
    _, _, drawn, layers = case
    sums = np.zeros((N_NUMBERS, N, N))
    for total, (indices, weights) in zip(sums, drawn, strict=True):
        np.add.at(total, (np.arange(N)[:, None], indices), weights)
    expected = reference.joint(layers)
    error = sums.mean(axis=0) - expected
    # A share of 1e-5 of P is float32 rounding; the rest is chance.
    spread = sums.std(axis=0) / np.sqrt(N_NUMBERS) + 1e-5 * expected.max()
    z = error / spread
    assert np.abs(z).max() < 5  # of 576 z-scores one above 4.5 is rare
    assert np.sqrt((z**2).mean()) < 1.15  # and they are as large as chance has them


def test_the_sum_of_p_log_p_is_estimated(case):
    _, source, drawn, layers = case
    p = reference.joint(layers)
    expected = (p[p > 0] * np.log(p[p > 0])).sum()
    estimates = [source.mean_log_p(partners) for partners in drawn[:50]]
    assert np.mean(estimates) == pytest.approx(expected, rel=0.02)
    # a single one, which is what a run uses, comes from 24 * 32 draws
    assert estimates[0] == pytest.approx(expected, rel=0.05)


def test_further_points_draw_partners_by_their_similarity(case):
    kernel, _, _, _ = case
    further = few_points()[:4] + 0.3
    p = conditional_rows(kernel.toward_fitted()(further)).astype(float)
    counts = np.zeros((4, N), int)
    for seed in range(40):
        drawn, weights = SampledAffinities(kernel, random_state=seed).draw_toward(
            kernel.cells_at_scales(further)
        )
        assert drawn.shape == (4, PLACE_DRAWS)
        assert weights.all()
        for i in range(4):
            counts[i] += np.bincount(drawn[i], minlength=N)
    for i in range(4):
        assert chi_square(counts[i], p[i]) > ALPHA


def test_a_number_stands_for_its_partners():
    kernel = IsolationKernel(5, n_partitions=30, random_state=1).fit(few_points())
    source, again = (SampledAffinities(kernel, random_state=2) for _ in range(2))
    first = source.draw(7)
    source.draw(8)
    for other in (source.draw(7), again.draw(7)):
        assert all(map(np.array_equal, first, other))
    assert not np.array_equal(first.indices, source.draw(8).indices)
    seeded = SampledAffinities(kernel, random_state=3).draw(7)
    assert not np.array_equal(first.indices, seeded.indices)
    assert (first.indices.dtype, first.weights.dtype) == (np.uint32, np.float32)
    assert not (first.indices == np.arange(N)[:, None]).any()


def test_the_partners_of_a_further_point_do_not_depend_on_its_company():
    kernel = IsolationKernel(5, n_partitions=30, random_state=1).fit(few_points())
    source = SampledAffinities(kernel)
    further = np.random.default_rng(5).normal(size=(9000, 3))
    together = source.draw_toward(kernel.cells_at_scales(further))
    for rows in (slice(0, 1), slice(4090, 4100), slice(8999, None)):
        alone = source.draw_toward(kernel.cells_at_scales(further[rows]))
        assert np.array_equal(alone.indices, together.indices[rows])


def test_the_sum_of_p_log_p_counts_ties_with_their_probability():
    kernel = IsolationKernel(N, n_partitions=10, random_state=0).fit(few_points())
    source = SampledAffinities(kernel)
    joint, _ = dense_affinities(kernel)
    P = joint.values * (joint.factors[:, None] + joint.factors).astype(float)
    expected = (P[P > 0] * np.log(P[P > 0])).sum()
    # p_ij of a tie is 1 / 2n, twice as much if it is mutual; only which of several points is tied
    # to another is drawn.
    estimates = [source.mean_log_p(source.draw(number)) for number in range(200)]
    assert np.mean(estimates) == pytest.approx(expected, rel=1e-3)
