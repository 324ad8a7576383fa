"""Repulsion on a mesh: against the definition, within the error that was asked for."""

import numpy as np
import pytest
from scipy.interpolate import BSpline

from isosne.layout import mesh
from isosne.layout.mesh import MeshRepulsion, in_three_dimensions, spline_transform
from isosne.layout.splines import read, spline_weights
from tests.reference import repulsion as reference
from tests.unit.layout.maps import relative, repel, uneven_clusters, uniform

DOFS = [0.5, 1.0, 3.0, np.inf]
ACCURACIES = [0.1, 0.03, 0.01, 0.003]
BEYOND = 2.0
"""How many times the accuracy the error of a sparse map may be.

The accuracy is that of a plane map of 70 000 points. Of the maps here, of a few hundred points that
feel few others, the worst have 1.6 times as much.
"""


def evenly(n, d):
    return uniform(n, d, 20 if d < 3 else 8)


def clustered(n, d):
    return uneven_clusters(n, d, widest=2.0, reach=8)


def first_map(n, d):
    return (1e-4 * np.random.default_rng(3).normal(size=(n, d))).astype(np.float32)


MAPS = [evenly, clustered, first_map]


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("dof", DOFS)
@pytest.mark.parametrize("points", MAPS)
def test_forces_are_as_accurate_as_asked_for(points, dof, d):
    Y = points(600, d)
    expected, expected_Z = reference.push(Y, dof), reference.sum_of_similarities(Y, dof)
    errors = []
    for accuracy in ACCURACIES:
        push, Z = repel(Y, MeshRepulsion(d, dof, accuracy))
        errors.append(relative(push, expected))
        assert errors[-1] < BEYOND * accuracy
        # a third of the accuracy at the most, where a dense cluster is narrower than the spacing
        assert abs(Z / expected_Z - 1) < 0.5 * accuracy
        # no force without its counterforce, to within the error
        assert np.linalg.norm(push.sum(axis=0)) < 0.5 * accuracy * np.abs(push).sum()
    if points is not first_map:  # there all errors are the rounding of float32
        assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize(("n", "d"), [(n, d) for n in (2, 17) for d in (1, 2, 3)] + [(4500, 2)])
def test_maps_of_any_size(n, d):
    Y = evenly(n, d) / np.float32(4)
    push, Z = repel(Y, MeshRepulsion(d, accuracy=0.01))
    assert relative(push, reference.push(Y, 1.0)) < 0.01 * BEYOND
    assert abs(Z / reference.sum_of_similarities(Y, 1.0) - 1) < 0.01


@pytest.mark.parametrize("dof", DOFS)
@pytest.mark.parametrize("points", [evenly, clustered])
def test_the_potential_is_the_sum_of_similarities(points, dof):
    Y = points(500, 2)
    solid = in_three_dimensions(Y.T)
    repulsion = MeshRepulsion(2, dof, accuracy=0.01, cutoffs=(0.0,))
    field, origin, inverse, *zeros = repulsion.open(solid)
    push, potential = np.empty((3, 500), np.float32), np.empty(500, np.float32)
    read(field, solid, origin, inverse, tuple(zeros), push, potential)
    # a point feels 1 of itself by definition; on the mesh, about `own`
    found = potential + repulsion._grid.shape.base * 500 - repulsion._grid.own + 1
    assert relative(found, reference.potential(Y, dof)) < 0.01


def test_the_mesh_grows_with_the_map_and_stays_if_the_map_shrinks_a_little():
    repulsion = MeshRepulsion(2, cutoffs=(0.0,))
    Y = uniform(1000, 2)
    sides = []
    for factor in (1, 1.05, 0.97, 2, 1.95, 0.5):
        grown = np.float32(factor) * Y
        push, _ = repel(grown, repulsion)
        assert relative(push, reference.push(grown, 1.0)) < 0.03 * BEYOND
        sides.append(repulsion._grid.shape.sides)
    first, a_little_wider, narrower, wide, a_little_less, small = sides
    assert first == a_little_wider == narrower
    assert np.all(np.array(wide) > np.array(first))
    assert wide == a_little_less
    assert np.all(np.array(small) < np.array(first))


