"""Maps as linked Bokeh figures over one data source: coloring, hovering and selection.

The data source contains only numbers. Texts (names of columns, classes and maps) are embedded in
the page as JSON, and its script inserts them as text. Names chosen by a user are therefore never
interpreted as HTML.
"""

import math
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from itertools import combinations
from typing import Any, NamedTuple

import bokeh.models as bk
import numpy as np
from bokeh.document import Document
from bokeh.embed import file_html
from bokeh.models.renderers import GlyphRenderer
from bokeh.resources import Resources
from jinja2 import Environment, PackageLoader, StrictUndefined

import isosne
from isosne._html import escape
from isosne._types import Array
from isosne.errors import ParameterError, suggest
from isosne.plots import palette, raster
from isosne.plots.paint import Classes, Paint, Values
from isosne.studies.point_columns import Column, paint_column

AXES = ("x", "y", "z")
STRIP_SHARE = 0.4  # height of a one-dimensional map relative to its width
SIDE = 560  # typical side of a map in pixels, from which the size of the points is derived
MIN_SIZE, MAX_SIZE = 2.0, 9.0  # of the diameter of a point in pixels; chosen by eye
UNSELECTED_ALPHA = 0.08  # opacity of unselected points while others are selected; chosen by eye
N_COLORS = 64  # of a continuous scale; chosen
GRADIENT_STOPS = 9  # colors of the gradient of a legend, which the browser interpolates


class _OwnResources(Resources):
    """Bokeh's scripts, inline.

    Bokeh adds the scripts of all models that the process knows, such as those of Panel after
    `isosne.explore`. They are files on a server, which a page does not have.
    """

    def _collect_external_resources(self, resource_attr: Any) -> list[str]:
        return []

    def clone(self, *, components: Any = None) -> "_OwnResources":
        return _OwnResources(mode="inline", minified=True, components=components)


class NamedMap(NamedTuple):
    """A map (n, 1), (n, 2) or (n, 3) and its title."""

    title: str
    Y: palette.Floats


class Choice(NamedTuple):
    """What the maps can be colored by: its title, and the paint of each map."""

    title: str
    paints: tuple[Classes | Values, ...]


class Panel(NamedTuple):
    """A figure, its title, the index of its map, and the glyphs to recolor."""

    title: str
    figure: bk.Plot
    of_map: int
    glyphs: list[bk.Scatter]


