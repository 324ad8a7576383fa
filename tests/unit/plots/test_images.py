"""Images of the points: on a map, and as sprites of a page."""

import base64
import io

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle
from PIL import Image

from isosne.plots import plot_map
from isosne.plots.images import Images, check_images, choose_apart, fit_size, make_sprites
from isosne.plots.palette import COLORS
from tests.reference.labels import choose_apart as choose_slowly


@pytest.fixture
def gray():
    """Make n gray images of 6 x 4 pixels."""
    return lambda n: np.random.default_rng(0).uniform(size=(n, 6, 4))


def boxes_of(ax):
    return np.array([image.get_extent() for image in ax.images])


def test_images_do_not_overlap_and_leave_the_limits_alone(map_of, gray):
    plain, ax = plot_map(map_of(500)), plot_map(map_of(500), images=gray(500))
    left, right, bottom, top = boxes_of(ax).T
    assert 5 < len(left) < 300
    apart = (left[:, None] > right) | (right[:, None] < left)
    apart |= (bottom[:, None] > top) | (top[:, None] < bottom)
    assert (apart | np.eye(len(left), dtype=bool)).all()
    (low, high), (floor, ceiling) = ax.get_xlim(), ax.get_ylim()
    assert low <= left.min() < right.max() <= high
    assert floor <= bottom.min() < top.max() <= ceiling
    np.testing.assert_allclose((right - left) / (top - bottom), 4 / 6)
    assert (ax.get_xlim(), ax.get_ylim()) == (plain.get_xlim(), plain.get_ylim())


def test_an_image_is_that_of_its_point_with_its_color(map_of, gray):
    Y, images, labels = map_of(40), gray(40), np.arange(40) % 3
    ax = plot_map(Y, labels, images=images)
    borders = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    for shown, border, box in zip(ax.images, borders, boxes_of(ax), strict=True):
        row = np.linalg.norm(Y - box.reshape(2, 2).mean(axis=1), axis=1).argmin()
        low, high = images.min(), images.max()
        expected = np.round(255 * (images[row] - low) / (high - low))
        assert np.array_equal(shown.get_array(), expected)
        assert border.get_edgecolor() == to_rgba(COLORS[labels[row]])


def test_points_are_chosen_densest_first():
    rng = np.random.default_rng(0)
    Y = np.vstack([rng.normal(size=(150, 2)), rng.uniform(-4, 4, size=(50, 2))])
    size = np.array([0.7, 0.5])
    chosen = choose_apart(Y, size)
    left = [i for i in range(200) if i not in set(chosen.tolist())]
    # The same choice with the same order, in which the points that are left come last.
    assert choose_slowly(Y, [*chosen.tolist(), *left], size) == chosen.tolist()
    assert np.linalg.norm(Y[chosen[0]]) < 1.2 < np.linalg.norm(Y[chosen[-1]])


def test_8_bit_images_are_shown_as_they_are_and_others_are_stretched(map_of):
    images = np.random.default_rng(0).integers(50, 200, size=(9, 5, 5, 3), dtype=np.uint8)
    shown = {image.get_array().tobytes() for image in plot_map(map_of(9), images=images).images}
    assert shown <= {image.tobytes() for image in images}
    floats = check_images(images / 255, 9)
    assert floats.take(slice(None)).max() == 255
    trust = np.linspace(0, 1, 12)
    ax = plot_map(map_of(12), trust, kind="trust", images=np.ones((12, 3, 3)))
    assert all((image.get_array() == 0).all() for image in ax.images)  # constant


def cut_sheets(sprites):
    """The images of a page, in the order of the rows, as its script cuts them."""
    width, height, columns = sprites["width"], sprites["height"], sprites["columns"]
    cut = []
    for sheet in sprites["sheets"]:
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(sheet))))
        for place in range(sprites["per_sheet"]):
            left, top = place % columns * width, place // columns * height
            cut.append(pixels[top : top + height, left : left + width])
            if top + height >= len(pixels) and place % columns == columns - 1:
                break
    return cut


@pytest.mark.parametrize("shape", [(8, 8), (5, 7, 3)])
def test_sprites_are_the_images_in_the_order_of_the_rows(shape, monkeypatch):
    monkeypatch.setattr("isosne.plots.images.SHEET_SIDE", 40)  # several sheets
    images = np.random.default_rng(0).integers(0, 256, size=(70, *shape), dtype=np.uint8)
    sprites = make_sprites(check_images(images, 70))
    assert (sprites["height"], sprites["width"]) == shape[:2]
    assert len(sprites["sheets"]) > 1
    cut = cut_sheets(sprites)
    assert all(np.array_equal(cut[row], images[row]) for row in range(70))


@pytest.mark.parametrize(("n", "side"), [(1000, 28), (70_000, 21), (400_000, 8)])
def test_many_images_are_reduced(n, side):
    assert fit_size(Images(np.broadcast_to(np.uint8(0), (n, 28, 28)), 0, 0)) == (side, side)