@pytest.mark.parametrize("d", [2, 3])
def test_a_map_too_wide_for_the_largest_mesh_keeps_its_accuracy(monkeypatch, d):
    Y = 2 * clustered(1500, d)
    monkeypatch.setattr(mesh, "MAX_NODES", {2: 2**14, 3: 2**19}[d])
    push, Z = repel(Y, MeshRepulsion(d, accuracy=0.01))
    assert relative(push, reference.push(Y, 1.0)) < 0.01
    assert pytest.approx(reference.sum_of_similarities(Y, 1.0), rel=0.01) == Z


def test_an_interrupt_leaves_the_old_mesh_or_the_new_one(monkeypatch):
    repulsion = MeshRepulsion(2)
    Y = uniform(500, 2)
    before = repel(Y, repulsion)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(mesh, "kernel_transform", interrupt)
        with pytest.raises(KeyboardInterrupt):
            repel(3 * Y, repulsion)
    after = repel(Y, repulsion)
    assert after[0].tobytes() == before[0].tobytes()
    assert after[1] == before[1]


@pytest.mark.parametrize("d", [1, 2, 3])
def test_equal_points_do_not_push(d):
    push, Z = repel(np.full((50, d), 3.25, np.float32), MeshRepulsion(d))
    np.testing.assert_allclose(push, 0, atol=50 * 1e-4)  # rounding of fifty charges
    assert pytest.approx(50 * 49, rel=0.01) == Z


@pytest.mark.parametrize("width", [1, 10])
@pytest.mark.parametrize("d", [2, 3])
def test_threads_do_not_change_a_bit(threads, d, width):
    # more than forty thousand points, so that all chunks have some; with a near field if wide
    Y = np.float32(width) * evenly(45_000, d)
    one, two = (threads(k, lambda: repel(Y, MeshRepulsion(d))) for k in (1, 2))
    assert one[0].tobytes() == two[0].tobytes()
    assert one[1] == two[1]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", [slice(39_999, 40_000), slice(None)])
def test_a_map_without_bounds_touches_no_memory_but_its_own(monkeypatch, which, bad):
    Y = np.ascontiguousarray(uniform(40_000, 2).T)
    repulsion = MeshRepulsion(2)
    push = np.empty_like(Y)
    repulsion.push(Y, push)
    n_chunks, n_nodes = repulsion._grid.charges.shape
    guarded = np.full((n_chunks + 2, n_nodes), 7, np.float32)
    grid = repulsion._grid._replace(charges=guarded[1:-1])
    monkeypatch.setattr(repulsion, "_fit_grid", lambda Y: (grid, None))
    Y[1, which] = bad
    with np.errstate(invalid="ignore"):
        assert not np.isfinite(repulsion.push(Y, push))
    assert (guarded[[0, -1]] == 7).all()
    assert not np.isfinite(push).all()


def test_weights_are_those_of_a_spline():
    order = 4
    spline = BSpline.basis_element(np.arange(order + 1), extrapolate=False)
    zeros = (np.float32(0),) * order
    for f in np.linspace(0, 1, 12)[:-1].astype(np.float32):
        weights, lower = spline_weights(f, zeros)
        places = float(f) + np.arange(order - 1, -1, -1)
        # float32 holds seven digits
        np.testing.assert_allclose(weights, spline(places), atol=2e-7)
        assert sum(weights) == pytest.approx(1, abs=3e-7)
        slopes = -np.diff([0, *lower])
        np.testing.assert_allclose(slopes, spline.derivative()(places), atol=5e-7)
        assert sum(slopes) == pytest.approx(0, abs=5e-7)


@pytest.mark.parametrize("order", [4, 8])
def test_the_transform_of_a_spline_is_that_of_its_samples(order):
    spline = BSpline.basis_element(np.arange(order + 1) - order / 2, extrapolate=False)
    n = 40
    places = np.fft.fftfreq(n, 1 / n)
    samples = np.nan_to_num(spline(places))
    angles = 2 * np.pi * np.arange(n) / n
    np.testing.assert_allclose(spline_transform(angles, order), np.fft.fft(samples), atol=1e-14)