class Scene:
    """The figures of maps of the same points, and the texts that belong to them.

    Readers color ``panels`` by the labels, by the trust of each map or by a column, initially by
    ``color``; ``trust_panels`` of a report are always colored by trust. On hover they see the
    columns of ``hover``, or all, and ``images``. ``about`` is read by the script of the page.
    """

    def __init__(
        self,
        maps: Sequence[NamedMap],
        labels: Paint,
        trusts: Sequence[Values],
        columns: Sequence[Column],
        *,
        trust_columns: Sequence[Column] = (),
        color: str | None = None,
        hover: Sequence[str] | None = None,
        images: dict[str, Any] | None = None,
        is_report: bool = False,
    ) -> None:
        choices = _offer_choices(labels, trusts, columns, len(maps))
        first = _find_choice(choices, color)
        paints = choices[first].paints if choices else (None,) * len(maps)
        self._order = raster.drawing_order(paints[0], len(maps[0].Y))
        self._fields: dict[str, Array] = {"row": self._order.astype(np.int32)}
        shown = [*_label_columns(labels), *trust_columns, *columns]
        self.about: dict[str, Any] = {
            "columns": [
                {
                    "name": column.name,
                    "field": self._add(f"c{c}", column.data),
                    "words": column.words,
                }
                for c, column in enumerate(shown)
            ],
            "choices": [self._add_choice(f"p{c}", choice) for c, choice in enumerate(choices)],
            "coordinates": [
                coordinate
                for m, named in enumerate(maps)
                for coordinate in self._add_map(m, named, paints[m], is_alone=len(maps) == 1)
            ],
            "first": first,
            "hover": _find_hover(hover, [column.name for column in shown]),
            "images": images,
            "plain": (palette.PLAIN, palette.DARK_PLAIN),
            "faint": (palette.FAINT, palette.DARK_FAINT),
            "lines": (palette.LINE_COLORS, palette.DARK_LINE_COLORS),
        }
        self._source = bk.ColumnDataSource(self._fields)
        self._filter = bk.BooleanFilter()
        self._view = bk.CDSView(filter=self._filter)
        self._mappers = [_make_mapper(choice.paints[0]) for choice in choices]
        self._hover = bk.CustomJS(args={"source": self._source}, code=_read_asset("hover.js"))
        self._is_report = is_report
        self.n_points = len(self._order)
        self.is_strip = maps[0].Y.shape[1] == 1
        faces = [Y[:, pair] for _, Y in maps for pair in combinations(range(Y.shape[1]), 2)]
        aspects = [raster.own_aspect(raster.find_limits(face)) for face in faces]
        self.aspect = STRIP_SHARE if self.is_strip else float(np.median(aspects))
        self.curves: list[bk.Plot] = []  # other figures of the page
        self.panels = self._draw(maps, first, "map")
        kinds = [choice["kind"] for choice in self.about["choices"]]
        self.trust_panels = self._draw(maps, kinds.index("trust"), "trust") if is_report else []

    def render(self, template: str, *, title: str, **variables: Any) -> str:
        """Return a self-contained HTML document: a template, which escapes all variables."""
        loader = PackageLoader("isosne.pages", "assets")
        templates = Environment(
            loader=loader, autoescape=True, finalize=escape, undefined=StrictUndefined
        )
        variables |= {"scene": self, "about": self.about}
        variables["digests"] = digests
        return file_html(
            self._as_document(),
            _OwnResources(mode="inline", minified=True),
            title,
            template=templates.get_template(template),
            template_variables=variables | {"version": isosne.__version__},
        )

    def _add(self, field: str, values: Array) -> str:
        """Add a field in drawing order; return its name."""
        self._fields[field] = values[self._order]
        return field

    def _add_map(self, m: int, named: NamedMap, paint: Paint, *, is_alone: bool) -> list[Any]:
        """Add the positions of the points of map m; return descriptions of its coordinates."""
        positions = raster.position_points(named.Y, paint).astype(np.float32)
        fields = [self._add(f"m{m}{AXES[a]}", values) for a, values in enumerate(positions.T)]
        return [
            {"name": axis if is_alone else f"{named.title}, {axis}", "field": field, "words": None}
            for axis, field in zip(AXES[: named.Y.shape[1]], fields, strict=False)
        ]

    def _add_choice(self, field: str, choice: Choice) -> dict[str, Any]:
        """Add the numbers that a choice colors by; return the description of its legend."""
        fields: list[str] = []
        for m, paint in enumerate(choice.paints):
            if m and paint is choice.paints[0]:
                fields.append(fields[0])
            elif isinstance(paint, Classes):
                fields.append(self._add(f"{field}_{m}", paint.of_point.astype(np.int32)))
            else:
                shares = paint.shares(paint.numbers).astype(np.float32)
                fields.append(self._add(f"{field}_{m}", shares))
        first = choice.paints[0]
        described = {"title": choice.title, "fields": fields, "palettes": _find_palettes(first)}
        if isinstance(first, Classes):
            counts = np.bincount(first.of_point, minlength=len(first.names)).tolist()
            listed = zip(first.names, counts, strict=True)
            entries = [{"name": name, "count": count} for name, count in listed]
            return described | {"kind": "classes", "classes": entries}
        kind = "trust" if first.is_trust else "values"
        return described | {"kind": kind, "name": first.title or choice.title, "ends": first.ends}

    def _as_document(self) -> Document:
        document = Document()
        maps = [panel.figure for panel in (*self.panels, *self.trust_panels)]
        figures = [*maps, *self.curves]
        for figure in figures:
            document.add_root(figure)
        args = {
            "source": self._source,
            "filter": self._filter,
            "panels": [[panel.glyphs, panel.of_map] for panel in self.panels],
            "others": [[panel.glyphs, panel.of_map] for panel in self.trust_panels],
            "mappers": self._mappers,
            "maps": maps,
            "curves": self.curves,
            "pans": [figure.toolbar.active_drag for figure in maps if self._is_report],
        }
        document.js_on_event(
            "document_ready",
            bk.CustomJS(args=args, code=_read_asset("map.js")),
            bk.CustomJS(args={"figures": figures}, code=_read_asset("print.js")),
        )
        return document

    def _draw(self, maps: Sequence[NamedMap], choice: int, name: str) -> list[Panel]:
        """Return one figure for each map, or three projections of a three-dimensional map."""
        panels = []
        for m, named in enumerate(maps):
            n_dims = named.Y.shape[1]
            for a, b in combinations(range(max(2, n_dims)), 2):
                face = f"{AXES[a]} and {AXES[b]}" if n_dims == 3 else ""
                title = ": ".join(part for part in (named.title, face) if part)
                x, y = f"m{m}{AXES[a]}", f"m{m}{AXES[b]}"
                glyphs = self._make_glyphs(x, y, m, choice)
                figure = self._make_figure(f"{name}-{m}-{a}{b}", x, y)
                self._add_points(figure, *glyphs)
                panels.append(Panel(title, figure, m, glyphs))
        return panels

    def _make_figure(self, name: str, x: str, y: str) -> bk.Plot:
        positions = np.column_stack([self._fields[x], self._fields[y]]).astype(np.float64)
        low, high = raster.find_limits(positions)
        if not self.is_strip:  # lanes have no equal scales
            low, high = raster.frame_corners((low, high), self.aspect)
        wheel, pan = bk.WheelZoomTool(), bk.PanTool()
        others = bk.LassoSelectTool(), bk.ResetTool(), bk.SaveTool(filename="map")
        toolbar = bk.Toolbar(tools=[pan, wheel, *others], logo=None, active_drag=pan)
        toolbar.active_scroll = None if self._is_report else wheel  # the wheel scrolls a report
        return bk.Plot(
            name=name,
            x_range=bk.Range1d(start=low[0], end=high[0]),
            y_range=bk.Range1d(start=low[1], end=high[1]),
            toolbar=toolbar,
            toolbar_location="above",
            sizing_mode="stretch_both",
            output_backend="webgl",
            min_border=0,
            title=None,
        )

    def _add_points(
        self, figure: bk.Plot, normal: bk.Scatter, unselected: bk.Scatter, hovered: bk.Scatter
    ) -> None:
        renderer = GlyphRenderer(data_source=self._source, view=self._view, glyph=normal)
        renderer.nonselection_glyph, renderer.hover_glyph = unselected, hovered
        figure.renderers.append(renderer)
        how: dict[str, Any] = {"tooltips": None, "callback": self._hover, "visible": False}
        figure.add_tools(bk.HoverTool(renderers=[renderer], **how))

    def _make_glyphs(self, x: str, y: str, m: int, choice: int) -> list[bk.Scatter]:
        """Return the normal, unselected and hovered glyphs of a map."""
        n = len(self._order)
        style: dict[str, Any] = {
            **{"x": x, "y": y, "fill_color": palette.PLAIN, "line_color": None},
            "size": float(np.clip(math.sqrt(raster.COVERAGE * SIDE**2 / n), MIN_SIZE, MAX_SIZE)),
        }
        if self._mappers:
            chosen = self.about["choices"][choice]
            style["fill_color"] = {"field": chosen["fields"][m], "transform": self._mappers[choice]}
        return [
            bk.Scatter(**style, fill_alpha=raster.auto_alpha(n)),
            bk.Scatter(**style, fill_alpha=UNSELECTED_ALPHA),
            bk.Scatter(**style | {"line_color": "black"}, line_width=1.5),  # ink, once shown
        ]


