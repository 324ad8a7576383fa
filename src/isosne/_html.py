"""Small pieces of HTML for notebooks: tables, and pictures as inline SVG; no other package."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from isosne._types import Array

SIDE = 240
"""Side of a small picture in pixels."""
MARGIN = 8
LEFT, BOTTOM = 20, 30
"""Space for the numbers and the name of the axes, in pixels."""
LOWEST = 60
"""Smallest height of a map in pixels."""
MOST_POINTS = 3000
"""Largest number of points in a small picture; others are left out evenly. Chosen: 40 kB."""
COLOR = "#3f8fd2"
"""Color of points and lines; contrast 3.4 on white and 5.4 on the black of dark notebooks."""


def pairs_table(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a table of names and values."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(value)}</td></tr>"
        for name, value in pairs
    )
    return f"<table>{rows}</table>"


def columns_table(names: Sequence[str], rows: Iterable[Sequence[str]], marked: int = -1) -> str:
    """Return a table with a head; the row with the index `marked` is bold."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = ""
    for number, row in enumerate(rows):
        style = " style='font-weight:bold'" if number == marked else ""
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in row)
        body += f"<tr{style}>{cells}</tr>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


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
    return _svg(_path(dots, width), title, height)


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
    return beside(map_picture(Y, f"map of {n:,} points"), pairs_table(rows) + details)


def line_picture(x: Array, y: Array, title: str) -> str:
    """Return a picture of a curve over the logarithm of x, from 0 to 1; x starts at 1."""
    kept = np.unique(np.geomspace(1, len(x), SIDE).astype(int)) - 1
    across = np.log(x[kept]) / (np.log(float(x[-1])) or 1.0)
    width, height = _inner()
    places = np.column_stack(
        [across * width + LEFT, (1 - np.clip(y[kept], 0, 1)) * height + MARGIN]
    )
    steps = "L".join(f"{a:.1f} {b:.1f}" for a, b in places.tolist())
    return _svg(_frame(f"{x[-1]:,}", "1", "k (logarithmic)", "1") + _path(f"M{steps}", 2), title)


def bars_picture(shares: Array, title: str) -> str:
    """Return a picture of the histogram of shares from 0 to 1."""
    counts, _ = np.histogram(shares, bins=11, range=(0, 1))
    width, height = _inner()
    step, highest = width / len(counts), int(counts.max()) or 1
    bars = "".join(
        f"M{LEFT + (k + 0.5) * step:.1f} {MARGIN + height}v{-height * count / highest:.1f}"
        for k, count in enumerate(counts.tolist())
    )
    drawn = _path(bars, 0.8 * step, cap="butt")
    return _svg(_frame("1", "0", "fraction preserved", "") + drawn, title)


def beside(*parts: str) -> str:
    """Return pieces side by side."""
    cells = "".join(f"<div style='margin-right:1.5em;flex:0 1 auto'>{part}</div>" for part in parts)
    return f"<div style='display:flex;align-items:center'>{cells}</div>"


def _svg(content: str, title: str, height: int = SIDE) -> str:
    size = f"width='{SIDE}' height='{height}' viewBox='0 0 {SIDE} {height}'"
    return (
        f"<svg {size} style='min-width:{SIDE}px' role='img'>"
        f"<title>{escape(title)}</title>{content}</svg>"
    )


def _path(d: str, width: float, cap: str = "round") -> str:
    look = f"fill='none' stroke='{COLOR}' stroke-width='{width:.1f}' stroke-linecap='{cap}'"
    return f"<path d='{d}' {look}/>"


def _inner() -> tuple[int, int]:
    """Return the width and the height of the frame of a picture with axes."""
    return SIDE - LEFT - MARGIN, SIDE - BOTTOM - MARGIN


def _frame(last: str, first: str, name: str, top: str) -> str:
    """Return a frame, the numbers at the ends of its horizontal axis, and the top of the other."""
    width, height = _inner()
    where = f"x='{LEFT}' y='{MARGIN}' width='{width}' height='{height}'"
    below, right = SIDE - BOTTOM + 14, LEFT + width
    texts = [(LEFT, below, "start", first), (right, below, "end", last)]
    texts += [(LEFT + width // 2, below, "middle", name)]
    texts += [(LEFT - 4, MARGIN + 9, "end", top), (LEFT - 4, SIDE - BOTTOM, "end", top and "0")]
    words = "".join(_text(*text) for text in texts if text[-1])
    return f"<rect {where} fill='none' stroke='#9aa4ae' stroke-width='0.5'/>{words}"


def _text(x: float, y: float, anchor: str, words: str) -> str:
    """Return a small text in the color of the text around the picture."""
    look = f"font-size='11' fill='currentColor' text-anchor='{anchor}'"
    return f"<text x='{x:g}' y='{y:g}' {look}>{escape(words)}</text>"
