"""Curves: R_NX by size of neighborhood, run time and growth, similarities in order of size."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from isosne._types import Array
from isosne.errors import DataError, ParameterError
from isosne.plots.figures import (
    as_axes,
    class_handles,
    grid_of_axes,
    legend_beside,
    legend_of_figure,
    plain_axes,
    room_beside,
)
from isosne.plots.paint import Classes, Names, as_paint
from isosne.plots.palette import DASHES, LINE_COLORS

MOST_MARKED = 40
"""Points of a line up to which each is marked."""
Line = tuple[NDArray[np.float64], NDArray[np.float64]]


def plot_rnx(curves: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """Draw how much of each neighborhood maps keep, by the size of the neighborhood.

    Parameters
    ----------
    curves : mapping from str to Curve
        Names of maps to what `isosne.quality.rnx_curve` returns, or to pairs (k, R).
    ax : Axes or None, default=None
        Where to draw; None: on a figure of its own.

    Returns
    -------
    Axes
        The axes drawn on.

    Notes
    -----
    Eq. 10 of the paper. The legend has the area under each curve over log k, the paper's AUC_RNX
    over the k that the curve has: ``sum(R / k) / sum(1 / k)``. Departures from the paper: none.

    Examples
    --------
    >>> from isosne.plots import plot_rnx
    >>> ax = plot_rnx({"map": ([1, 2, 4], [0.5, 0.5, 0.5])})
    >>> ax.get_legend().get_texts()[0].get_text()
    'map  0.500'
    """
    lines = {name: _check_line(name, curve) for name, curve in _check_named(curves).items()}
    for name, (k, _) in lines.items():
        if k.min() < 1:
            raise DataError(
                f"The sizes of neighborhoods must be from 1 up; got {k.min():g} in {name!r}. "
                "Pass what isosne.quality.rnx_curve returns."
            )
    ax = as_axes(ax)
    for c, (name, (k, r)) in enumerate(lines.items()):
        area = float((r / k).sum() / (1 / k).sum())
        _draw_line(ax, c, f"{name}  {area:.3f}", k, r, is_marked=False)
    ax.set_xscale("log")
    ax.margins(x=0.01)
    ax.set_ylim(bottom=min(0.0, *(float(r.min()) for _, r in lines.values())))
    plain_axes(ax, "neighbors k", "$R_{NX}(k)$")
    legend_beside(ax, ax.get_lines(), title="area under curve")
    return ax


def plot_lines(
    series: Mapping[str, Any],
    *,
    x_label: str,
    y_label: str,
    log: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw lines through points, such as run time by number of points.

    Parameters
    ----------
    series : mapping from str to pair of arrays
        Names of lines to their x and y.
    x_label, y_label : str
        Labels of the axes, with units.
    log : bool, default=False
        Whether both axes are logarithmic: a power of n is then a straight line.
    ax : Axes or None, default=None
        Where to draw; None: on a figure of its own.

    Returns
    -------
    Axes
        The axes drawn on.

    Notes
    -----
    Lines differ in color and in dashes. Not in the paper.

    Examples
    --------
    >>> from isosne.plots import plot_lines
    >>> ax = plot_lines({"mesh": ([1e4, 1e5], [3, 31])}, x_label="points", y_label="seconds")
    >>> ax.get_xlabel()
    'points'
    """
    lines = {name: _check_line(name, line) for name, line in _check_named(series).items()}
    for name, (x, y) in lines.items():
        smallest = min(float(x.min()), float(y.min()))
        if log and smallest <= 0:
            raise DataError(
                f"Values must be positive on logarithmic axes; got {smallest:g} in {name!r}. "
                "Leave them out, or pass log=False."
            )
    ax = as_axes(ax)
    for c, (name, (x, y)) in enumerate(lines.items()):
        _draw_line(ax, c, name, x, y, is_marked=len(x) <= MOST_MARKED)
    if log:
        ax.set_xscale("log")
        ax.set_yscale("log")
    plain_axes(ax, x_label, y_label)
    legend_beside(ax, ax.get_lines())
    return ax


def plot_similarity_from(
    similarities: Mapping[str, Any],
    labels: Any,
    *,
    names: Names = None,
    columns: int | None = None,
) -> Array:
    """Draw how similar one point is to the points of each class, the most similar first.

    Parameters
    ----------
    similarities : mapping from str to array of shape (n,)
        Names of kernels to the similarity of one point to all, such as ``kernel.similarity()[0]``.
    labels : array of shape (n,)
        The class of each point.
    names : mapping, sequence of str or None, default=None
        Names of the labels.
    columns : int or None, default=None
        Kernels in a row.

    Returns
    -------
    array of Axes
        One for each kernel, each with a scale of its own.

    Notes
    -----
    The paper's figure of similarities with respect to the origin: with the isolation kernel the
    nearest points of a dense and of a sparse cluster are about as similar to it. Departures from
    the paper: none.

    Examples
    --------
    >>> from isosne.plots import plot_similarity_from
    >>> axes = plot_similarity_from({"isolation": [1.0, 0.2, 0.6]}, ["a", "b", "b"])
    >>> axes[0].get_lines()[1].get_ydata().tolist()
    [0.6, 0.2]
    """
    found = {name: _numbers(name, values) for name, values in _check_named(similarities).items()}
    n = len(next(iter(found.values())))
    for name, values in found.items():
        if values.shape != (n,):
            raise DataError(
                "Similarities must be one-dimensional, all of one length; "
                f"got shape {values.shape} for {name!r} after {n} values. "
                "Pass one row of each kernel's similarity."
            )
    classes = as_paint(labels, n, kind="labels", names=names)
    assert isinstance(classes, Classes)  # by its kind
    axes = grid_of_axes(len(found), columns, side=3.6, beside=room_beside(classes, 3.6))
    for ax, (name, values) in zip(axes, found.items(), strict=True):
        for c, color in enumerate(classes.colors):
            own = np.sort(values[classes.of_point == c])[::-1]
            ax.plot(np.arange(1, len(own) + 1), own, ".", markersize=3.5, color=color)
        ax.set_title(name)
        ax.set_ylim(bottom=-0.015 * ax.get_ylim()[1])  # so that what is zero can be seen
        plain_axes(ax, "points of a class, most similar first", "similarity")
    handles = class_handles(classes, with_shapes=False)
    legend_of_figure(axes[0].figure, handles, title=classes.title)
    return axes


def _check_named(series: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(series, Mapping) or not series:
        raise ParameterError(
            "Lines must come as a mapping from names to values, at least one; "
            f"got {type(series).__name__} of length {len(series)}. Pass a dict."
        )
    return series


def _check_line(name: str, line: Any) -> Line:
    try:
        x, y = line
    except (TypeError, ValueError):
        raise DataError(
            f"A line must be a pair of x and y; got something else for {name!r}. "
            "Pass two arrays of the same length."
        ) from None
    x, y = _numbers(name, x), _numbers(name, y)
    if x.ndim != 1 or x.shape != y.shape or len(x) == 0:
        raise DataError(
            "The x and y of a line must be one-dimensional, of the same length; "
            f"got shapes {x.shape} and {y.shape} for {name!r}. Pass a value of y for each x."
        )
    return x, y


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    numbers = np.asarray(values, np.float64)
    n_bad = int((~np.isfinite(numbers)).sum())
    if n_bad:
        raise DataError(
            f"Values must be finite; got {n_bad} NaN or infinite value(s) in {name!r}. "
            "Leave them out."
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
