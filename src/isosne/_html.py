"""How text becomes HTML, and small pieces of HTML for notebooks: tables, and a map as inline SVG.

Whatever comes from data or from a user (names of columns and files, labels, identifiers, values,
titles, messages) enters every page through `escape`: that of a notebook through `fill`, that of
`explorer` through `fill` and `write`, and the templates of `pages` for each variable.
"""

import html
import re
from collections.abc import Iterable, Sequence
from string import Formatter
from typing import Any

import numpy as np

from isosne._types import Array

SIDE = 240
"""Side of a small picture in pixels."""
MARGIN = 8
LOWEST = 60
"""Smallest height of a map in pixels."""
MOST_POINTS = 3000
"""Largest number of points in a small picture; others are left out evenly. Chosen: 40 kB."""
COLOR = "#3f8fd2"
"""Color of points and lines; contrast 3.4 on white and 5.4 on the black of dark notebooks."""

UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and what a file name that is not UTF-8 has: HTML can contain neither."""


class Markup(str):
    """HTML that was written in this package, or was made by `escape` or `fill`."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def escape(content: object) -> Markup:
    """Return a text as HTML, or a list one after the other; only markup is left as it is."""
    if isinstance(content, str) and hasattr(content, "__html__"):  # Jinja's markup, too
        return Markup(content)
    if isinstance(content, list):
        return Markup("".join(map(escape, content)))
    return Markup(html.escape(UNSHOWN.sub("\ufffd", str(content))))


class _Filler(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        return escape(format(value, format_spec) if format_spec else value)


def fill(template: str, *values: object, **named: object) -> Markup:
    """Return HTML with values in its fields, such as ``{}`` or ``{:.3f}``, which are escaped."""
    return Markup(_Filler().vformat(template, values, named))


def pairs_table(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a table of names and values."""
    left = "style='text-align:left'"
    row = f"<tr><th {left}>{{}}</th><td {left}>{{}}</td></tr>"
    return fill("<table>{}</table>", [fill(row, *pair) for pair in pairs])


def columns_table(names: Sequence[str], rows: Iterable[Sequence[str]], marked: int = -1) -> str:
    """Return a table with a head; the row with the index `marked` is bold."""
    head = [fill("<th>{}</th>", name) for name in names]
    body = []
    for number, row in enumerate(rows):
        line = "<tr style='font-weight:bold'>{}</tr>" if number == marked else "<tr>{}</tr>"
        body.append(fill(line, [fill("<td>{}</td>", cell) for cell in row]))
    table = "<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>"
    return fill(table, head, body)


def map_picture(Y: Array, title: str) -> str:
    """Return a picture of a map: its first two axes, each point a dot."""
    shown = np.asarray(Y, np.float64)[:: max(1, -(-len(Y) // MOST_POINTS))]
    axes = np.zeros((len(shown), 2))
    axes[:, : min(2, shown.shape[1])] = shown[:, :2]
    low, high = axes.min(axis=0), axes.max(axis=0)
    scale = (SIDE - 2 * MARGIN) / (float((high - low).max()) or 1.0)
    height = max(LOWEST, round(float(high[1] - low[1]) * scale) + 2 * MARGIN)
    places = (axes - (low + high) / 2) * [scale, -scale] + [SIDE / 2, height / 2]
    width = min(5.0, max(2.0, 80 / np.sqrt(len(shown))))
    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places.tolist())
    look = f"fill='none' stroke='{COLOR}' stroke-width='{width:.1f}' stroke-linecap='round'"
    return (
        f"<svg width='{SIDE}' height='{height}' viewBox='0 0 {SIDE} {height}' "
        f"style='min-width:{SIDE}px' role='img'>"
        f"<title>{escape(title)}</title><path d='{dots}' {look}/></svg>"
    )


def fitted_summary(name: str, Y: Array, last: Array, plan: Any) -> str:
    """Return a small map and its figures; last: last row of the trace."""
    n, n_components = Y.shape
    rows = [
        (name, f"{n:,} points in {n_components} dimensions"),
        ("kernel", plan.kernel),
        ("steps", f"{int(last[0]):,}"),
        ("objective", f"{last[1]:.4f}"),
    ]
    details = f"<details><summary>Plan</summary>{plan._repr_html_()}</details>"
    picture = f"<div style='margin-right:1.5em'>{map_picture(Y, f'map of {n:,} points')}</div>"
    figures = f"<div>{pairs_table(rows)}{details}</div>"
    return f"<div style='display:flex;align-items:center'>{picture}{figures}</div>"
