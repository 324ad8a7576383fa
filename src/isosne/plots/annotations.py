"""Names of classes on a map, each beside its cluster, with a thin leader line where it is far.

The places are found when the figure is drawn (`label_placement`), because only then the size of the
axes is known: a layout, a zoom or another resolution moves the texts, not the clusters.
"""

import warnings
from collections.abc import Callable, Sequence
from textwrap import shorten, wrap
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation

from isosne.errors import IsosneWarning
from isosne.plots.figures import POINTS_PER_INCH, set_literal, text_width
from isosne.plots.label_placement import (
    CELL,
    core_of,
    grid_cells,
    grid_shape,
    place_labels,
)
from isosne.plots.paint import Classes
from isosne.plots.styles import Style

LINE_LETTERS, MAX_LETTERS = 20, 55
"""Letters per line of a name, and in all; longer names are cut. Chosen by eye."""
LINE_HEIGHT = 1.25
"""Height of a line relative to the font size."""
SCALES = (1.0, 0.9, 0.8, 0.7, 0.6)
"""Font sizes that are tried until all names fit, relative to the font of the style."""
MIN_LEADER = 10.0
"""Shortest leader line that is drawn, in points: a nearer text needs none; chosen by eye."""
INK_SHARE = 0.45
"""Share of the ink in the color of a name; the rest is the color of its class. Every color then has
a contrast of at least 4.5 to the background, as WCAG 2 asks for."""


