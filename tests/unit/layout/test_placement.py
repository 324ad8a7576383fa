"""Placing further points on a finished map."""

import tracemalloc
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_digits

from isosne import KL, TSNE, GaussianKernel, IsolationKernel
from isosne.affinities.dense import conditional_rows
from isosne.layout.placement import ListedPlacement, Placement
from isosne.layout.schedules import Schedule

N = 600
KERNELS = {
    "isolation": IsolationKernel(40, random_state=0),
    "gaussian": GaussianKernel(30),
}


@pytest.fixture(scope="module")
def digits():
    return load_digits().data[:N]


@pytest.fixture(scope="module")
def fitted(digits):
    """Maps of some digits, each made once."""

    @cache
    def fit(kernel, n_components=2, exaggeration=1.0):
        schedule = Schedule.annealed(exaggeration=exaggeration)
        settings = {"schedule": schedule, "random_state": 0, "n_jobs": 1}
        return TSNE(KERNELS[kernel], n_components=n_components, **settings).fit(digits)

    return fit


def probabilities(model, points):
    """Return p_{j|i} of new points toward the fitted ones."""
    return conditional_rows(model.kernel_.toward_fitted()(points))


def width(Y):
    return np.ptp(Y, axis=0).max()


def median_distance(places, Y):
    return np.median(np.linalg.norm(places - Y, axis=1)) / width(Y)


@pytest.mark.parametrize(
    ("kernel", "n_components"),
    [("isolation", 2), ("gaussian", 1), ("gaussian", 2), ("gaussian", 3)],
)
def test_fitted_points_are_placed_near_their_places(fitted, digits, kernel, n_components):
    model = fitted(kernel, n_components)
    similarity = probabilities(model, digits)
    places = Placement(model.embedding_, 1.0).place(similarity)
    assert places.shape == (N, n_components)
    assert places.dtype == np.float32
    # 2 % of the width; points placed at random on the map would be at about 40 %
    assert median_distance(places, model.embedding_) < 0.02


def test_late_exaggeration_counts_in_placing(fitted, digits):
    model = fitted("isolation", exaggeration=4.0)
    similarity = probabilities(model, digits)
    right = Placement(model.embedding_, 1.0, 4.0).place(similarity)
    wrong = Placement(model.embedding_, 1.0, 1.0).place(similarity)
    assert median_distance(right, model.embedding_) < 0.02
    # without it the push is four times too strong
    assert median_distance(right, model.embedding_) < median_distance(wrong, model.embedding_)
    new = digits[:5] + 0.25
    expected = Placement(model.embedding_, 1.0, 4.0).place(probabilities(model, new))
    assert model.transform(new).tobytes() == expected.tobytes()


@pytest.mark.parametrize("dof", [0.5, 2.0, np.inf])
def test_points_are_placed_under_any_degrees_of_freedom(digits, dof):
    model = TSNE("gaussian", objective=KL(dof=dof), random_state=0, n_jobs=1).fit(digits[:200])
    places = Placement(model.embedding_, dof).place(probabilities(model, digits[:200]))
    assert np.isfinite(places).all()
    assert median_distance(places, model.embedding_) < 0.05


def test_a_point_similar_to_one_fitted_point_alone_rests_where_pull_and_push_balance():
    # Fitted points at -5 and 5: w = 1 / 101, Z = 2 / 101, strength Z / n = 1 / 101. All the pull
    # is of the first point, so the new one rests on the far side of it, at a distance r with
    # (1 / 101 - w) w r = w'^2 (r + 10), w = 1 / (1 + r^2), w' = 1 / (1 + (r + 10)^2).
    # At r = 10.681: (0.0099010 - 0.0086891) 0.0086891 10.681 = 1.1247e-4
    #                0.0023325^2 20.681                        = 1.1252e-4
    Y = np.array([[-5, 0], [5, 0]], np.float32)
    place = Placement(Y, 1.0).place(np.array([[1, 0]], np.float32))
    # fifty steps come that near
    np.testing.assert_allclose(place, [[-5 - 10.681, 0]], atol=0.01)


