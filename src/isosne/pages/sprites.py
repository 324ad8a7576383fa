"""Images of the points of a page, as a few large PNG images that its script cuts.

A page holds all images in one file, so they are reduced where they are large or many.
"""

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from isosne.errors import DataError, keyword
from isosne.plots.thumbnails import Images

MAX_SIDE, MIN_SIDE = 64, 8
"""Limits of the longer side of an image in pixels: shown at 96, and still recognizable."""
MAX_PIXELS = 32_000_000
"""Most pixels of a page: about 20 MB of photographs; chosen, not measured."""
SHEET_SIDE = 2048
"""Most pixels along the side of a sheet, which every browser can decode."""


def make_sprites(images: Images) -> dict[str, Any]:
    """Return the images as sheets in the order of the rows, for the script of a page."""
    width, height = fit_size(images)
    columns, lines = SHEET_SIDE // width, SHEET_SIDE // height
    n, per_sheet = len(images.pixels), columns * lines
    return {
        "width": width,
        "height": height,
        "columns": columns,
        "per_sheet": per_sheet,
        "sheets": [
            _encode(_reduce(images.take(slice(first, first + per_sheet)), width, height), columns)
            for first in range(0, n, per_sheet)
        ],
    }


def fit_size(images: Images) -> tuple[int, int]:
    """Return the width and height in pixels to which the images are reduced."""
    n, height, width = images.pixels.shape[:3]
    longest = max(height, width)
    largest = int(np.sqrt(MAX_PIXELS * longest**2 / (n * height * width)))
    if largest < min(MIN_SIDE, longest):
        raise DataError(
            f"{keyword('images')} of a page must have at least {MIN_SIDE} pixels along a side, "
            f"which {n:,} images of this shape exceed. Write a page of fewer points, or a picture."
        )
    side = min(longest, largest, MAX_SIDE)
    return max(1, round(width * side / longest)), max(1, round(height * side / longest))


def _reduce(pixels: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """Return images reduced to a size; a pixel is the mean of those that it covers."""
    if pixels.shape[1:3] == (height, width):
        return pixels
    box = Image.Resampling.BOX
    reduced = [np.asarray(Image.fromarray(p).resize((width, height), box)) for p in pixels]
    return np.array(reduced, np.uint8)


def _encode(pixels: NDArray[np.uint8], columns: int) -> str:
    """Return images, side by side in lines, as a PNG image in base64."""
    n, height, width = pixels.shape[:3]
    lines = -(-n // columns)
    sheet = np.zeros((lines * columns, *pixels.shape[1:]), np.uint8)
    sheet[:n] = pixels
    depth = pixels.shape[3:]
    sheet = sheet.reshape(lines, columns, height, width, *depth).swapaxes(1, 2)
    file = io.BytesIO()
    Image.fromarray(sheet.reshape(lines * height, columns * width, *depth)).save(file, "PNG")
    return base64.b64encode(file.getbuffer()).decode()
