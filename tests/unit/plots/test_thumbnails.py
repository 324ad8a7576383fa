"""Images on a map: which, where, and what is refused."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from isosne.errors import DataError, ParameterError
from isosne.plots import plot_map
from isosne.plots.palette import COLORS
from isosne.plots.thumbnails import check_images, choose_apart
from tests.conftest import refuses
from tests.reference.labels import choose_apart as choose_slowly


@pytest.fixture
def gray():
    """Make n gray images of 6 x 4 pixels."""
    return lambda n: np.random.default_rng(0).uniform(size=(n, 6, 4))


def boxes_of(ax):
    return np.array([image.get_extent() for image in ax.images])


def test_images_do_not_overlap_and_stay_inside(map_of, gray):
    ax = plot_map(map_of(500), images=gray(500))
    left, right, bottom, top = boxes_of(ax).T
    assert 5 < len(left) < 300
    apart = (left[:, None] > right) | (right[:, None] < left)
    apart |= (bottom[:, None] > top) | (top[:, None] < bottom)
    assert (apart | np.eye(len(left), dtype=bool)).all()
    (low, high), (floor, ceiling) = ax.get_xlim(), ax.get_ylim()
    assert low <= left.min() < right.max() <= high
    assert floor <= bottom.min() < top.max() <= ceiling
    np.testing.assert_allclose((right - left) / (top - bottom), 4 / 6)


def test_images_leave_the_limits_of_the_map_alone(map_of, gray):
    plain, ax = plot_map(map_of(200)), plot_map(map_of(200), images=gray(200))
    assert (ax.get_xlim(), ax.get_ylim()) == (plain.get_xlim(), plain.get_ylim())


def test_an_image_is_that_of_its_point_with_its_color(map_of, gray):
    Y, images = map_of(40), gray(40)
    labels = np.arange(40) % 3
    ax = plot_map(Y, labels, images=images)
    borders = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert len(borders) == len(ax.images)
    for shown, border, box in zip(ax.images, borders, boxes_of(ax), strict=True):
        middle = box.reshape(2, 2).mean(axis=1)
        row = np.linalg.norm(Y - middle, axis=1).argmin()
        low, high = images.min(), images.max()
        expected = np.round(255 * (images[row] - low) / (high - low))
        assert np.array_equal(shown.get_array(), expected)
        assert border.get_edgecolor() == to_rgba(COLORS[labels[row]])


@pytest.mark.parametrize("seed", range(3))
def test_points_are_chosen_densest_first(seed):
    rng = np.random.default_rng(seed)
    Y = np.vstack([rng.normal(size=(150, 2)), rng.uniform(-4, 4, size=(50, 2))])
    size = np.array([0.7, 0.5])
    chosen = choose_apart(Y, size)
    left = [i for i in range(200) if i not in set(chosen.tolist())]
    # The same choice with the same order, in which the points that are left come last.
    assert choose_slowly(Y, [*chosen.tolist(), *left], size) == chosen.tolist()
    assert np.linalg.norm(Y[chosen[0]]) < 1.2 < np.linalg.norm(Y[chosen[-1]])


def test_color_images_and_8_bit_images_are_shown_as_they_are(map_of):
    images = np.random.default_rng(0).integers(50, 200, size=(9, 5, 5, 3), dtype=np.uint8)
    shown = {image.get_array().tobytes() for image in plot_map(map_of(9), images=images).images}
    assert shown <= {image.tobytes() for image in images}
    floats = check_images(images / 255, 9).take([0])
    assert (floats.min(), floats.max()) != (images[0].min(), images[0].max())  # stretched
    assert floats.dtype == np.uint8


def test_constant_images_and_trust(map_of):
    trust = np.linspace(0, 1, 12)
    ax = plot_map(map_of(12), trust, kind="trust", images=np.ones((12, 3, 3)))
    assert all((image.get_array() == 0).all() for image in ax.images)


@pytest.mark.parametrize("shape", [(4, 9), (3, 3, 3), (4, 3, 3, 2), (4, 0, 3), (4,)])
def test_other_shapes_are_refused(map_of, shape):
    with refuses(
        DataError,
        "images must have the shape (n, height, width) or (n, height, width, 3), with one image "
        f"per point; got shape {shape} for 4 points. "
        "Reshape rows of pixels first, for example with X.reshape(-1, 28, 28).",
    ):
        plot_map(map_of(4), images=np.zeros(shape))


def test_what_is_not_finite_or_no_number_is_refused(map_of):
    with refuses(
        DataError,
        "images must be finite; got NaN or infinite pixels. "
        "Replace them, for example with np.nan_to_num.",
    ):
        plot_map(map_of(4), images=np.full((4, 2, 2), np.nan))
    with refuses(
        DataError,
        "images must hold numbers; got dtype <U1. Pass the pixels, not the names of files.",
    ):
        plot_map(map_of(4), images=np.full((4, 2, 2), "a"))


@pytest.mark.parametrize("n_dims", [1, 3])
@pytest.mark.parametrize("name", ["images", "contours"])
def test_only_a_plane_has_room(map_of, n_dims, name):
    given = {"images": np.zeros((4, 2, 2)), "contours": True}[name]
    with refuses(
        ParameterError,
        f"{name} must be left out for a map with {n_dims} column(s). "
        "Use it with two-dimensional maps.",
    ):
        plot_map(map_of(4, n_dims), **{name: given})
