"""Colors of classes and color scales, as tables; needs no plotting package.

A color on white and its counterpart on dark were chosen together, of nearly the same hue: at most
16 degrees apart in OKLab (Ottosson 2020), so that a class keeps its color in both themes. All have
a contrast of at least 3 with their background, as WCAG 2.1 asks of graphics, and the first ten are
of even weight: of a lightness from 45 to 70 on white, and from 62 to 88 on dark. Their smallest
distance, with normal vision or in the worst of three simulated color blindnesses (Machado, Oliveira
and Fernandes 2009), is a local maximum. Each other one is the farthest from all before it. Smallest
distance of two colors, times 100:

    number of colors                 8     10     26     60
    on white, worst view           8.5    8.4    4.0    2.5
    on white, normal vision       13.7   13.2    8.7    5.0
    on dark, worst view            8.6    8.0    3.8    2.4
    on dark, normal vision        13.6   13.6    8.1    4.8

The eight colors of Okabe and Ito have 7.6 in the worst view. Above 60 classes, colors repeat.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array

Floats = NDArray[np.float64]

COLORS = (
    *("#2478b4", "#a8000c", "#789c00", "#900c84", "#cc3c84", "#7884ff", "#c08478", "#906c0c"),
    *("#306c54", "#6c3cc0", "#004848", "#540078", "#a854d8", "#602418", "#f06c00", "#006000"),
    *("#0018a8", "#3c3060", "#489c9c", "#548448", "#84543c", "#783060", "#c06048", "#00489c"),
    *("#9c9054", "#78549c", "#009cd8", "#9c3c78", "#a8609c", "#840030", "#cc6c90", "#9c84c0"),
    *("#b43054", "#b430a8", "#008424", "#d83c24", "#c078d8", "#0078e4", "#301890", "#9c7860"),
    *("#484800", "#a8546c", "#f060a8", "#5418b4", "#609c6c", "#004878", "#6c4830", "#487884"),
    *("#0054d8", "#900c54", "#d87854", "#30606c", "#600c54", "#48486c", "#cc3cb4", "#6c0c3c"),
    *("#cc8430", "#304830", "#3c60f0", "#604890"),
)
"""On a white background."""
DARK_COLORS = (
    *("#00c0ff", "#e45424", "#a8b448", "#fc84cc", "#c0609c", "#6c78f0", "#c09084", "#ffcc00"),
    *("#00fcb4", "#d8ccf0", "#00b4a8", "#b484e4", "#a848cc", "#fca890", "#9c7860", "#489000"),
    *("#7884b4", "#a8a8e4", "#b4f0e4", "#b4e484", "#ff9000", "#e460cc", "#fc6c6c", "#789cfc"),
    *("#d8c060", "#d89cff", "#2490cc", "#d890b4", "#f0a8d8", "#cc3c78", "#d86078", "#9c60b4"),
    *("#d83c48", "#a8849c", "#90cca8", "#cc7854", "#c060d8", "#90ccff", "#9084ff", "#ffd8b4"),
    *("#e4f030", "#ffc0d8", "#ff789c", "#9054e4", "#84ff78", "#84a8c0", "#d8a878", "#60e4ff"),
    *("#b4c0e4", "#a86084", "#e49c90", "#48849c", "#cc3c9c", "#9090cc", "#d8a8c0", "#e478b4"),
    *("#cc903c", "#54d854", "#3084ff", "#a860e4"),
)
"""On a dark background."""
MAX_CLASSES = 2 * len(COLORS)  # of a map: a color stands for at most two of them
_LINES = (0, 1, 8, 3, 7, 9, 20, 4)  # for thin lines: on white, of a contrast of at least 4.5
LINE_COLORS = tuple(COLORS[c] for c in _LINES)
DARK_LINE_COLORS = tuple(DARK_COLORS[c] for c in _LINES)
PLAIN, DARK_PLAIN = "#35608d", "#6aa5dc"  # points without a label or value, if no point has one
FAINT, DARK_FAINT = "#bcc0c6", "#4d535c"  # the same, behind those that have one
FRAME = "#d4d4d4"  # around a map

VALUE_SCALE = (
    *("#440154", "#481769", "#472a7a", "#433d84", "#3d4e8a", "#355e8d", "#2e6d8e", "#297b8e"),
    *("#23898e", "#1f978b", "#21a585", "#2eb37c", "#46c06f", "#65cb5e", "#89d548", "#b0dd2f"),
    *("#d8e219", "#fde725"),
)
"""Viridis, at even steps; a scale is interpolated between its colors."""
TRUST_SCALE = (
    *("#00224e", "#00306f", "#263d6e", "#3e4b6c", "#51586d", "#636670", "#747475", "#858279"),
    *("#989277", "#aca172", "#c0b16a", "#d5c25e", "#ebd44b", "#fee838"),
)
"""Cividis, at even steps: from blue (fewer neighbors kept) to yellow (more kept)."""
ON_WHITE, ON_DARK = (0.0, 0.9), (0.4, 1.0)
"""Parts of the scales that differ from the background."""

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


def on_dark(colors: Sequence[str]) -> list[str]:
    """Return the counterparts of colors of classes on a dark background."""
    counterparts = dict(zip((*COLORS, FAINT), (*DARK_COLORS, DARK_FAINT), strict=True))
    return [counterparts[color] for color in colors]


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
