"""The colors of figures in a light and in a dark page; classes as in `isosne.plots.palette`."""

from typing import NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import Colormap, to_hex

from isosne.plots.figures import FRAME
from isosne.plots.paint import Classes, Values
from isosne.plots.palette import (
    COLORS,
    DARK_COLORS,
    DARK_TRUST_SCALE,
    FAINT,
    LINE_COLORS,
    PLAIN,
    TRUST_SCALE,
    VALUE_SCALE,
)


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
    classes=DARK_COLORS,
    lines=(DARK_COLORS[0], DARK_COLORS[2]),
    trust=DARK_TRUST_SCALE,
    first_value=0.35,
)