@pytest.mark.parametrize("dof", [2.0, 10.0, np.inf])
@pytest.mark.parametrize("listed", [False, True])
def test_points_of_a_map_that_is_too_wide_for_forces_stay_near_their_partners(dof, listed):
    """All similarities on the map underflow: nothing repels, and no place is NaN."""
    Y = np.random.default_rng(0).normal(0, 1e5, (30, 2)).astype(np.float32)
    near = np.array([[3, 4], [7, 7]])
    if listed:
        placed = ListedPlacement(Y, dof).place(near, np.ones((2, 2), np.float32))
    else:
        similarity = np.zeros((2, 30), np.float32)
        similarity[[0, 0, 1], [3, 4, 7]] = 1
        placed = Placement(Y, dof).place(similarity)
    assert np.isfinite(placed).all()
    low, high = Y[[3, 4]].min(axis=0), Y[[3, 4]].max(axis=0)
    assert np.all((placed[0] >= low - 1) & (placed[0] <= high + 1))
    np.testing.assert_allclose(placed[1], Y[7], rtol=1e-5)


def test_no_mesh_is_made_for_a_map_that_is_too_wide_for_one():
    """The largest mesh takes seconds and 300 MB, and only the partners repel."""
    Y = np.zeros((30, 1), np.float32)
    Y[0] = 1e12
    tracemalloc.start()
    ListedPlacement(Y, 1.0).place(np.array([[3, 4]]), np.ones((1, 2), np.float32))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**26  # compilation takes some


def test_a_listed_point_starts_at_the_partner_with_the_lowest_energy():
    """The most similar point lies apart from the other nine; most of the attraction wins."""
    rng = np.random.default_rng(0)
    Y = np.concatenate([[[60, 0]], rng.normal(0, 1, (30, 2))]).astype(np.float32)
    partners = np.arange(10)[None]
    weights = np.r_[0.2, np.full(9, 0.8 / 9)].astype(np.float32)[None]
    placed = ListedPlacement(Y, 1.0).place(partners, weights)
    assert np.linalg.norm(placed) < 10
    alone = ListedPlacement(Y, 1.0).place(partners[:, :1], weights[:, :1])
    assert np.linalg.norm(alone - Y[0]) < 10


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_listed_points_stay_within_the_bounds_of_the_map(n_components):
    """Between partners far apart attraction is weak, and repulsion could throw a point out."""
    rng = np.random.default_rng(0)
    Y = rng.normal(0, 40, (500, n_components)).astype(np.float32)
    partners = rng.integers(500, size=(2000, 16))
    placed = ListedPlacement(Y, 1.0).place(partners, np.ones(partners.shape, np.float32))
    assert np.all((placed >= Y.min(axis=0)) & (placed <= Y.max(axis=0)))


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_listed_points_come_to_rest(n_components):
    """Pull and push balance: summed over all fitted points, pair by pair."""
    rng = np.random.default_rng(1)
    Y = rng.normal(0, 3, (300, n_components))
    partners = np.argsort(((Y[:40, None] - Y) ** 2).sum(axis=2), axis=1)[:, 1:17]
    weights = np.tile(0.8 ** np.arange(16), (40, 1)).astype(np.float32)
    placed = ListedPlacement(Y.astype(np.float32), 1.0).place(partners, weights)
    w = 1 / (1 + ((Y[:, None] - Y) ** 2).sum(axis=2))
    strength = (w.sum() - 300) / 300
    d = placed[:, None] - Y
    push = 1 / (1 + (d**2).sum(axis=2))
    pull = np.zeros((40, 300))
    np.put_along_axis(pull, partners, strength * weights / weights.sum(axis=1)[:, None], axis=1)
    gradient = ((pull * push - push**2)[:, :, None] * d).sum(axis=1)
    attraction = (pull * push).sum(axis=1)
    inside = np.all(np.abs(placed) < np.abs(Y).max(axis=0), axis=1)
    step = np.abs(gradient).max(axis=1) / attraction
    # The mesh that repels has an accuracy of 2 %.
    assert np.median(step[inside]) < 0.02
    assert inside.mean() > 0.9
