"""The colors of figures in a light and in a dark page.

The colors of classes in the dark theme were chosen as those of `isosne.plots.palette`: each is the
one farthest from all before it in OKLab, in the worst of normal vision and three kinds of color
blindness, among colors with a contrast of at least 3 to the background. The first three are blue,
yellow and red as in the light theme. Smallest distance between two colors, times 100: 11.2 among 8
colors, 9.5 among 10, 5.4 among 26.
"""

from typing import NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_hex

from isosne.plots.figures import FRAME
from isosne.plots.paint import Classes, Values
from isosne.plots.palette import COLORS, FAINT, LINE_COLORS, PLAIN, TRUST_SCALE, VALUE_SCALE


class Theme(NamedTuple):
    """Colors of figures.

    ``ink``: axes and lines to true neighbors. ``soft``: texts of axes. ``frame``: frames and grids.
    ``mark``: false neighbors. ``faint`` and ``plain``: points without a value, among others that
    have one or not. ``classes`` and ``lines``: of classes and curves. ``first_value``: where the
    scale of values begins, so that its darkest color differs from the background.
    """

    background: str
    ink: str
    soft: str
    frame: str
    mark: str
    faint: str
    plain: str
    classes: tuple[str, ...]
    lines: tuple[str, ...]
    trust: Colormap
    first_value: float = 0.0

    def class_colors(self, paint: Classes) -> list[str]:
        """Return the color of each class; gray for unlabeled points."""
        colors = [self.classes[c % len(self.classes)] for c in range(paint.n_classes)]
        return colors + [self.faint] * paint.has_rest

    def scale_colors(self, values: Values, n: int) -> list[str]:
        """Return n evenly spaced colors of the scale of values."""
        scale = self.trust if values.is_trust else colormaps[VALUE_SCALE]
        first = 0.0 if values.is_trust else self.first_value
        return [to_hex(color) for color in scale(np.linspace(first, 1.0, n))]


LIGHT = Theme(
    background="#ffffff",
    ink="#1d2329",
    soft="#5c6670",
    frame=FRAME,
    mark="#c8102e",
    faint=FAINT,
    plain=PLAIN,
    classes=COLORS,
    lines=LINE_COLORS[:2],
    trust=TRUST_SCALE,
)
DARK = Theme(
    background="#15191d",
    ink="#e4e7ea",
    soft="#9aa4ae",
    frame="#3a424a",
    mark="#ff6b81",
    faint="#68737e",
    plain="#6fa8dc",
    classes=(
        *("#4ba5f0", "#ffd200", "#ff4b3c", "#96ffff", "#a50fd2", "#a5d2a5", "#b43c00", "#f0ffa5"),
        *("#d287a5", "#9669ff", "#00d2ff", "#d24bb4", "#4b9669", "#c3b45a", "#d2e187", "#875a4b"),
        *("#872dff", "#f05ad2", "#b4f0c3", "#f096c3", "#b41ea5", "#968700", "#a5a578", "#b44bd2"),
        *("#96e1d2", "#fff04b"),
    ),
    lines=("#4ba5f0", "#ff4b3c"),
    trust=LinearSegmentedColormap.from_list(
        "trust on dark", ["#e0602a", "#e8a05c", "#9a9a92", "#5b9bc8", "#3d8bff"]
    ),
    first_value=0.35,
)
