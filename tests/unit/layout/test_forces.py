"""Attraction and repulsion side by side: when points change places in memory, nobody sees it."""

import numpy as np
import pytest

from isosne import IsolationKernel, nearest_neighbors
from isosne.affinities.sampled import SampledAffinities
from isosne.affinities.sparse import sparse_affinities
from isosne.errors import DivergedError
from isosne.layout.attraction import DrawnAttraction, ListedAttraction
from isosne.layout.descent import Progress, descend
from isosne.layout.exact import ExactRepulsion
from isosne.layout.forces import ARRANGE_EVERY, ARRANGE_FROM, SplitForces
from isosne.layout.mesh import MeshRepulsion
from isosne.layout.schedules import Phase, Schedule
from isosne.layout.tree import TreeRepulsion

N = 400
REPULSIONS = {
    "exact": lambda d: ExactRepulsion(),
    "mesh": MeshRepulsion,
    "tree": TreeRepulsion,
}


@pytest.fixture(scope="module")
def kernel():
    X = np.random.default_rng(0).normal(size=(N, 4))
    return IsolationKernel(40, n_partitions=60, random_state=0).fit(X)


def attraction_of(kernel, kind):
    if kind == "drawn":
        return DrawnAttraction(SampledAffinities(kernel, random_state=1))
    return ListedAttraction(sparse_affinities(kernel, nearest_neighbors(kernel.X_fit_, 50))[0])


def some_map(d=2):
    return np.random.default_rng(1).normal(size=(d, N)).astype(np.float32) * 4


@pytest.mark.parametrize("pairs", ["kept", "drawn"])
@pytest.mark.parametrize("repulsion", REPULSIONS)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_new_order_in_memory_does_not_show(kernel, pairs, repulsion, d):
    plain, arranged = (
        SplitForces(attraction_of(kernel, pairs), REPULSIONS[repulsion](d)) for _ in range(2)
    )
    Y = some_map(d)
    plain.attraction.prepare(ARRANGE_FROM)  # the same partners, in the order of the points
    arranged.prepare(ARRANGE_FROM, Y)
    expected, found = plain.gradient(Y, 2.0), arranged.gradient(Y, 2.0)
    # float32 sums in another order; a mesh sums its charges in it
    np.testing.assert_allclose(found, expected, atol=2e-5 * np.abs(expected).max())
    assert arranged.value(Y) == pytest.approx(plain.value(Y), rel=1e-5)
    # and once more, from the order that is there
    later = ARRANGE_FROM + ARRANGE_EVERY
    plain.attraction.prepare(later)
    arranged.prepare(later, Y[:, ::-1].copy())
    expected, found = plain.gradient(Y, 2.0), arranged.gradient(Y, 2.0)
    np.testing.assert_allclose(found, expected, atol=2e-5 * np.abs(expected).max())


def test_the_value_is_not_negative_and_the_start_costs_what_it_should(kernel):
    forces = SplitForces(attraction_of(kernel, "kept"), ExactRepulsion())
    tiny = some_map() * np.float32(1e-6)
    # All q equal: KL = sum p log p + log(n (n - 1)).
    expected = forces.attraction.negative_entropy + np.log(N * (N - 1))
    assert forces.value(tiny) == pytest.approx(expected, rel=1e-5)
    assert expected > 0


@pytest.mark.parametrize("repulsion", REPULSIONS)
def test_a_map_that_leaves_all_bounds_ends_in_one_clear_sentence(kernel, repulsion):
    forces = SplitForces(attraction_of(kernel, "kept"), REPULSIONS[repulsion](2))
    Y = some_map()
    Y[0, 3] = np.inf
    with pytest.raises(DivergedError, match="The optimization diverged at step"):
        list(descend(forces, Progress.at(Y, 1), Schedule((Phase(5, step=10),))))