class Scenery(NamedTuple):
    """What names keep off: points (n, 2) with some cells around them, and images (k, 2, 2).

    An image is given by its low and its high corner.
    """

    points: NDArray[np.float64]
    images: NDArray[np.float64]
    clearance: int

    def seen(self, transform: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> "Scenery":
        """Return points and images at other coordinates."""
        images = transform(self.images.reshape(-1, 2)).reshape(-1, 2, 2)
        return Scenery(transform(self.points), images, self.clearance)


def annotate_classes(
    ax: Axes, scenery: Scenery, classes: Classes, style: Style, *, in_color: bool
) -> "ClassNames":
    """Add the names of the classes to a map; ``in_color`` if the points have their colors."""
    names = ClassNames(scenery, classes, style, in_color=in_color)
    ax.add_artist(names)
    for part in names.get_children():
        part.set_figure(ax.get_figure(root=False))  # type: ignore[arg-type]  # axes have a figure
        part.axes = ax
        part.set_transform(ax.transAxes)
    return names


class ClassNames(Artist):
    """The texts of the classes that have points, largest first, and their leader lines."""

    def __init__(self, scenery: Scenery, classes: Classes, style: Style, *, in_color: bool) -> None:
        super().__init__()
        counts = np.bincount(classes.of_point, minlength=len(classes.names))[: classes.n_classes]
        self._order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        self._scenery, self._of_point = scenery, classes.of_point
        self._font = float(rcParams["font.size"])
        self._placed_for: tuple[Any, ...] = ()
        self.set_zorder(6)
        self.set_in_layout(False)
        self.texts: list[Text] = []
        self.leaders: list[Line2D] = []
        halo = [withStroke(linewidth=2.2, foreground=style.background)]
        for c in self._order.tolist():
            color = mix(classes.colors[c], style.ink) if in_color else style.ink
            self.texts.append(_make_text(classes.names[c], color, style.background))
            self.leaders.append(Line2D([], [], color=color, linewidth=0.8, path_effects=halo))

    def get_children(self) -> list[Artist]:
        """Return the leader lines and the texts."""
        return [*self.leaders, *self.texts]

    def draw(self, renderer: Any) -> None:
        """Find the places if the view has changed, and draw."""
        if self.get_visible():
            self._place()
            for part in self.get_children():
                part.draw(renderer)

    def _place(self) -> None:
        assert self.axes is not None  # it is drawn by its axes
        box = self.axes.get_window_extent()
        scale = POINTS_PER_INCH / self.axes.get_figure(root=True).dpi  # type: ignore[union-attr]
        frame = np.array([box.width, box.height]) * scale
        view = (*frame.round(1).tolist(), *self.axes.get_xlim(), *self.axes.get_ylim())
        if view == self._placed_for:
            return
        self._placed_for = view
        to_pixels = self.axes.transData.transform
        scenery = self._scenery.seen(lambda places: (to_pixels(places) - box.min) * scale)
        for part in self.get_children():
            part.set_visible(False)
        lost = []
        for j, middle, start, target in self._find_places(scenery, frame):
            if np.isnan(middle).any():
                lost.append(self.texts[j].get_text().replace("\n", " "))
                continue
            self.texts[j].set_position(tuple(middle / frame))
            self.texts[j].set_visible(True)
            self.leaders[j].set_data(*(np.array([start, target]) / frame).T)
            self.leaders[j].set_visible(bool(np.hypot(*(start - target)) >= MIN_LEADER))
        _warn_of_lost(lost)

    def _find_places(
        self, scenery: Scenery, frame: NDArray[np.float64]
    ) -> list[tuple[int, Any, Any, Any]]:
        """Return text, middle, and start and end of the leader, of the classes in the view.

        The font is the largest in which all names fit; in the smallest, some may have no place.
        """
        cells, shape = grid_cells(scenery.points, frame), grid_shape(frame)
        inside = ((scenery.points >= 0) & (scenery.points <= frame)).all(axis=1)
        shown, cores = [], []
        for j, c in enumerate(self._order.tolist()):
            counts = _count(cells[inside & (self._of_point == c)], shape)
            if counts.any():
                shown.append(j)
                cores.append(core_of(counts))
        is_taken = binary_dilation(_count(cells[inside], shape), iterations=scenery.clearance)
        for low, high in np.maximum(scenery.images / CELL, 0).astype(int):
            is_taken[low[0] : high[0] + 1, low[1] : high[1] + 1] = True
        for factor in SCALES:
            sizes = np.array([_measure(self.texts[j], factor * self._font) for j in shown])
            boxes = place_labels(sizes.reshape(-1, 2), cores, is_taken, frame)
            if np.isfinite(boxes.middles).all():
                break
        return list(zip(shown, boxes.middles, boxes.starts, boxes.targets, strict=True))


def _count(cells: NDArray[np.int64], shape: tuple[int, int]) -> NDArray[np.int64]:
    """Return how often each cell of a grid occurs."""
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def _make_text(name: str, color: str, background: str) -> Text:
    lines = wrap(shorten(name, MAX_LETTERS, placeholder=" ..."), LINE_LETTERS)
    halo = [withStroke(linewidth=2.4, foreground=background)]
    text = Text(0, 0, "\n".join(lines) or name, color=color, path_effects=halo)
    text.set(horizontalalignment="center", verticalalignment="center", multialignment="center")
    text.set_linespacing(1.1)
    set_literal(text)
    return text


def _measure(text: Text, size: float) -> tuple[float, float]:
    """Set the font size of a text; return its width and height in points."""
    text.set_fontsize(size)
    lines = text.get_text().splitlines() or [""]
    width = POINTS_PER_INCH * max(text_width(line, size) for line in lines)
    return width, LINE_HEIGHT * size * len(lines)


def mix(color: str, ink: str) -> str:
    """Return the color of a name: that of its class with some ink, to be legible."""
    rgb = (1 - INK_SHARE) * np.array(to_rgb(color)) + INK_SHARE * np.array(to_rgb(ink))
    return to_hex(rgb.tolist())


def _warn_of_lost(lost: Sequence[str]) -> None:
    if lost:
        count = f"{len(lost)} name{'s' * (len(lost) > 1)}"
        warnings.warn(
            f"There is no room on the map for {count}, such as {lost[0]!r}. "
            "Enlarge the figure, or use a legend.",
            IsosneWarning,
            stacklevel=2,
        )
