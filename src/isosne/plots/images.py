"""Images of the points, for data whose rows are images: on a map, and as sprites for a page.

On a map, not every image has room. They are taken in the order of density: the densest point whose
image overlaps none before it is next. Every part of the map is therefore represented. A page holds
all images in a few large PNG images that its script cuts; they are reduced where they are large or
many. Only `draw_thumbnails` needs matplotlib.
"""

import base64
import io
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from isosne._types import Array
from isosne.errors import DataError, keyword
from isosne.plots.paint import Paint, point_colors
from isosne.plots.palette import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from isosne.plots.figures import Style

SHARE = 0.05  # longer side of an image relative to the side of the axes; chosen by eye
SPACING = 1.12  # distance of two images relative to their size, so that borders do not touch
MAX_SIDE, MIN_SIDE = 64, 8  # of an image of a page in pixels: shown at 96, and recognizable
MAX_PIXELS = 32_000_000  # of a page: about 20 MB of photographs; chosen, not measured
SHEET_SIDE = 2048  # most pixels along the side of a sheet, which every browser can decode


class Images(NamedTuple):
    """Images (n, h, w) or (n, h, w, 3), and the values that are drawn black and white."""

    pixels: Array
    low: float
    high: float

    def take(self, rows: Any) -> NDArray[np.uint8]:
        """Return some of the images with values from 0 to 255."""
        chosen = np.asarray(self.pixels[rows])
        if chosen.dtype == np.uint8:
            return chosen
        share = (chosen.astype(np.float64) - self.low) / ((self.high - self.low) or 1.0)
        return np.asarray(np.round(255 * share), np.uint8)


def check_images(images: Any, n: int) -> Images:
    """Return n images: numbers of shape (n, h, w), or (n, h, w, 3) for red, green and blue."""
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
    return Images(pixels, low, high)


def draw_thumbnails(
    ax: "Axes", positions: Floats, images: Images, paint: Paint, style: "Style"
) -> Floats:
    """Draw as many images as have room, at their points, with a border in the color of the point.

    Return their low and high corners (k, 2, 2).
    """
    from matplotlib.patches import Rectangle

    limits = np.array([ax.get_xlim(), ax.get_ylim()])
    height, width = images.pixels.shape[1:3]
    size = SHARE * np.diff(limits)[:, 0] * np.array([width, height]) / max(width, height)
    inside = ((positions - size / 2 > limits[:, 0]) & (positions + size / 2 < limits[:, 1])).all(1)
    rows = np.flatnonzero(inside)
    rows = rows[choose_apart(positions[rows], SPACING * size)]
    colors = point_colors(paint, rows, style.plain, style.faint)
    colors = np.broadcast_to(colors, (len(rows), 3))
    for row, picture, color in zip(rows.tolist(), images.take(rows), colors, strict=True):
        left, bottom = positions[row] - size / 2
        extent = (left, left + size[0], bottom, bottom + size[1])
        look: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": 255, "zorder": 4}
        ax.imshow(picture, extent=extent, aspect=ax.get_aspect(), **look)
        border = Rectangle(
            (left, bottom), *size, fill=False, color=tuple(color), lw=1.0, zorder=4.5
        )
        ax.add_patch(border)
    ax.set(xlim=limits[0], ylim=limits[1])
    return np.stack([positions[rows] - size / 2, positions[rows] + size / 2], axis=1)


def choose_apart(positions: Floats, size: Floats) -> NDArray[np.int64]:
    """Return points, densest first, at which boxes of this size (2,) do not overlap.

    O(n) time per chosen point.
    """
    low = positions.min(axis=0, initial=np.inf)
    cells = np.floor((positions - low) / (size / 2)).astype(np.int64)
    counts = np.zeros(cells.max(axis=0, initial=0) + 1)
    np.add.at(counts, tuple(cells.T), 1)
    density = gaussian_filter(counts, 1.0, mode="constant")[tuple(cells.T)]
    order = np.argsort(-density, kind="stable")
    chosen = []
    waiting = positions[order]
    while len(order):
        chosen.append(order[0])
        free = (np.abs(waiting - waiting[0]) >= size).any(axis=1)
        order, waiting = order[free], waiting[free]
    return np.array(chosen, np.int64)


def make_sprites(images: Images) -> dict[str, Any]:
    """Return the images as sheets in the order of the rows, for the script of a page."""
    width, height = fit_size(images)
    columns, lines = SHEET_SIDE // width, SHEET_SIDE // height
    per_sheet = columns * lines
    sheets = [
        _encode(_reduce(images.take(slice(first, first + per_sheet)), width, height), columns)
        for first in range(0, len(images.pixels), per_sheet)
    ]
    about = {"width": width, "height": height, "columns": columns, "per_sheet": per_sheet}
    return about | {"sheets": sheets}


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
    from PIL import Image

    box = Image.Resampling.BOX
    reduced = [np.asarray(Image.fromarray(p).resize((width, height), box)) for p in pixels]
    return np.array(reduced, np.uint8)


def _encode(pixels: NDArray[np.uint8], columns: int) -> str:
    """Return images, side by side in lines, as a PNG image in base64."""
    from PIL import Image

    n, height, width = pixels.shape[:3]
    lines = -(-n // columns)
    sheet = np.zeros((lines * columns, *pixels.shape[1:]), np.uint8)
    sheet[:n] = pixels
    depth = pixels.shape[3:]
    sheet = sheet.reshape(lines, columns, height, width, *depth).swapaxes(1, 2)
    file = io.BytesIO()
    Image.fromarray(sheet.reshape(lines * height, columns * width, *depth)).save(file, "PNG")
    return base64.b64encode(file.getbuffer()).decode()
