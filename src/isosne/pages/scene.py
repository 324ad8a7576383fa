"""Maps as Bokeh figures that share one table: colored, hidden, hovered and selected together.

Bokeh gets numbers alone. All words (names, columns, classes) go into `Scene.about`, which the page
writes as JSON and ``assets/map.js`` reads: nothing that a user named is ever read as HTML.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from bokeh.models import (
    BooleanFilter,
    CDSView,
    ColorMapper,
    ColumnDataSource,
    CustomJS,
    GlyphRenderer,
    HoverTool,
    LassoSelectTool,
    LinearColorMapper,
    PanTool,
    Range1d,
    ResetTool,
    SaveTool,
    Scatter,
    WheelZoomTool,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from isosne._types import Array
from isosne.pages.assets import read_asset
from isosne.pages.choices import Choice
from isosne.pages.columns import Column
from isosne.plots.figures import FRAME, scale_of
from isosne.plots.frames import limits, place
from isosne.plots.paint import Classes, Paint, Values
from isosne.plots.palette import FAINT, FEW_CLASSES, PLAIN, class_color, class_shape
from isosne.plots.points import COVERED, DOTS, auto_alpha

SIDE = 560
"""Pixels of a map, for the size of its points."""
SHADES = 64
STOPS = 9
"""Colors of a scale that the legend blends."""
AXES = ("x", "y", "z")
MARKERS = {"o": "circle", "s": "square", "^": "triangle", "D": "diamond"}
Figure = Any  # bokeh.plotting.figure returns what no type names


class NamedMap(NamedTuple):
    """A map (n, 1), (n, 2) or (n, 3) and what it is called."""

    title: str
    Y: NDArray[np.float64]


class Panel(NamedTuple):
    """A figure: its name in the template, its title, the glyphs to color, the map it shows."""

    name: str
    title: str
    drawn: Figure
    glyphs: list[Scatter]
    of_map: int
    is_fixed: bool


class Scene:
    """The figures of some maps of the same points, and the words that belong to them.

    Parameters
    ----------
    maps : sequence of NamedMap
        The maps, all of one number of dimensions.
    columns : sequence of Column
        What a reader sees of a point, and gets of those selected.
    choices : sequence of Choice
        What the maps can be colored by; they start with the first.
    zoom_by_wheel : bool
        Whether the wheel zooms from the start; on a long page it should scroll.
    """

    def __init__(
        self,
        maps: Sequence[NamedMap],
        columns: Sequence[Column],
        choices: Sequence[Choice],
        *,
        zoom_by_wheel: bool,
    ) -> None:
        n = len(maps[0].Y)
        self.maps, self.columns, self.choices = maps, columns, choices
        self.order = np.random.default_rng(0).permutation(n)  # so that no class hides another
        self.size = float(np.clip(math.sqrt(COVERED * SIDE**2 / n), 2.0, 9.0))
        self.alpha = auto_alpha(n)
        self.zoom_by_wheel = zoom_by_wheel
        self.source = ColumnDataSource()
        self.filter = BooleanFilter()
        self.view = CDSView(filter=self.filter)
        self.tip = CustomJS(args={"source": self.source}, code=read_asset("hover.js"))
        self._add("row", np.arange(n, dtype=np.int32))
        self.mappers = [_mapper(choice.paints[0]) for choice in choices]
        self.about: dict[str, Any] = {
            "plain": PLAIN,
            "columns": [self._add_column(f"c{c}", column) for c, column in enumerate(columns)],
            "choices": [self._add_choice(f"p{c}", choice) for c, choice in enumerate(choices)],
            "coordinates": self._add_coordinates(),
        }
        self.panels = [
            panel
            for m, named in enumerate(maps)
            for panel in self._faces(m, named, f"map-{m}", None)
        ]

    def add_trust(self) -> None:
        """Add a figure of each map that is colored by trust for good."""
        number = [choice.title for choice in self.choices].index("trust")
        for m, named in enumerate(self.maps):
            self.panels += self._faces(m, named, f"trust-{m}", number)

    def script(self) -> CustomJS:
        """Return the script that ties the controls of the page to the figures."""
        panels = [[panel.glyphs, panel.of_map] for panel in self.panels if not panel.is_fixed]
        args = {
            "source": self.source,
            "filter": self.filter,
            "panels": panels,
            "mappers": self.mappers,
        }
        return CustomJS(args=args, code=read_asset("map.js"))

    def _add(self, field: str, values: Array) -> None:
        self.source.data[field] = values[self.order]  # type: ignore[index]  # a plain dict

    def _add_column(self, field: str, column: Column) -> dict[str, Any]:
        self._add(field, column.data)
        return {"name": column.name, "field": field, "words": column.words}

    def _add_coordinates(self) -> list[dict[str, Any]]:
        """Add where the points are; return the columns that a file of selected rows gets."""
        named = []
        for m, (title, Y) in enumerate(self.maps):
            for a in range(Y.shape[1]):
                self._add(f"m{m}{AXES[a]}", Y[:, a].astype(np.float32))
                name = AXES[a] if len(self.maps) == 1 else f"{title}, {AXES[a]}"
                named.append({"name": name, "field": f"m{m}{AXES[a]}", "words": None})
        return named

    def _add_choice(self, field: str, choice: Choice) -> dict[str, Any]:
        """Add the numbers that a choice colors by; return what its legend says."""
        first = choice.paints[0]
        fields = []
        for p, paint in enumerate(choice.paints):
            if p and paint is first:
                fields.append(fields[0])
                continue
            fields.append(f"{field}_{p}")
            is_classes = isinstance(paint, Classes)
            values = paint.of_point.astype(np.int32) if is_classes else paint.numbers
            self._add(fields[-1], values)
        told: dict[str, Any] = {"title": choice.title, "fields": fields}
        if isinstance(first, Values):
            colors = _shades(first, STOPS)
            scale = {"low": first.low, "high": first.high, "colors": colors}
            return told | {"kind": "trust" if first.is_trust else "values", **scale}
        shapes = self._shapes(first)
        shape_field = None
        if shapes:
            shape_field = f"{field}_shape"
            self.source.data[shape_field] = [shapes[c] for c in first.of_point[self.order]]  # type: ignore[index]
        counts = np.bincount(first.of_point, minlength=len(first.names)).tolist()
        classes = [
            {"name": name, "color": class_color(c), "count": counts[c]}
            | {"shape": shapes[c] if shapes else "circle"}
            for c, name in enumerate(first.names)
        ]
        return told | {"kind": "classes", "classes": classes, "shapes": shape_field}

    def _shapes(self, classes: Classes) -> list[str]:
        """Return the marker of each class, where colors are not enough and points are few."""
        n = len(classes.names)
        if n <= FEW_CLASSES or len(self.order) > DOTS:
            return []
        return [MARKERS[class_shape(c, n)] for c in range(n)]

    def _faces(self, m: int, named: NamedMap, name: str, number: int | None) -> list[Panel]:
        """Return the figure of a map, or three of a map in space: one for each pair of axes."""
        is_fixed = number is not None
        if named.Y.shape[1] == 3:
            return [
                self._panel(m, (a, b), (f"{name}-{a}{b}", f"{named.title}, {AXES[a]} and {AXES[b]}"))
                for a, b in combinations(range(3), 2)
            ]
        return [self._panel(m, (0, 1), (name, named.title), number, is_fixed=is_fixed)]

    def _panel(self, m: int, axes, names, number=None, *, is_fixed=False) -> Panel: ...
