"""Colors of classes, and the color scales of values and trust.

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
it vanishes on its background. Above ten classes, `color_assignment` gives classes that are near
each other on the map colors that are far apart. Above 60 classes, colors repeat with other shapes.
"""

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import Colormap, LinearSegmentedColormap

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
SHAPES = ("o", "s")
MAX_CIRCLE_CLASSES = len(COLORS)
"""Up to this many classes differ in color only."""
MAX_CLASSES = len(COLORS) * len(SHAPES)
"""Number of combinations of a color and a shape."""
LINE_COLORS = tuple(COLORS[c] for c in (0, 2, 15, 4, 9, 16, 19, 5))
"""Colors dark enough for thin lines."""
# On and off lengths in line widths; chosen to be told apart in gray.
DASHES = ("solid", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)))
PLAIN = "#35608d"
"""Points without a label or value, if no point has one."""
FAINT = "#bcc0c6"
"""Points without a label or value, behind those that have one."""
VALUE_SCALE = "viridis"
TRUST_SCALE: Colormap = LinearSegmentedColormap.from_list(
    "trust", ["#b8400e", "#e8963c", "#bdbdb0", "#5b9bc8", "#08519c"]
)
"""From orange (unreliable) over gray to blue (reliable); never white, the background."""
DARK_VALUE_SCALE: Colormap = LinearSegmentedColormap.from_list(
    "values-dark", colormaps[VALUE_SCALE](np.linspace(0.25, 1.0, 64))
)
DARK_TRUST_SCALE: Colormap = LinearSegmentedColormap.from_list(
    "trust-dark", ["#f06a28", "#f0b070", "#8c8c86", "#78b4e6", "#3c96ff"]
)
"""The same on a dark background."""


def class_shape(c: int) -> str:
    """Return the marker of a class by its index: a circle as long as colors suffice."""
    return SHAPES[c // len(COLORS) % len(SHAPES)]
