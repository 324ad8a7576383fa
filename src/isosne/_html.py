"""Small pieces of HTML for notebooks: tables, and pictures as inline SVG; no other package."""

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from isosne._types import Array

SIDE = 240
"""Side of a small picture in pixels."""
MARGIN = 8
LOWEST = 60
"""Smallest height of a map in pixels."""
MOST_POINTS = 3000
"""Largest number of points in a small picture; others are left out evenly. Chosen: 40 kB."""
COLOR = "#3b6ea5"
"""Color of points and lines, legible on white and on black."""


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
    width = min(5.0, max(1.5, 60 / np.sqrt(len(shown))))
    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places.tolist())
    return _svg(_path(dots, width), title, height)


def line_picture(x: Array, y: Array, title: str) -> str:
    """Return a picture of a curve over the logarithm of x, from 0 to 1."""
    kept = np.unique(np.geomspace(1, len(x), SIDE).astype(int)) - 1
    across = np.log(x[kept]) / (np.log(float(x[-1])) or 1.0)
    inner = SIDE - 2 * MARGIN
    places = MARGIN + inner * np.column_stack([across, 1 - np.clip(y[kept], 0, 1)])
    steps = "L".join(f"{a:.1f} {b:.1f}" for a, b in places.tolist())
    return _svg(f"{_frame()}{_path(f'M{steps}', 2)}", title)


def bars_picture(shares: Array, title: str) -> str:
    """Return a picture of the histogram of shares from 0 to 1."""
    counts, _ = np.histogram(shares, bins=11, range=(0, 1))
    inner, width = SIDE - 2 * MARGIN, (SIDE - 2 * MARGIN) / len(counts)
    highest = int(counts.max()) or 1
    bars = "".join(
        f"M{MARGIN + (k + 0.5) * width:.1f} {SIDE - MARGIN}v{-inner * count / highest:.1f}"
        for k, count in enumerate(counts.tolist())
    )
    return _svg(f"{_frame()}{_path(bars, 0.8 * width, cap='butt')}", title)


def beside(*parts: str) -> str:
    """Return pieces side by side."""
    cells = "".join(f"<div style='margin-right:1.5em'>{part}</div>" for part in parts)
    return f"<div style='display:flex;align-items:center'>{cells}</div>"


def _svg(content: str, title: str, height: int = SIDE) -> str:
    box = f"0 0 {SIDE} {height}"
    return (
        f"<svg width='{SIDE}' height='{height}' viewBox='{box}' role='img'>"
        f"<title>{escape(title)}</title>{content}</svg>"
    )


def _path(d: str, width: float, cap: str = "round") -> str:
    look = f"fill='none' stroke='{COLOR}' stroke-width='{width:.1f}' stroke-linecap='{cap}'"
    return f"<path d='{d}' {look}/>"


def _frame() -> str:
    inner = SIDE - 2 * MARGIN
    where = f"x='{MARGIN}' y='{MARGIN}' width='{inner}' height='{inner}'"
    return f"<rect {where} fill='none' stroke='#9aa4ae' stroke-width='0.5'/>"