def digests(scripts: str) -> str:
    """Return digests of scripts as a policy names them: no others run in the page."""
    codes = re.findall("<script[^>]*>(.*?)</script>", scripts, re.S)
    found = [b64encode(sha256(code.encode()).digest()).decode() for code in codes]
    return " ".join(f"'sha256-{digest}'" for digest in found)


def _read_asset(name: str) -> str:
    return files("isosne.pages").joinpath("assets", name).read_text("utf-8")


def _offer_choices(
    labels: Paint, trusts: Sequence[Values], columns: Sequence[Column], n_maps: int
) -> list[Choice]:
    """Return what maps of the same points can be colored by: labels, trust, then columns."""
    named = [(column.name, paint_column(column)) for column in columns]
    if labels is not None:
        named.insert(0, (labels.title or "label", labels))
    choices = [Choice(title, (paint,) * n_maps) for title, paint in named if paint is not None]
    if trusts:
        choices.insert(labels is not None, Choice("trust", tuple(trusts)))
    return choices


def _find_choice(choices: Sequence[Choice], color: str | None) -> int:
    """Return the index of the choice with this title; 0 for None."""
    if color is None:
        return 0
    titles = [choice.title for choice in choices]
    if color not in titles:
        rule = f"be one of {', '.join(titles)}" if titles else "be None for a page without colors"
        hint = "Constant columns, and text that differs in almost every row, cannot be used."
        raise ParameterError("color", rule, color, suggest(color, titles, hint))
    return titles.index(color)


def _label_columns(paint: Paint) -> list[Column]:
    """Return the column of labels in a list, which is empty without labels."""
    if isinstance(paint, Classes):
        words = [*paint.names[: paint.n_classes], *[""] * paint.has_rest]
        return [Column(paint.title or "label", paint.of_point.astype(np.int32), words)]
    return [] if paint is None else [Column(paint.title or "label", paint.numbers)]


def _find_hover(hover: Sequence[str] | None, names: list[str]) -> list[int] | None:
    """Return the indices of the columns to show on hover; None: all."""
    if hover is None:
        return None
    asked = [hover] if isinstance(hover, str) else list(hover)
    for name in asked:
        if name not in names:
            known = f"name columns of the page: {', '.join(names)}" if names else "be None"
            raise ParameterError("hover", known, name, "The names are case-sensitive.")
    return [names.index(name) for name in asked]


def _find_palettes(paint: Classes | Values) -> tuple[list[str], list[str]]:
    """Return the colors of a paint on a light and on a dark page."""
    if isinstance(paint, Classes):
        return paint.colors, palette.on_dark(paint.colors)
    light, dark = (
        paint._replace(on_dark=is_dark).sample_scale(N_COLORS) for is_dark in (False, True)
    )
    return light, dark


def _make_mapper(paint: Classes | Values) -> bk.LinearColorMapper:
    colors, n = _find_palettes(paint)[0], len(getattr(paint, "names", ()))
    low, high = (-0.5, n - 0.5) if n else (0.0, 1.0)
    return bk.LinearColorMapper(palette=colors, low=low, high=high, nan_color=palette.FAINT)
