"""Images on hover: what a page holds of them."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from isosne.errors import DataError
from isosne.pages import write_page
from isosne.pages.sprites import fit_size, make_sprites
from isosne.plots.thumbnails import Images, check_images
from tests.conftest import refuses


def cut_sheets(told):
    """The images of a page, in the order of the rows, as its script cuts them."""
    width, height, columns = told["width"], told["height"], told["columns"]
    found = []
    for sheet in told["sheets"]:
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(sheet))))
        for place in range(told["per_sheet"]):
            left, top = place % columns * width, place // columns * height
            found.append(pixels[top : top + height, left : left + width])
            if top + height >= len(pixels) and place % columns == columns - 1:
                break
    return found


@pytest.mark.parametrize("shape", [(8, 8), (5, 7, 3)])
def test_a_page_holds_the_images_of_its_rows(tmp_path, read_page, map_of, shape):
    images = np.random.default_rng(0).integers(0, 256, size=(70, *shape), dtype=np.uint8)
    about = read_page(write_page(tmp_path / "map.html", map_of(70), images=images)).about
    found = cut_sheets(about["images"])
    assert (about["images"]["height"], about["images"]["width"]) == shape[:2]
    assert all(np.array_equal(found[row], images[row]) for row in range(70))


def test_many_images_are_on_several_sheets():
    images = check_images(np.random.default_rng(0).uniform(size=(5000, 32, 30)), 5000)
    told = make_sprites(images)
    assert len(told["sheets"]) == 2
    found = cut_sheets(told)
    assert np.array_equal(found[0], images.take(0))
    assert np.array_equal(found[4999], images.take(4999))


def test_large_images_are_reduced():
    pixels = np.zeros((3, 200, 100), np.uint8)
    pixels[:, :100] = 200
    told = make_sprites(check_images(pixels, 3))
    assert (told["width"], told["height"]) == (32, 64)
    (image, *_) = cut_sheets(told)
    assert image[0, 0] == 200
    assert image[-1, -1] == 0


@pytest.mark.parametrize(("n", "side"), [(1000, 28), (70_000, 21), (400_000, 8)])
def test_many_images_are_reduced(n, side):
    images = Images(np.broadcast_to(np.uint8(0), (n, 28, 28)), 0, 0)
    assert fit_size(images) == (side, side)


def test_too_many_images_are_refused():
    with refuses(
        DataError,
        "images of a page must have at least 8 pixels along a side, which 600,000 images of this "
        "shape exceed. Write a page of fewer points, or a picture.",
    ):
        fit_size(Images(np.broadcast_to(np.uint8(0), (600_000, 28, 28)), 0, 0))
