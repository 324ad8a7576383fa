"""Line plots: R_NX curves, run times, and sorted similarities."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from isosne._types import Array
from isosne.errors import ParameterError
from isosne.plots import figures
from isosne.plots.paint import Classes, Names, as_paint
from isosne.plots.palette import LINE_COLORS, Floats
from isosne.plots.raster import spread_apart

# On and off lengths in line widths; chosen to be told apart in gray.
DASHES = ("solid", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)))
MAX_MARKED = 40  # lines with at most this many points have markers; chosen by eye
LABEL_ROW = 0.22  # height of a label for a font of 10 points, in inches; chosen
PANEL_SIDE = 3.6  # of similarities, in inches; chosen by eye


def plot_rnx(curves: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """Plot R_NX curves: neighborhood preservation by neighborhood size.

    Parameters
    ----------
    curves : mapping from str to Curve
        Names of maps to results of `isosne.quality.compare(...).curve()`, or to pairs (k, R).
    ax : Axes or None, default=None
        Axes to draw on; None creates a new figure.

    Returns
    -------
    Axes
        The axes drawn on.

    Notes
    -----
    Eq. 10. The label of a curve states AUC_RNX (Eq. 11) over its k. Departures from the paper:
    none.

    Examples
    --------
    >>> from isosne.plots import plot_rnx
    >>> ax = plot_rnx({"map": ([1, 2, 4], [0.5, 0.5, 0.5])})
    >>> ax.texts[0].get_text()
    'map, AUC 0.500'
    """
    lines = _check_lines(curves, "curves")
    ax = figures.as_axes(ax)
    for c, (name, (k, r)) in enumerate(lines.items()):
        area = float((r / k).sum() / (1 / k).sum())
        _draw_line(ax, c, f"{name}, AUC {area:.3f}", k, r, is_marked=False)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.xaxis.set_minor_formatter("")
    ax.margins(x=0.01)
    ax.set_ylim(bottom=min(0.0, *(float(r.min()) for _, r in lines.values())))
    figures.style_axes(ax, "neighbors k", "")
    ax.set_ylabel("$R_{NX}(k)$", parse_math=True)
    _label_ends(ax, [float(r[-1]) for _, r in lines.values()])
    return ax


def _label_ends(ax: Axes, ends: list[float]) -> None:
    """Write the labels of the lines beside their right ends, one below the other."""
    low, high = ax.get_ylim()
    inches = ax.get_window_extent().height / ax.get_figure(root=True).dpi  # type: ignore[union-attr]
    gap = LABEL_ROW * figures.font_scale() / inches * (high - low)
    place: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "va": "center"}
    for line, y in zip(ax.get_lines(), spread_apart(ends, gap, low), strict=True):
        text = ax.text(1.02, y, str(line.get_label()), color=line.get_color(), **place)
        figures.set_literal(text)


def plot_lines(
    series: Mapping[str, Any],
    *,
    x_label: str,
    y_label: str,
    log: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Plot lines, such as run time by number of points.

    Parameters
    ----------
    series : mapping from str to pair of arrays
        Names of lines to their x and y.
    x_label, y_label : str
        Axis labels, with units.
    log : bool, default=False
        Whether both axes are logarithmic.
    ax : Axes or None, default=None
        Axes to draw on; None creates a new figure.

    Returns
    -------
    Axes
        The axes drawn on.

    Notes
    -----
    Lines differ in color and dash pattern.

    Examples
    --------
    >>> from isosne.plots import plot_lines
    >>> ax = plot_lines({"mesh": ([1e4, 1e5], [3, 31])}, x_label="points", y_label="seconds")
    >>> ax.get_xlabel()
    'points'
    """
    ax = figures.as_axes(ax)
    for c, (name, (x, y)) in enumerate(_check_lines(series, "series").items()):
        _draw_line(ax, c, name, x, y, is_marked=len(x) <= MAX_MARKED)
    if log:
        ax.set(xscale="log", yscale="log")
    figures.style_axes(ax, x_label, y_label)
    figures.add_legend(ax, ax.get_lines())
    return ax


def plot_similarity_from(
    similarities: Mapping[str, Any], labels: Any, *, names: Names = None
) -> Array:
    """Plot the similarity of one point to the points of each class, in descending order.

    Parameters
    ----------
    similarities : mapping from str to array of shape (n,)
        Names of kernels to the similarities of one point to all points, such as
        ``kernel.similarity()[0]``.
    labels : array of shape (n,)
        The class of each point.
    names : mapping, sequence of str or None, default=None
        Names of the labels.

    Returns
    -------
    array of Axes
        One for each kernel, each with its own scale.

    Notes
    -----
    The paper's figure of similarities with respect to the origin.

    Examples
    --------
    >>> from isosne.plots import plot_similarity_from
    >>> axes = plot_similarity_from({"isolation": [1.0, 0.2, 0.6]}, ["a", "b", "b"])
    >>> axes[0].get_lines()[1].get_ydata().tolist()
    [0.6, 0.2]
    """
    rows = {name: np.asarray(values, np.float64) for name, values in similarities.items()}
    n = len(next(iter(rows.values())))
    classes = as_paint(labels, n, kind="labels", names=names)
    assert isinstance(classes, Classes)  # because of kind="labels"
    axes = figures.make_grid(len(rows), None, classes, side=PANEL_SIDE)
    for ax, (name, values) in zip(axes, rows.items(), strict=True):
        for c, color in enumerate(classes.colors):
            own = np.sort(values[classes.of_point == c])[::-1]
            ax.plot(np.arange(1, len(own) + 1), own, ".", markersize=3.5, color=color)
        figures.set_literal(ax.set_title(name))
        ax.set_ylim(bottom=-0.015 * ax.get_ylim()[1])  # a margin, so that zeros are visible
        figures.style_axes(ax, "points of a class, most similar first", "similarity")
    figures.add_legend(axes[0].figure, figures.class_handles(classes), title=classes.title)
    return axes


def _check_lines(named: Mapping[str, Any], parameter: str) -> dict[str, Floats]:
    if not isinstance(named, Mapping) or not named:
        rule = "be a mapping with at least one line"
        raise ParameterError(parameter, rule, named, "Pass a dict from names to pairs (x, y).")
    return {name: np.array([*line], np.float64) for name, line in named.items()}


def _draw_line(ax: Axes, c: int, label: str, x: Array, y: Array, *, is_marked: bool) -> None:
    color, dash = LINE_COLORS[c % len(LINE_COLORS)], DASHES[c % len(DASHES)]
    marker = "o" if is_marked else None
    look: dict[str, Any] = {"linewidth": 1.8, "marker": marker, "markersize": 4}
    ax.plot(x, y, color=color, linestyle=dash, label=label, **look)
