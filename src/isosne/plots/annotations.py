"""Names of classes on a map, each beside its cluster, with a thin leader line where it is far.

The places are found when the figure is drawn (`label_placement`), because only then the size of the
axes is known: a layout, a zoom or another resolution moves the texts, not the clusters.
"""

import warnings
from collections.abc import Sequence
from textwrap import shorten, wrap
from typing import Any

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
"""Share of the ink in the color of a name; the rest is the color of its class. By eye: the
lightest color has a contrast of 4.5 to the background."""


def annotate_classes(
    ax: Axes,
    positions: NDArray[np.float64],
    classes: Classes,
    style: Style,
    *,
    in_color: bool,
    clearance: int = 1,
    boxes: NDArray[np.float64] | None = None,
) -> "ClassNames":
    """Add the names of the classes to a map (n, 2); ``in_color`` if the points have the colors.

    A name keeps ``clearance`` cells from the points, where there is room, and off ``boxes``
    (k, 2, 2): the low and high corners of images.
    """
    counts = np.bincount(classes.of_point, minlength=len(classes.names))[: classes.n_classes]
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    names = ClassNames(positions, classes, order, style, in_color=in_color)
    names.clearance = clearance
    names.boxes = np.empty((0, 2, 2)) if boxes is None else boxes
    ax.add_artist(names)
    for part in (*names.texts, *names.leaders):
        part.set_figure(ax.get_figure(root=False))  # type: ignore[arg-type]  # axes have a figure
        part.axes = ax
        part.set_transform(ax.transAxes)
    return names


class ClassNames(Artist):
    """The texts of some classes, largest first, and their leader lines."""

    def __init__(
        self,
        positions: NDArray[np.float64],
        classes: Classes,
        order: NDArray[np.int64],
        style: Style,
        *,
        in_color: bool,
    ) -> None:
        super().__init__()
        self._positions, self._of_point, self._order = positions, classes.of_point, order
        self._font = float(rcParams["font.size"])
        self._placed_for: tuple[Any, ...] = ()
        self.clearance, self.boxes = 1, np.empty((0, 2, 2))
        self.set_zorder(6)
        self.set_in_layout(False)
        self.texts: list[Text] = []
        self.leaders: list[Line2D] = []
        for c in order.tolist():
            color = _mix(classes.colors[c], style.ink) if in_color else style.ink
            self.texts.append(_make_text(classes.names[c], color, style.background))
            halo = [withStroke(linewidth=2.2, foreground=style.background)]
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
        seen = (self.axes.transData.transform(self._positions) - box.min) * scale
        corners = self.axes.transData.transform(self.boxes.reshape(-1, 2))
        images = ((corners - box.min) * scale).reshape(-1, 2, 2)
        for part in self.get_children():
            part.set_visible(False)
        lost = []
        for j, middle, start, target in self._find_places(seen, images, frame):
            if np.isnan(middle).any():
                lost.append(self.texts[j].get_text().replace("\n", " "))
                continue
            self.texts[j].set_position(tuple(middle / frame))
            self.texts[j].set_visible(True)
            self.leaders[j].set_data(*(np.array([start, target]) / frame).T)
            self.leaders[j].set_visible(bool(np.hypot(*(start - target)) >= MIN_LEADER))
        _warn_of_lost(lost)

    def _find_places(
        self, seen: NDArray[np.float64], images: NDArray[np.float64], frame: NDArray[np.float64]
    ) -> list[tuple[int, Any, Any, Any]]:
        """Return text, middle, and start and end of the leader, of the classes in the view.

        The font is the largest in which all names fit; in the smallest, some may have no place.
        """
        cells, shape = grid_cells(seen, frame), grid_shape(frame)
        n_cells = shape[0] * shape[1]
        inside = ((seen >= 0) & (seen <= frame)).all(axis=1)
        shown, cores = [], []
        for j, c in enumerate(self._order.tolist()):
            counts = np.bincount(cells[inside & (self._of_point == c)], minlength=n_cells)
            if counts.any():
                shown.append(j)
                cores.append(core_of(counts.reshape(shape)))
        is_taken = np.bincount(cells[inside], minlength=n_cells).reshape(shape) > 0
        is_taken = binary_dilation(is_taken, iterations=self.clearance)
        for low, high in np.maximum(images / CELL, 0):
            is_taken[int(low[0]) : int(high[0]) + 1, int(low[1]) : int(high[1]) + 1] = True
        for factor in SCALES:
            sizes = np.array([_measure(self.texts[j], factor * self._font) for j in shown])
            boxes = place_labels(sizes.reshape(-1, 2), cores, is_taken, frame)
            if np.isfinite(boxes.middles).all():
                break
        return list(zip(shown, boxes.middles, boxes.starts, boxes.targets, strict=True))


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


def _mix(color: str, ink: str) -> str:
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
