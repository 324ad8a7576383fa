"""Line plots: R_NX curves, run times, and sorted similarities."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from isosne._types import Array
from isosne.errors import DataError, ParameterError, keyword
from isosne.plots.figures import (
    add_figure_legend,
    add_legend,
    as_axes,
    class_handles,
    legend_width,
    make_grid,
    set_literal,
    style_axes,
)
from isosne.plots.paint import Classes, Names, as_paint
from isosne.plots.palette import LINE_COLORS

# On and off lengths in line widths; chosen to be told apart in gray.
DASHES = ("solid", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)))
MAX_MARKED = 40
"""Lines with at most this many points have markers; chosen by eye."""
PANEL_SIDE = 3.6
"""Inches of a panel of similarities; chosen by eye."""
Line = tuple[NDArray[np.float64], NDArray[np.float64]]


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
    Eq. 10. The legend states the area under each curve over log k, which is AUC_RNX (Eq. 11) over
    the k of the curve: ``sum(R / k) / sum(1 / k)``. Departures from the paper: none.

    Examples
    --------
    >>> from isosne.plots import plot_rnx
    >>> ax = plot_rnx({"map": ([1, 2, 4], [0.5, 0.5, 0.5])})
    >>> ax.get_legend().get_texts()[0].get_text()
    'map  0.500'
    """
    named = _check_mapping(curves, "curves")
    lines = {name: _check_line(name, curve) for name, curve in named.items()}
    for name, (k, _) in lines.items():
        if k.min() < 1:
            raise DataError(
                f"Neighborhood sizes k must be at least 1; got {k.min():g} in {name!r}. "
                "Pass the result of isosne.quality.compare(...).curve()."
            )
    ax = as_axes(ax)
    for c, (name, (k, r)) in enumerate(lines.items()):
        area = float((r / k).sum() / (1 / k).sum())
        _draw_line(ax, c, f"{name}  {area:.3f}", k, r, is_marked=False)
    ax.set_xscale("log")
    ax.margins(x=0.01)
    ax.set_ylim(bottom=min(0.0, *(float(r.min()) for _, r in lines.values())))
    style_axes(ax, "neighbors k", "")
    ax.set_ylabel("$R_{NX}(k)$", parse_math=True)
    add_legend(ax, ax.get_lines(), title="area under curve")
    return ax


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
    Lines differ in color and dash pattern. Not in the paper.

    Examples
    --------
    >>> from isosne.plots import plot_lines
    >>> ax = plot_lines({"mesh": ([1e4, 1e5], [3, 31])}, x_label="points", y_label="seconds")
    >>> ax.get_xlabel()
    'points'
    """
    named = _check_mapping(series, "series")
    lines = {name: _check_line(name, line) for name, line in named.items()}
    for name, (x, y) in lines.items():
        smallest = min(float(x.min()), float(y.min()))
        if log and smallest <= 0:
            raise DataError(
                f"Values must be positive on logarithmic axes; got {smallest:g} in {name!r}. "
                f"Drop these values, or pass {keyword('log', False)}."
            )
    ax = as_axes(ax)
    for c, (name, (x, y)) in enumerate(lines.items()):
        _draw_line(ax, c, name, x, y, is_marked=len(x) <= MAX_MARKED)
    if log:
        ax.set_xscale("log")
        ax.set_yscale("log")
    style_axes(ax, x_label, y_label)
    add_legend(ax, ax.get_lines())
    return ax


def plot_similarity_from(
    similarities: Mapping[str, Any],
    labels: Any,
    *,
    names: Names = None,
    columns: int | None = None,
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
    columns : int or None, default=None
        Number of panels per row; None chooses it.

    Returns
    -------
    array of Axes
        One for each kernel, each with its own scale.

    Notes
    -----
    The paper's figure of similarities with respect to the origin: with the isolation kernel, the
    nearest points of a dense and of a sparse cluster have about the same similarity. Departures
    from the paper: none.

    Examples
    --------
    >>> from isosne.plots import plot_similarity_from
    >>> axes = plot_similarity_from({"isolation": [1.0, 0.2, 0.6]}, ["a", "b", "b"])
    >>> axes[0].get_lines()[1].get_ydata().tolist()
    [0.6, 0.2]
    """
    named = _check_mapping(similarities, "similarities")
    found = {name: _check_finite(name, values) for name, values in named.items()}
    n = len(next(iter(found.values())))
    for name, values in found.items():
        if values.shape != (n,):
            raise DataError(
                "Similarities must be one-dimensional and of the same length for all kernels; "
                f"got shape {values.shape} for {name!r}, expected ({n},). "
                "Pass one row of the similarity matrix of each kernel."
            )
    classes = as_paint(labels, n, kind="labels", names=names)
    assert isinstance(classes, Classes)  # because of kind="labels"
    beside = legend_width(classes, PANEL_SIDE)
    axes = make_grid(len(found), columns, side=PANEL_SIDE, beside=beside)
    for ax, (name, values) in zip(axes, found.items(), strict=True):
        for c, color in enumerate(classes.colors):
            own = np.sort(values[classes.of_point == c])[::-1]
            ax.plot(np.arange(1, len(own) + 1), own, ".", markersize=3.5, color=color)
        set_literal(ax.set_title(name))
        ax.set_ylim(bottom=-0.015 * ax.get_ylim()[1])  # a margin, so that zeros are visible
        style_axes(ax, "points of a class, most similar first", "similarity")
    handles = class_handles(classes)
    add_figure_legend(axes[0].figure, handles, title=classes.title)
    return axes


def _check_mapping(named: Mapping[str, Any], parameter: str) -> Mapping[str, Any]:
    if not isinstance(named, Mapping):
        rule = f"be a mapping from names to values, not {type(named).__name__}"
        raise ParameterError(parameter, rule, hint="Pass a dict.")
    if not named:
        raise ParameterError(parameter, "have at least one entry", named, "Pass a non-empty dict.")
    return named


def _check_line(name: str, line: Any) -> Line:
    try:
        x, y = line
    except (TypeError, ValueError):
        raise DataError(
            f"A line must be a pair (x, y) of arrays; got {type(line).__name__} for {name!r}. "
            "Pass two arrays of the same length."
        ) from None
    x, y = _check_finite(name, x), _check_finite(name, y)
    if x.ndim != 1 or x.shape != y.shape or len(x) == 0:
        raise DataError(
            "The x and y of a line must be one-dimensional and of the same length; "
            f"got shapes {x.shape} and {y.shape} for {name!r}. Pass one y for each x."
        )
    return x, y


def _check_finite(name: str, values: Any) -> NDArray[np.float64]:
    numbers = np.asarray(values, np.float64)
    n_bad = int((~np.isfinite(numbers)).sum())
    if n_bad:
        raise DataError(
            f"Values must be finite; got {n_bad} NaN or infinite value(s) in {name!r}. "
            "Drop these values."
        )
    return numbers


def _draw_line(ax: Axes, c: int, label: str, x: Array, y: Array, *, is_marked: bool) -> None:
    ax.plot(
        x,
        y,
        color=LINE_COLORS[c % len(LINE_COLORS)],
        linestyle=DASHES[c % len(DASHES)],
        linewidth=1.8,
        marker="o" if is_marked else None,
        markersize=4,
        label=label,
    )
