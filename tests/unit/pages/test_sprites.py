"""Images of the points of a page."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from isosne.errors import DataError
from isosne.pages.sprites import fit_size, make_sprites
from tests.conftest import refuses


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
    monkeypatch.setattr("isosne.pages.sprites.SHEET_SIDE", 40)  # several sheets
    images = np.random.default_rng(0).integers(0, 256, size=(70, *shape), dtype=np.uint8)
    sprites = make_sprites(images, 70)
    assert (sprites["height"], sprites["width"]) == shape[:2]
    assert len(sprites["sheets"]) > 1
    cut = cut_sheets(sprites)
    assert all(np.array_equal(cut[row], images[row]) for row in range(70))


def test_images_that_are_not_of_8_bits_are_stretched():
    first, last = cut_sheets(make_sprites(np.array([[[3.0, 4.0]], [[4.0, 5.0]]]), 2))[:2]
    assert (first.tolist(), last.tolist()) == ([[0, 128]], [[128, 255]])
    assert not cut_sheets(make_sprites(np.ones((1, 3, 3)), 1))[0].any()  # constant


@pytest.mark.parametrize(("n", "side"), [(1000, 28), (70_000, 21), (400_000, 8)])
def test_many_images_are_reduced(n, side):
    assert fit_size(n, 28, 28) == (side, side)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        pytest.param(
            lambda: make_sprites(np.zeros((6, 64)), 6),
            "images must have the shape (n, height, width) or (n, height, width, 3), with one "
            "image per point; got shape (6, 64) for 6 points. Reshape rows of pixels first, for "
            "example with X.reshape(-1, 28, 28).",
        ),
        pytest.param(
            lambda: make_sprites(np.full((6, 2, 2), np.nan), 6),
            "images must be finite numbers; got dtype float64, or NaN or infinite pixels. "
            "Pass the pixels, not the names of files.",
        ),
        pytest.param(
            lambda: fit_size(10**6, 28, 28),
            "images of a page must have at least 8 pixels along a side, which 1,000,000 images of "
            "this shape exceed. Write a page of fewer points.",
        ),
    ],
)
def test_refusals(call, sentence):
    with refuses(DataError, sentence):
        call()
