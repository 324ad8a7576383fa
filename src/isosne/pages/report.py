"""A report: what to know first, a map, the comparison, curves, measures, and the settings."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bokeh.models as bk
import numpy as np
from bokeh.models.renderers import GlyphRenderer

from isosne._checks import check_suffix
from isosne._files import whole_file
from isosne._types import Array
from isosne.pages.page import SUFFIXES
from isosne.pages.scene import NamedMap, Scene
from isosne.plots.paint import Classes, paint_trusts, spread_colors
from isosne.quality import Curve
from isosne.quality.procrustes import find_similarity
from isosne.studies import readings as words
from isosne.studies.judged_maps import JudgedMap, Study
from isosne.studies.point_columns import as_columns, paint_labels, trust_columns

MAX_CURVE_POINTS = 300  # at which a curve is drawn: less than one per two pixels; chosen
DASHED = ("solid", "dashed", "dotted", "dashdot")


def write_report(path: str | os.PathLike[str], found: Study, *, force: bool = False) -> Path:
    """Write a study of maps as a single HTML file.

    Parameters
    ----------
    path : str or path
        Output file; ends in .html.
    found : Study
        The result of `isosne.studies.study` or `isosne.studies.compare_maps`.
    force : bool, default=False
        Whether to overwrite an existing file.

    Returns
    -------
    Path
        The output file.

    Notes
    -----
    The page shows the maps, and the means of the measures over their seeds with standard errors.
    The file needs no network, fits a phone, and can be printed.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from isosne.pages import write_report
    >>> from isosne.studies import compare_maps
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare_maps(X, {"first columns": X[:, :2]}, y, title="Iris")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     "<title>Iris</title>" in write_report(f"{folder}/iris.html", found).read_text()
    True
    """
    target = check_suffix(path, SUFFIXES)
    with whole_file(target, force=force) as file:
        file.write(render(found).encode())
    return target


def render(found: Study) -> str:
    """Return a study as a self-contained HTML document."""
    maps = found.maps
    n = len(maps[0].embedding)
    labels = spread_colors(paint_labels(found.labels, n, kind="labels"), maps[0].embedding)
    classes = labels if isinstance(labels, Classes) else None
    trusts = paint_trusts([judged.trust for judged in maps], n)
    of_trust = [column for judged in maps for column in trust_columns(judged.trust, judged.title)]
    how: dict[str, Any] = {"trust_columns": of_trust, "is_report": True}
    scene = Scene(_turn(maps), labels, trusts, as_columns(found.columns, n), **how)
    readings = words.read_measures(maps, classes)
    scene.curves.append(_draw_curves(maps))
    return scene.render(
        "report.html",
        title=found.title,
        found=found,
        label_name=labels.title if labels else "",
        measured=maps[0].report,
        n_first=3 if maps[0].embedding.shape[1] == 3 else 1,
        verdict=words.read_verdict(maps, readings),
        findings=[_lead(name, text) for name, text in found.findings.items()],
        kept=words.read_kept(maps[0]),
        wide=maps[0].trust.wide,
        basis=words.read_basis(maps),
        schedule=words.read_schedule(maps),
        n_seeds=len(maps[0].scores),
        readings=readings,
        class_trust=words.trust_by_class(maps, classes) if classes else [],
        n_classes=classes.n_classes if classes else 0,
    )


def _lead(name: str, text: str) -> tuple[str, str]:
    """Return the first clause of a finding, or else its name, and the rest."""
    first, _, rest = re.split(r"(?<=[.:])( )|$", text, maxsplit=1)
    return (first, rest) if rest else (name[:1].upper() + name[1:], text)


def _turn(maps: Sequence[JudgedMap]) -> list[NamedMap]:
    """Return the maps as they are drawn: all but the first turned and mirrored onto the first."""
    first = maps[0].embedding
    drawn = [NamedMap(maps[0].title, first)]
    for judged in maps[1:]:
        Y = judged.embedding
        if Y.shape == first.shape and Y.shape[1] > 1:
            Y = Y @ find_similarity(Y, first).rotation
        drawn.append(NamedMap(judged.title, Y))
    return drawn


def thin_curve(curve: Curve) -> dict[str, Array]:
    """Return the points at which a curve is drawn, evenly over log k."""
    k, r = curve
    kept = np.unique(np.geomspace(1, len(k), MAX_CURVE_POINTS).astype(int)) - 1
    return {"k": k[kept].astype(float), "r": r[kept]}


def _draw_curves(maps: Sequence[JudgedMap]) -> bk.Plot:
    longest = max(int(judged.curve.k[-1]) for judged in maps)
    lowest = min(0.0, *(float(judged.curve.r.min()) for judged in maps))
    drawn = bk.Plot(
        name="curves",
        x_range=bk.Range1d(start=1, end=max(longest, 2)),
        y_range=bk.Range1d(start=1.05 * lowest, end=1.0),
        x_scale=bk.LogScale(),
        toolbar=bk.Toolbar(logo=None),
        toolbar_location=None,
        sizing_mode="stretch_both",
        outline_line_color=None,
        title=None,
    )
    below = bk.LogAxis(axis_label="neighbors k", formatter=bk.LogTickFormatter(min_exponent=7))
    ticks = bk.FixedTicker(ticks=[0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    left = bk.LinearAxis(axis_label="R_NX: neighbors kept above chance", ticker=ticks)  # type: ignore[arg-type]  # any ticker works
    for axis in (below, left):
        axis.axis_label_text_font_style = "normal"
        axis.minor_tick_line_color = None
    drawn.add_layout(below, "below")
    drawn.add_layout(left, "left")
    drawn.add_layout(bk.Grid(axis=left, dimension=1))
    for m, judged in enumerate(maps):
        source = bk.ColumnDataSource(thin_curve(judged.curve))
        line = bk.Line(x="k", y="r", line_dash=DASHED[m % len(DASHED)], line_width=2.5)
        drawn.renderers.append(GlyphRenderer(data_source=source, glyph=line))
    return drawn
