"""The colors of the points: by label, trust, density, named selection, or column."""

import html
from typing import NamedTuple

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from isosne._types import Array
from isosne.errors import DataError
from isosne.explorer.measuring import Measured, Measurer
from isosne.explorer.session import DENSITY, NOTHING, SELECTIONS, TRUST, Session
from isosne.explorer.themes import LIGHT, Theme
from isosne.pages.choices import paint_column
from isosne.pages.table import GRADIENT_STOPS
from isosne.plots.paint import Classes, Paint, Values, as_paint
from isosne.studies.point_columns import Column

N_COLORS = 256
"""Colors of a continuous scale."""
MAX_MIXED = 20_000
"""Most rows with mixed columns whose density is offered: it compares all pairs of rows (chosen)."""
MAX_ENTRIES = 40
"""Most classes that a legend lists."""


class Painted(NamedTuple):
    """Colors of the rows in each map, as 0xRRGGBBAA, and the legend as HTML."""

    colors: tuple[NDArray[np.uint32], ...]
    legend: str


def list_choices(session: Session) -> list[str]:
    """Return what the points can be colored by; the labels come first."""
    data = session.rows
    labels = [data.label_name] if data.labels is not None else []
    selections = [SELECTIONS] if session.names else []
    columns = [column.name for column in data.columns if column.name not in labels]
    density = [DENSITY] if data.mixed is None or data.n_rows <= MAX_MIXED else []
    return [*labels, NOTHING, TRUST, *density, *selections, *columns]


def paint(
    session: Session, measurer: Measurer, density: Array | None, theme: Theme = LIGHT
) -> Painted:
    """Return the colors of each map for the chosen color."""
    n = session.rows.n_rows
    n_maps = max(len(session.maps), 1)
    if session.color == TRUST and session.maps:
        found = [measurer.of(shown) for shown in session.maps]
        paints: list[Paint] = [
            None if one is None else Values(one.trust, 0.0, 1.0, is_trust=True) for one in found
        ]
        title = "trust: fraction of the 10 nearest neighbors preserved"
        first_measured = next((one for one in found if one is not None), None)
        if first_measured is not None:
            title += _tell_known(first_measured)
    else:
        paints = [_find_paint(session, density)] * n_maps
        title = session.color
    first = next((one for one in paints if one is not None), None)
    colors = tuple(pack_colors(one, n, theme) for one in paints)
    legend = _draw_legend(first, title, theme)
    return Painted(colors, legend or _tell_uncolored(session))


def _tell_uncolored(session: Session) -> str:
    """Return why a column has no colors; empty if none was chosen, or if colors will follow."""
    found = [column for column in session.rows.described() if column.name == session.color]
    if not found:
        return ""
    words = found[0].words
    many = (
        f"{len(words):,} distinct values, too many for colors" if words else "all values are equal"
    )
    return f"<b>{html.escape(session.color)}</b><span>{many}</span>"


def _tell_known(measured: Measured) -> str:
    """Return how many points have a trust, if not all have."""
    n_known = int(np.isfinite(measured.trust).sum())
    if n_known >= measured.n_points:
        return ""
    rest = "the others follow" if measured.is_final else "a sample, while the map is computed"
    return f", known of {n_known:,} of {measured.n_points:,} points; {rest}"


def _find_paint(session: Session, density: Array | None) -> Paint:
    data, color = session.rows, session.color
    if color == data.label_name and data.labels is not None:
        try:
            return as_paint(data.labels, data.n_rows)
        except DataError:  # too many classes
            return None
    if color == SELECTIONS:
        column = session.names_column()
        return None if column is None else _paint_names(column)
    if color == DENSITY and density is not None:
        return paint_column(Column(DENSITY, density))
    found = [column for column in data.columns if column.name == color]
    return paint_column(found[0]) if found else None


def _paint_names(column: Column) -> Classes:
    """Return the classes of named selections; rows without a name come last, in gray."""
    words = column.words or []
    of_row = (column.data.astype(np.int64) - 1) % len(words)
    return Classes([*words[1:], "no name"], of_row, has_rest=True)


def pack_colors(paint: Paint, n: int, theme: Theme = LIGHT) -> NDArray[np.uint32]:
    """Return the color of each of n points as 0xRRGGBBAA."""
    if paint is None:
        return np.full(n, pack([theme.plain])[0], np.uint32)
    if isinstance(paint, Classes):
        return pack(theme.class_colors(paint))[paint.of_point]
    scale = pack([*theme.scale_colors(paint, N_COLORS), theme.faint])
    width = (paint.high - paint.low) or 1.0
    share = np.clip((paint.numbers - paint.low) / width, 0, 1)
    codes = np.where(np.isnan(share), N_COLORS, np.nan_to_num(share) * (N_COLORS - 1))
    return np.asarray(scale[np.rint(codes).astype(np.int64)])


def pack(colors: list[str]) -> NDArray[np.uint32]:
    """Return colors as 0xRRGGBBAA."""
    rgb = np.rint(255 * np.array([to_rgb(color) for color in colors])).astype(np.uint32)
    return np.asarray(rgb[:, 0] << 24 | rgb[:, 1] << 16 | rgb[:, 2] << 8 | 255, np.uint32)


def _draw_legend(paint: Paint, title: str, theme: Theme) -> str:
    """Return a legend as HTML; names from the data are escaped."""
    if paint is None:
        return ""
    name = f"<b>{html.escape(title)}</b>"
    if isinstance(paint, Values):
        colors = ", ".join(theme.scale_colors(paint, GRADIENT_STOPS))
        bar = f'<span class="bar" style="background: linear-gradient(to right, {colors})"></span>'
        return f'{name}<span class="scale">{paint.low:.4g}{bar}{paint.high:.4g}</span>'
    counts = np.bincount(paint.of_point, minlength=len(paint.names)).tolist()
    entries = [
        f'<span class="entry"><i style="background: {color}"></i>{html.escape(word)} '
        f"<small>{count:,}</small></span>"
        for word, color, count in zip(paint.names, theme.class_colors(paint), counts, strict=True)
    ]
    more = len(entries) - MAX_ENTRIES
    rest = f"<span>and {more} more</span>" if more > 0 else ""
    return name + "".join(entries[:MAX_ENTRIES]) + rest
