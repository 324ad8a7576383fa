"""R_NX curves as an interactive figure."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    FixedTicker,
    Grid,
    Line,
    LinearAxis,
    LogAxis,
    LogScale,
    LogTickFormatter,
    Plot,
    Range1d,
    Toolbar,
)
from bokeh.models.renderers import GlyphRenderer

from isosne.plots.palette import LINE_COLORS
from isosne.studies.judged_maps import JudgedMap

MAX_CURVE_POINTS = 300
"""Most neighborhood sizes at which a curve is drawn: less than one per two pixels; chosen."""
DASHED = ("solid", "dashed", "dotted", "dashdot")


class DrawnCurves(NamedTuple):
    """The figure, and the title, color, dash style and area under the curve of each line."""

    figure: Plot
    lines: list[tuple[str, str, str, str]]


def draw_curves(maps: Sequence[JudgedMap], areas: Sequence[str]) -> DrawnCurves:
    """Draw the R_NX curve of each map over log k; ``areas`` are the areas below them as text."""
    longest = max(int(judged.curve.k[-1]) for judged in maps)
    lowest = min(0.0, *(float(judged.curve.r.min()) for judged in maps))
    drawn = Plot(
        name="curves",
        x_range=Range1d(start=1, end=max(longest, 2)),
        y_range=Range1d(start=1.05 * lowest, end=1.0),
        x_scale=LogScale(),
        toolbar=Toolbar(logo=None),
        toolbar_location=None,
        sizing_mode="stretch_both",
        outline_line_color=None,
        title=None,
    )
    below = LogAxis(axis_label="neighbors k", formatter=LogTickFormatter(min_exponent=7))
    ticks = FixedTicker(ticks=[0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    left = LinearAxis(axis_label="R_NX: neighbors preserved above chance", ticker=ticks)  # type: ignore[arg-type]  # any ticker works
    for axis in (below, left):
        axis.axis_label_text_font_style = "normal"
        axis.axis_line_color = axis.major_tick_line_color = "#9aa4ae"
        axis.minor_tick_line_color = None
    drawn.add_layout(below, "below")
    drawn.add_layout(left, "left")
    drawn.add_layout(Grid(axis=left, dimension=1, grid_line_color="#ececec"))
    lines = []
    for m, judged in enumerate(maps):
        color, style = LINE_COLORS[m % len(LINE_COLORS)], DASHED[m % len(DASHED)]
        k, r = judged.curve
        kept = np.unique(np.geomspace(1, len(k), MAX_CURVE_POINTS).astype(int)) - 1
        source = ColumnDataSource({"k": k[kept].astype(float), "r": r[kept]})
        line = Line(x="k", y="r", line_color=color, line_dash=style, line_width=2.5)
        drawn.renderers.append(GlyphRenderer(data_source=source, glyph=line))
        lines.append((judged.title, color, style, areas[m]))
    return DrawnCurves(drawn, lines)
