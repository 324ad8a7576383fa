"""Images of the points of a page: a few large PNG images, which the script of the page cuts.

Images are reduced where they are large or many.
"""

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from isosne._types import Array
from isosne.errors import DataError, keyword

MAX_SIDE, MIN_SIDE = 64, 8  # of an image in pixels: shown at 96, and recognizable
MAX_PIXELS = 32_000_000  # of a page: about 20 MB of photographs; chosen, not measured
SHEET_SIDE = 2048  # most pixels along the side of a sheet, which every browser can decode


def make_sprites(images: Any, n: int) -> dict[str, Any]:
    """Return n images as sheets in the order of the rows; 8-bit images stay, others are stretched.

    images: numbers of shape (n, h, w), or (n, h, w, 3) for red, green and blue.
    """
    pixels = np.asarray(images)
    is_image = pixels.ndim == 3 or (pixels.ndim == 4 and pixels.shape[3] == 3)
    if not is_image or len(pixels) != n or 0 in pixels.shape:
        raise DataError(
            f"{keyword('images')} must have the shape (n, height, width) or (n, height, width, 3), "
            f"with one image per point; got shape {pixels.shape} for {n} points. "
            "Reshape rows of pixels first, for example with X.reshape(-1, 28, 28)."
        )
    is_number = pixels.dtype.kind in "buif"
    low, high = (float(pixels.min()), float(pixels.max())) if is_number else (np.nan, np.nan)
    if not np.isfinite([low, high]).all():
        raise DataError(
            f"{keyword('images')} must be finite numbers; got dtype {pixels.dtype}, or NaN or "
            "infinite pixels. Pass the pixels, not the names of files."
        )
    width, height = fit_size(n, *pixels.shape[1:3])
    columns, lines = SHEET_SIDE // width, SHEET_SIDE // height
    per_sheet = columns * lines
    sheets = []
    for first in range(0, n, per_sheet):
        part = pixels[first : first + per_sheet]
        if part.dtype != np.uint8:
            share = (part.astype(np.float64) - low) / ((high - low) or 1.0)
            part = np.round(255 * share).astype(np.uint8)
        sheets.append(_encode(_reduce(part, width, height), columns))
    about = {"width": width, "height": height, "columns": columns, "per_sheet": per_sheet}
    return about | {"sheets": sheets}


def fit_size(n: int, height: int, width: int) -> tuple[int, int]:
    """Return the width and height in pixels to which n images of this size are reduced."""
    longest = max(height, width)
    largest = int(np.sqrt(MAX_PIXELS * longest**2 / (n * height * width)))
    if largest < min(MIN_SIDE, longest):
        raise DataError(
            f"{keyword('images')} of a page must have at least {MIN_SIDE} pixels along a side, "
            f"which {n:,} images of this shape exceed. Write a page of fewer points."
        )
    side = min(longest, largest, MAX_SIDE)
    return max(1, round(width * side / longest)), max(1, round(height * side / longest))


def _reduce(pixels: Array, width: int, height: int) -> NDArray[np.uint8]:
    """Return images reduced to a size; a pixel is the mean of those that it covers."""
    if pixels.shape[1:3] == (height, width):
        return pixels
    box = Image.Resampling.BOX
    reduced = [np.asarray(Image.fromarray(p).resize((width, height), box)) for p in pixels]
    return np.array(reduced, np.uint8)


def _encode(pixels: NDArray[np.uint8], columns: int) -> str:
    """Return images, side by side in lines, as a PNG image in base64."""
    n, height, width, *depth = pixels.shape
    lines = -(-n // columns)
    sheet = np.zeros((lines * columns, *pixels.shape[1:]), np.uint8)
    sheet[:n] = pixels
    sheet = sheet.reshape(lines, columns, height, width, *depth).swapaxes(1, 2)
    file = io.BytesIO()
    Image.fromarray(sheet.reshape(lines * height, columns * width, *depth)).save(file, "PNG")
    return base64.b64encode(file.getbuffer()).decode()
