"""Names of classes on a map, each on the densest part of its class, with a halo.

The places are found when the figure is drawn, because only then the size of the axes is known: a
layout, a zoom or another resolution moves the texts, not the clusters.

Lengths are in typographic points, from the lower left corner of a frame in which everything lies.
The middle of a text may be at every second cell of a grid. The cost of a place is a length: the
distance to where the class is densest, plus a penalty for covered points of other classes. Texts
are placed one after another, and then moved one at a time until none has a better place; one that
is away from its class has a leader line. There are no random numbers: the same map has the same
places.
"""

import warnings
from collections.abc import Sequence
from textwrap import shorten, wrap
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, gaussian_filter

from isosne.errors import IsosneWarning
from isosne.plots.figures import POINTS_PER_INCH, Style, set_literal, text_width
from isosne.plots.paint import Classes
from isosne.plots.palette import Floats, to_hex, to_rgb

Mask = NDArray[np.bool_]

# Chosen by eye.
LINE_LETTERS, MAX_LETTERS = 20, 55  # per line of a name, and in all; longer names are cut
LINE_HEIGHT = 1.25  # of a line relative to the font size
SCALES = (1.1, 1.0, 0.9, 0.8, 0.7, 0.6)  # font sizes that are tried, relative to that of the style
MIN_LEADER = 10.0  # shortest leader line that is drawn, in points: a nearer text needs none
INK_SHARE = 0.5
"""Share of the ink in the color of a name; the rest is the color of its class. Every color then has
a contrast of at least 4.5 to the background, as WCAG 2 asks for."""
CELL = 3.0  # side of a grid cell in points: about a third of the height of a text
STRIDE = 2  # candidates are this many cells apart
SMOOTHING = 4.0  # standard deviation, in cells, of the smoothed density of a region
GAP = 2.0  # least distance between two texts, and between a text and the frame
COVER_COST = 60.0  # distance that is as bad as a box that lies on other classes altogether
MAX_ROUNDS = 8  # of moves; a round without a move is the last. 60 texts need about four


class ClassNames(Artist):
    """The texts of the classes that have points, largest first, and their leader lines.

    They are added to axes; ``in_color`` if the points have the colors of the classes.
    """

    def __init__(
        self, ax: Axes, points: Floats, classes: Classes, style: Style, *, in_color: bool
    ) -> None:
        super().__init__()
        counts = np.bincount(classes.of_point, minlength=len(classes.names))[: classes.n_classes]
        self._order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        self._points, self._of_point = points, classes.of_point
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
        ax.add_artist(self)
        for part in self.get_children():
            part.set_figure(ax.get_figure(root=False))  # type: ignore[arg-type]  # axes have one
            part.axes = ax
            part.set_transform(ax.transAxes)

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
        points = (self.axes.transData.transform(self._points) - box.min) * scale
        for part in self.get_children():
            part.set_visible(False)
        lost = []
        for j, middle, half, peak in self._find_places(points, frame):
            if np.isnan(middle).any():
                lost.append(self.texts[j].get_text().replace("\n", " "))
                continue
            self.texts[j].set_position(tuple(middle / frame))
            self.texts[j].set_visible(True)
            start = np.clip(peak, middle - half, middle + half)
            self.leaders[j].set_data(*(np.array([start, peak]) / frame).T)
            self.leaders[j].set_visible(bool(np.hypot(*(start - peak)) >= MIN_LEADER))
        if lost:
            count = f"{len(lost)} name{'s' * (len(lost) > 1)}"
            warnings.warn(
                f"There is no room on the map for {count}, such as {lost[0]!r}. "
                "Enlarge the figure, or use a legend.",
                IsosneWarning,
                stacklevel=2,
            )

    def _find_places(self, points: Floats, frame: Floats) -> list[tuple[int, Any, Any, Any]]:
        """Return text, middle, half size and densest place of the classes in the view."""
        inside = ((points >= 0) & (points <= frame)).all(axis=1)
        points, of_point = points[inside], self._of_point[inside]
        shown, regions, total = [], [], count_in_grid(points, frame)
        for j, c in enumerate(self._order.tolist()):
            counts = count_in_grid(points[of_point == c], frame)
            if counts.any():
                shown.append(j)
                regions.append((find_peak(counts), binary_dilation(total > counts)))
        for factor in SCALES:  # the largest in which all names fit; some may have no place
            sizes = [np.array(_measure(self.texts[j], factor * self._font)) for j in shown]
            listed = zip(sizes, regions, strict=True)
            middles = place_labels([list_places(size, *region, frame) for size, region in listed])
            if np.isfinite(middles).all():
                break
        peaks = [peak for peak, _ in regions]
        return list(zip(shown, middles, np.array(sizes) / 2, peaks, strict=True))


