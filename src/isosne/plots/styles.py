"""Styles of figures: for the screen, for a column of a paper, for slides, and dark.

A style gives sizes, fonts and colors. It holds for one figure and changes no setting of matplotlib
for others.
"""

from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import matplotlib as mpl

from isosne.errors import ParameterError, keyword, suggest
from isosne.plots.paint import Classes, Paint, Values
from isosne.plots.palette import COLORS, DARK_COLORS, FAINT, PLAIN


class Style(NamedTuple):
    """Sizes in inches, fonts in points, and colors."""

    side: float = 5.6
    """Side of a single map."""
    panel: float = 3.4
    """Side of a map in a grid."""
    width: float | None = None
    """Width of the figure of a single map, whose legend is below; None: that of map and legend."""
    font: float | None = None
    """Font size; None: that of matplotlib's settings."""
    title: str = "large"
    background: str = "white"
    ink: str = "black"
    """Color of texts, marks and leader lines."""
    frame: str = "#d4d4d4"
    pane: str = "#f9f9f9"
    """Background of a three-dimensional map."""
    colors: tuple[str, ...] = COLORS
    plain: str = PLAIN
    faint: str = FAINT

    @property
    def is_dark(self) -> bool:
        """Whether the background is dark."""
        return self.colors is DARK_COLORS

    def applied(self) -> AbstractContextManager[None]:
        """Return a context in which matplotlib makes figures and texts in this style."""
        settings: dict[Any, Any] = {"axes.titlesize": self.title}
        if self.font is not None:
            settings["font.size"] = self.font
        if self.is_dark:
            texts = ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.color")
            settings |= dict.fromkeys((*texts, "ytick.color"), self.ink)
            settings["figure.facecolor"] = settings["axes.facecolor"] = self.background
        return mpl.rc_context(settings)

    def paint(self, paint: Paint) -> Paint:
        """Return a paint in the colors of this style."""
        if isinstance(paint, Classes):
            return paint._replace(palette=self.colors, rest_color=self.faint)
        return paint._replace(on_dark=self.is_dark) if isinstance(paint, Values) else None

    def color_frame(self, ax: Any) -> None:
        """Give the frame of a map the colors of this style; ``Any``: 3-D axes have no types."""
        if not self.is_dark:
            return
        ax.set_facecolor(self.background)
        for spine in ax.spines.values():
            spine.set_color(self.frame)
        if ax.name == "3d":
            for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
                axis.set_pane_color(self.pane)
                axis.line.set_color(self.frame)


SCREEN = Style()
DARK = Style(
    background="#16181d",
    ink="#e8eaed",
    frame="#3a3f47",
    pane="#1c1f25",
    colors=DARK_COLORS,
    plain="#6aa5dc",
    faint="#4d535c",
)
STYLES = {
    "screen": SCREEN,
    # 89 mm is the width of a column of many journals.
    "paper": Style(side=89 / 25.4, panel=1.7, width=89 / 25.4, font=8.0, title="medium"),
    "slides": Style(side=6.5, panel=5.0, font=18.0, title="medium"),
    "dark": DARK,
}
"""Sizes of paper and slides by eye; 6.5 inches fit a slide of 7.5 under a heading."""


def find_style(name: str) -> Style:
    """Return a style by its name."""
    if not isinstance(name, str) or name not in STYLES:
        raise ParameterError(
            "style",
            f"be one of {', '.join(STYLES)}",
            name,
            suggest(name, STYLES, f"Use {keyword('style', 'screen')} for the default."),
        )
    return STYLES[name]
