"""Colors of classes and color scales, as tables; needs no plotting package.

The colors were chosen greedily: each is the one farthest from all before it in OKLab (Ottosson
2020), so the first few are the best few. For the first 26 on white, that distance is the one in the
worst of four views: normal vision, and simulated protanopia, deuteranopia and tritanopia (Machado,
Oliveira and Fernandes 2009). For the others it is the smaller one of the distance in normal vision
and that in the worst view, the latter times 1.6 for the first 10 on dark, and times 2 after that.
Smallest distance between two colors, times 100:

    number of colors                 8     10     26     60
    on white, worst view          13.8   11.0    5.5    3.3
    on white, normal vision       19.7   15.6    9.2    6.8
    on dark, worst view           11.1    9.4    4.8    2.8
    on dark, normal vision        19.9   15.3    9.5    5.9

The eight colors of Okabe and Ito have 7.6 in the worst view. No color is so light or so dark that
it vanishes on its background. Above 60 classes, colors repeat.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array

Floats = NDArray[np.float64]

COLORS = (
    *("#0072b2", "#f0c300", "#d20000", "#3cd2ff", "#69005a", "#0f00b4", "#ff7896", "#9687ff"),
    *("#875a69", "#b4961e", "#96002d", "#a54bf0", "#b4d2a5", "#c36969", "#692dd2", "#4bb4b4"),
    *("#c31ea5", "#4b0f87", "#693c78", "#5a6900", "#6987d2", "#e1a54b", "#005a4b", "#c396e1"),
    *("#4b3c00", "#ff3c87", "#001eff", "#00f0d2", "#87e169", "#f03cd2", "#698787", "#870f96"),
    *("#ffa5ff", "#2d963c", "#a578b4", "#2d3cb4", "#003c69", "#d2b4d2", "#69c369", "#5a5a96"),
    *("#695ad2", "#a57800", "#963c87", "#c30f5a", "#ff003c", "#78a55a", "#0fa587", "#ff9678"),
    *("#e187ff", "#c369e1", "#69002d", "#5ae100", "#00784b", "#87c3b4", "#f05aff", "#5a2d4b"),
    *("#a54b1e", "#c396a5", "#a5005a", "#78783c"),
)
"""On a white background."""
DARK_COLORS = (
    *("#69b4ff", "#ffc800", "#d20f3c", "#9600ff", "#00ffd2", "#4b7896", "#ff8787", "#a5961e"),
    *("#9678ff", "#ff00c3", "#e1c3ff", "#c3ff69", "#a5d2b4", "#b47869", "#69c300", "#b4a5b4"),
    *("#c300c3", "#00f069", "#ffe1a5", "#e187e1", "#a5f0ff", "#d23c96", "#3cb478", "#6987d2"),
    *("#a569b4", "#785ae1", "#2dd2d2", "#f02dff", "#876978", "#d278a5", "#00965a", "#f0a55a"),
    *("#f04b5a", "#b46900", "#c369e1", "#96b496", "#ffa5e1", "#c39669", "#789696", "#78e196"),
    *("#ff78ff", "#87a5d2", "#87873c", "#b4c378", "#2de1ff", "#d2e187", "#f02d00", "#d2c32d"),
    *("#a53cd2", "#b44b69", "#78ff3c", "#d200ff", "#b4ffc3", "#5a9678", "#87c35a", "#96c3f0"),
    *("#d2b4c3", "#c3d2d2", "#4b96c3", "#e14bd2"),
)
"""On a dark background."""
MAX_CLASSES = 2 * len(COLORS)  # of a map: a color stands for at most two of them
LINE_COLORS = tuple(COLORS[c] for c in (0, 2, 15, 4, 9, 16, 19, 5))  # dark enough for thin lines
PLAIN = "#35608d"  # points without a label or value, if no point has one
FAINT = "#bcc0c6"  # points without a label or value, behind those that have one
FRAME = "#d4d4d4"  # around a map

VALUE_SCALE = (
    *("#440154", "#481769", "#472a7a", "#433d84", "#3d4e8a", "#355e8d", "#2e6d8e", "#297b8e"),
    *("#23898e", "#1f978b", "#21a585", "#2eb37c", "#46c06f", "#65cb5e", "#89d548", "#b0dd2f"),
    *("#d8e219", "#fde725"),
)
"""Viridis, at even steps; a scale is interpolated between its colors."""
TRUST_SCALE = ("#b8400e", "#e8963c", "#bdbdb0", "#5b9bc8", "#08519c")
"""From orange (no neighbors kept) over gray to blue (all kept); never white, the background."""
DARK_TRUST_SCALE = ("#f06a28", "#f0b070", "#8c8c86", "#78b4e6", "#3c96ff")
DARK_FIRST = 0.35  # where the scale of values begins on a dark background, from which it differs

# From linear RGB to what is seen: normal vision, protanopia, deuteranopia and tritanopia, after
# Machado, Oliveira and Fernandes 2009, severity 1.
_VIEWS = np.array(
    [
        *(1, 0, 0, 0, 1, 0, 0, 0, 1),
        *(0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216),
        *(-0.003882, -0.048116, 1.051998),
        *(0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413),
        *(-0.011820, 0.042940, 0.968881),
        *(1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602),
        *(0.004733, 0.691367, 0.303900),
    ]
).reshape(4, 3, 3)
# From linear RGB to OKLab: Ottosson 2020.
_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def to_rgb(colors: Sequence[str]) -> Floats:
    """Return colors "#rrggbb" as an array (m, 3) of numbers from 0 to 1."""
    return np.array([list(bytes.fromhex(color[1:])) for color in colors]) / 255


def to_hex(rgb: Array) -> list[str]:
    """Return colors (m, 3), numbers from 0 to 1, as "#rrggbb"."""
    return ["#" + bytes(color).hex() for color in np.rint(255 * rgb).astype(np.uint8)]


def blend(scale: Sequence[str], share: Array) -> Floats:
    """Return the colors (..., 3) of a scale at shares from 0, its first color, to 1, its last."""
    rgb, stops = to_rgb(scale), np.linspace(0, 1, len(scale))
    return np.stack([np.interp(share, stops, channel) for channel in rgb.T], axis=-1)


@cache
def color_distances(colors: tuple[str, ...]) -> Floats:
    """Return the distances (m, m) of colors in OKLab: mean of normal vision and the worst view."""
    rgb = to_rgb(colors)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ _VIEWS.transpose(0, 2, 1), 0, 1)
    lab = np.cbrt(seen @ _TO_CONES.T) @ _TO_LAB.T
    distances = np.sqrt(((lab[:, :, None] - lab[:, None]) ** 2).sum(axis=3))
    return np.asarray((distances[0] + distances.min(axis=0)) / 2)


def assign(near: Floats, cost: Floats) -> NDArray[np.int64]:
    """Return the color (m,) of each class for which no swap of two lowers the sum of products.

    Both matrices (m, m) are symmetric with a diagonal of zeros. O(m^3) time per swap.
    """
    order = np.arange(len(near))
    while True:
        costs = cost[np.ix_(order, order)]
        mixed = near @ costs
        own = np.diag(mixed)
        change = mixed + mixed.T - own - own[:, None] + 2 * near * costs
        a, b = np.unravel_index(change.argmin(), change.shape)
        if change[a, b] > -1e-9 * abs(own.sum()):  # less is rounding
            return order
        order[[a, b]] = order[[b, a]]