def count_in_grid(points: Floats, frame: Floats) -> NDArray[np.int64]:
    """Return the number of points in each cell of a frame, across and up."""
    shape = np.maximum(np.ceil(frame / CELL), 1).astype(np.int64)
    across, up = np.minimum(np.floor(points / CELL).astype(np.int64), shape - 1).T
    return np.bincount(across * shape[1] + up, minlength=shape.prod()).reshape(shape)


def _make_text(name: str, color: str, background: str) -> Text:
    lines = wrap(shorten(name, MAX_LETTERS, placeholder=" ..."), LINE_LETTERS)
    halo = [withStroke(linewidth=3.0, foreground=background)]
    text = Text(0, 0, "\n".join(lines) or name, color=color, path_effects=halo, weight="bold")
    text.set(horizontalalignment="center", verticalalignment="center", multialignment="center")
    text.set_linespacing(1.1)
    set_literal(text)
    return text


def _measure(text: Text, size: float) -> tuple[float, float]:
    """Set the font size of a text; return its width and height in points."""
    text.set_fontsize(size)
    lines = text.get_text().splitlines() or [""]
    width = POINTS_PER_INCH * max(text_width(line, size, "bold") for line in lines)
    return width, LINE_HEIGHT * size * len(lines)


def mix(color: str, ink: str) -> str:
    """Return the color of a name: that of its class with some ink, to be legible."""
    rgb, black = to_rgb([color, ink])
    return to_hex((1 - INK_SHARE) * rgb[None] + INK_SHARE * black)[0]


class Place(NamedTuple):
    """Where a text may be: middles (c, 2) and their costs (c,) but for others; its half size."""

    middles: Floats
    costs: Floats
    half: Floats


def place_labels(places: Sequence[Place]) -> Floats:
    """Return the middles (m, 2) of texts, NaN without room; earlier ones have the first choice."""
    middles, halves = np.full((len(places), 2), np.nan), np.array([place.half for place in places])
    for _ in range(MAX_ROUNDS):
        before = middles.copy()
        for j, place in enumerate(places):
            middles[j] = np.nan  # beside which there is room
            apart = np.abs(place.middles[:, None] - middles) - (place.half + halves)
            free = ~np.any(np.all(apart < GAP, axis=2), axis=1)
            if free.any():
                middles[j] = place.middles[np.where(free, place.costs, np.inf).argmin()]
        if np.array_equal(middles, before, equal_nan=True):
            break
    return middles


def find_peak(counts: NDArray[np.int64]) -> Floats:
    """Return the middle (2,) of the densest cell, from the number of points in each."""
    density = gaussian_filter(counts.astype(np.float64), SMOOTHING, mode="constant")
    return (np.array(np.unravel_index(density.argmax(), counts.shape)) + 0.5) * CELL


def list_places(size: Floats, peak: Floats, others: Mask, frame: Floats) -> Place:
    """Return the places of a text of a size (2,) in a frame, from the cells of other classes."""
    cells = STRIDE * np.indices([-(-n // STRIDE) for n in others.shape]).reshape(2, -1).T
    half, middles = size / 2, np.asarray((cells + 0.5) * CELL, np.float64)
    middles = middles[((middles - half >= GAP) & (middles + half <= frame - GAP)).all(axis=1)]
    low = np.floor((middles - half) / CELL).astype(np.int64)
    high = np.minimum(np.ceil((middles + half) / CELL).astype(np.int64), others.shape)
    covered = count_in_boxes(others, low, high) / (high - low).prod(axis=1)
    return Place(middles, np.linalg.norm(middles - peak, axis=1) + COVER_COST * covered, half)


def count_in_boxes(
    is_taken: Mask, low: NDArray[np.int64], high: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the number of taken cells in each box of cells, from low (c, 2) to before high."""
    sums = np.zeros((is_taken.shape[0] + 1, is_taken.shape[1] + 1), np.int64)
    sums[1:, 1:] = is_taken.cumsum(axis=0).cumsum(axis=1)
    (left, bottom), (right, top) = low.T, high.T
    above = sums[right, top] - sums[left, top]
    return np.asarray(above - (sums[right, bottom] - sums[left, bottom]))
