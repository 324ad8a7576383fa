"""Maps as Bokeh figures over one table: colored, hidden, hovered and selected together."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from bokeh.document import Document
from bokeh.models import (
    BooleanFilter,
    CDSView,
    ColumnDataSource,
    CustomJS,
    HoverTool,
    LassoSelectTool,
    LinearColorMapper,
    PanTool,
    Plot,
    Range1d,
    ResetTool,
    SaveTool,
    Scatter,
    Toolbar,
    WheelZoomTool,
)
from bokeh.models.renderers import GlyphRenderer

from isosne._types import Array
from isosne.pages.assets import read_asset
from isosne.pages.choices import Choice
from isosne.pages.table import AXES, NamedMap, Table, place_field, shades
from isosne.plots.figures import FRAME
from isosne.plots.frames import MARGIN
from isosne.plots.paint import Classes, Values
from isosne.plots.palette import FAINT, PLAIN
from isosne.plots.points import COVERED, auto_alpha
from isosne.studies.point_columns import Column

SIDE = 560
"""Pixels of a map, for the size of its points."""
SMALLEST, LARGEST = 2.0, 9.0
"""Pixels of a point."""
LEFT_OUT = 0.08
"""Opacity of points that are not selected, while others are."""
SHADES = 64


class Panel(NamedTuple):
    """A figure, what it is called, the map that it shows, and the glyphs to color."""

    title: str
    figure: Plot
    of_map: int
    glyphs: list[Scatter]


class Scene:
    """The figures of maps of the same points, and the words that belong to them.

    ``panels`` are colored by what the reader chooses, and by choice ``first`` before;
    ``trust_panels`` by trust for good; ``about`` is what the script of the page reads.
    """

    def __init__(
        self,
        maps: Sequence[NamedMap],
        columns: Sequence[Column],
        choices: Sequence[Choice],
        *,
        first: int = 0,
        is_report: bool,
    ) -> None:
        paints = choices[first].paints if choices else (None,) * len(maps)
        table = Table(len(maps[0].Y), paints[0])
        self.about: dict[str, Any] = {
            "columns": [table.add_column(f"c{c}", column) for c, column in enumerate(columns)],
            "choices": [table.add_choice(f"p{c}", choice) for c, choice in enumerate(choices)],
            "coordinates": [
                coordinate
                for m, named in enumerate(maps)
                for coordinate in table.add_map(m, named, paints[m], is_alone=len(maps) == 1)
            ],
            "first": first,
        }
        self._source = ColumnDataSource(table.fields)
        self._filter = BooleanFilter()
        self._view = CDSView(filter=self._filter)
        self._mappers = [_mapper(choice.paints[0]) for choice in choices]
        self._hover = CustomJS(args={"source": self._source}, code=read_asset("hover.js"))
        self._is_report = is_report
        self.is_strip = maps[0].Y.shape[1] == 1
        self.extra: list[Plot] = []  # other figures of the page
        self.panels = self._draw(maps, first, "map")
        kinds = [choice["kind"] for choice in self.about["choices"]]
        self.trust_panels = self._draw(maps, kinds.index("trust"), "trust") if is_report else []

    def as_document(self) -> Document:
        """Return the figures as a Bokeh document whose script ties them to the page's controls."""
        document = Document()
        maps = [panel.figure for panel in (*self.panels, *self.trust_panels)]
        figures = [*maps, *self.extra]
        for figure in figures:
            document.add_root(figure)
        args = {
            "source": self._source,
            "filter": self._filter,
            "panels": [[panel.glyphs, panel.of_map] for panel in self.panels],
            "mappers": self._mappers,
            "pans": [figure.toolbar.active_drag for figure in maps if self._is_report],
        }
        scripts = (
            CustomJS(args=args, code=read_asset("map.js")),
            CustomJS(args={"figures": figures}, code=read_asset("print.js")),
        )
        document.js_on_event("document_ready", *scripts)
        return document

    def _draw(self, maps: Sequence[NamedMap], choice: int, name: str) -> list[Panel]:
        """Return a figure of each map, and three of a map in space: one for each pair of axes."""
        panels = []
        for m, named in enumerate(maps):
            n_dims = named.Y.shape[1]
            for a, b in combinations(range(max(2, n_dims)), 2):
                face = f"{AXES[a]} and {AXES[b]}" if n_dims == 3 else ""
                title = ": ".join(part for part in (named.title, face) if part)
                fields = place_field(m, a), place_field(m, b)
                renderer, glyphs = self._renderer(fields, m, choice)
                figure = self._figure(f"{name}-{m}-{a}{b}", fields, renderer)
                panels.append(Panel(title, figure, m, glyphs))
        return panels

    def _figure(
        self, name: str, fields: tuple[str, str], renderer: "GlyphRenderer[Scatter]"
    ) -> Plot:
        places = np.column_stack([self._source.data[field] for field in fields])
        low, high = _corners(places.astype(np.float64), is_strip=self.is_strip)
        wheel, pan = WheelZoomTool(), PanTool()
        toolbar = Toolbar(
            tools=[pan, wheel, LassoSelectTool(), ResetTool(), SaveTool(filename="map")],
            logo=None,
            active_drag=pan,
            active_scroll=None if self._is_report else wheel,  # a report is scrolled
        )
        drawn = Plot(
            name=name,
            x_range=Range1d(start=low[0], end=high[0]),
            y_range=Range1d(start=low[1], end=high[1]),
            toolbar=toolbar,
            toolbar_location="above",
            sizing_mode="stretch_both",
            output_backend="webgl",
            min_border=0,
            outline_line_color=FRAME,
            title=None,
        )
        drawn.renderers.append(renderer)
        hover = HoverTool(renderers=[renderer], tooltips=None, callback=self._hover, visible=False)
        drawn.add_tools(hover)
        return drawn

    def _renderer(
        self, fields: tuple[str, str], m: int, choice: int
    ) -> tuple["GlyphRenderer[Scatter]", list[Scatter]]:
        """Return the points of a map, and the glyphs that draw them at rest and otherwise."""
        n = len(self._source.data["row"])
        style: dict[str, Any] = {
            "x": fields[0],
            "y": fields[1],
            "size": float(np.clip(math.sqrt(COVERED * SIDE**2 / n), SMALLEST, LARGEST)),
            "fill_color": PLAIN,
            "line_color": None,
        }
        if self._mappers:
            told = self.about["choices"][choice]
            style["fill_color"] = {"field": told["fields"][m], "transform": self._mappers[choice]}
            if told.get("shape_field"):
                style["marker"] = {"field": told["shape_field"]}
        glyph = Scatter(**style, fill_alpha=auto_alpha(n))
        left_out = Scatter(**style, fill_alpha=LEFT_OUT)
        hovered = Scatter(**style | {"line_color": "black"}, line_width=1.5)
        renderer = GlyphRenderer(
            data_source=self._source,
            view=self._view,
            glyph=glyph,
            nonselection_glyph=left_out,
            hover_glyph=hovered,
        )
        return renderer, [glyph, left_out, hovered]


def _corners(places: Array, *, is_strip: bool) -> tuple[Array, Array]:
    """Return the corners of a view: a square, so that distances are true; lanes may stretch."""
    low, high = places.min(axis=0), places.max(axis=0)
    half = (high - low) / 2 if is_strip else np.full(2, (high - low).max() / 2)
    half = np.where(half > 0, half, 0.5) * (1 + 2 * MARGIN)
    middle = (low + high) / 2
    return middle - half, middle + half


def _mapper(paint: Classes | Values) -> LinearColorMapper:
    if isinstance(paint, Classes):
        palette = paint.colors
        return LinearColorMapper(palette=palette, low=-0.5, high=len(palette) - 0.5)
    palette = shades(paint, SHADES)
    return LinearColorMapper(palette=palette, low=paint.low, high=paint.high, nan_color=FAINT)
