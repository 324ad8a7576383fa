"""The colors of figures in a light and a dark page, and those of the points by what is chosen."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._html import Markup, fill
from isosne.errors import DataError
from isosne.explorer.checking import check_column, missing
from isosne.explorer.session import CHECKS, NOTHING, SELECTIONS, TRUST, Session
from isosne.pages.scene import GRADIENT_STOPS
from isosne.plots.paint import Classes, Paint, Values, as_paint, point_colors
from isosne.plots.palette import COLORS, DARK_COLORS, FAINT, FRAME, PLAIN
from isosne.studies.point_columns import paint_column


class Theme(NamedTuple):
    """Colors of figures.

    ``ink``: lines to true neighbors. ``mark``: false neighbors. ``faint`` and ``plain``: points
    without a value, among others that have one or not.
    """

    background: str
    ink: str
    frame: str
    mark: str
    faint: str
    plain: str
    classes: tuple[str, ...]

    def tint(self, paint: Paint) -> Paint:
        """Return a paint with the colors of this theme."""
        if isinstance(paint, Classes):
            return paint._replace(palette=self.classes, rest_color=self.faint)
        return paint and paint._replace(on_dark=self is DARK)


LIGHT = Theme(
    background="#ffffff",
    ink="#1d2329",
    frame=FRAME,
    mark="#1d2329",
    faint=FAINT,
    plain=PLAIN,
    classes=COLORS,
)
DARK = Theme(
    background="#15191d",
    ink="#e4e7ea",
    frame="#3a424a",
    mark="#e4e7ea",
    faint="#68737e",
    plain="#6fa8dc",
    classes=DARK_COLORS,
)
MAX_ENTRIES = 40  # most classes that a legend lists


class Painted(NamedTuple):
    """What colors the rows in each map, the colors as 0xRRGGBBAA, and the legend."""

    paints: tuple[Paint, ...]
    colors: tuple[NDArray[np.uint32], ...]
    legend: Markup


def list_choices(session: Session) -> list[str]:
    """Return what the points can be colored by; the labels come first."""
    data = session.rows
    labels = [data.label_name] if data.labels is not None else []
    selections = [SELECTIONS] if session.names else []
    columns = [column.name for column in data.columns if column.name not in labels]
    checks = CHECKS if data.mixed is None else CHECKS[:1]  # the others compare numeric columns
    return [*dict.fromkeys([*labels, NOTHING, TRUST, *selections, *checks, *columns])]


def paint(session: Session, theme: Theme = LIGHT, hidden: frozenset[int] = frozenset()) -> Painted:
    """Return the colors of each map for the chosen color; hidden: classes that are not shown."""
    title, n = session.color, session.rows.n_rows
    if session.color == TRUST and session.maps:
        measured = [session.measures.get(shown) for shown in session.maps]
        found: list[Paint] = [
            one and Values(one.trust, 0.0, 1.0, TRUST, is_trust=True) for one in measured
        ]
        title = "trust: fraction of the 10 nearest neighbors preserved"
        first = next((one for one in measured if one is not None), None)
        if first is not None and (n_known := int(np.isfinite(first.trust).sum())) < first.n_points:
            title += f", known of {n_known:,} of {first.n_points:,} points; the others follow"
    else:
        found = [_find_paint(session)]
    paints = found[0], found[-1]
    legend = _draw_legend(theme.tint(paints[0] or paints[1]), title, hidden)
    colors = tuple(pack_colors(one, n, theme) for one in paints)
    return Painted(paints, colors, legend or _tell_uncolored(session))


def _tell_uncolored(session: Session) -> Markup:
    """Return why a column has no colors; empty if none was chosen."""
    if session.color in missing(session):
        return fill("<b>{}</b><span>is computed ...</span>", session.color)
    for column in (*session.rows.described(), check_column(session, session.color)):
        if column is not None and column.name == session.color:
            many = f"{len(column.words or ()):,} distinct values, too many for colors"
            why = many if column.words else "all values are equal"
            return fill("<b>{}</b><span>{}</span>", session.color, why)
    return Markup()


def _find_paint(session: Session) -> Paint:
    data, color = session.rows, session.color
    if color == data.label_name and data.labels is not None:
        try:
            return as_paint(data.labels, data.n_rows)
        except DataError:  # too many classes
            return None
    named = session.names_column()
    if color == SELECTIONS and named is not None:
        return paint_column(named)
    found = [column for column in data.columns if column.name == color]
    column = found[0] if found else check_column(session, color)
    return column and paint_column(column)


def pack_colors(paint: Paint, n: int, theme: Theme = LIGHT) -> NDArray[np.uint32]:
    """Return the color of each of n points as 0xRRGGBBAA."""
    colors = point_colors(theme.tint(paint), np.arange(n), theme.plain, theme.faint)
    rgb = np.rint(255 * colors).astype(np.uint32)
    packed = rgb[:, 0] << 24 | rgb[:, 1] << 16 | rgb[:, 2] << 8 | 255
    return np.broadcast_to(packed.astype(np.uint32), n)


def _draw_legend(paint: Paint, title: str, hidden: frozenset[int]) -> Markup:
    if paint is None:
        return Markup()
    if isinstance(paint, Values):
        colors = ", ".join(paint.sample_scale(GRADIENT_STOPS))
        bar = '<span class="bar" style="background: linear-gradient(to right, {})"></span>'
        scale = f'<b>{{}}</b><span class="scale">{{:.4g}}{bar}{{:.4g}}</span>'
        return fill(scale, title, paint.low, colors, paint.high)
    counts = np.bincount(paint.of_point, minlength=len(paint.names)).tolist()
    entry = (
        '<button class="entry" data-ask="hide {}" aria-pressed="{}" title="Hide or show">'
        '<i style="background: {}"></i>{} <small>{:,}</small></button>'
    )
    listed = zip(paint.colors, paint.names, counts, strict=True)
    entries = [
        fill(entry, c, "false" if c in hidden else "true", *one) for c, one in enumerate(listed)
    ]
    more = len(entries) - MAX_ENTRIES
    rest = fill("<span>and {} more</span>", more) if more > 0 else ""
    return fill("<b>{}</b>{}{}", title, entries[:MAX_ENTRIES], rest)
