"""Maps as widgets of notebooks, for many points: drawn with WebGL by jupyter-scatter.

Only this module imports jupyter-scatter and pandas, which it needs; both when a widget is made.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.colors import to_hex
from numpy.typing import NDArray

from isosne._checks import check_count
from isosne._extras import require
from isosne.errors import DataError, ParameterError, keyword
from isosne.plots.frames import check_embedding, check_mark, find_limits, position_points
from isosne.plots.paint import Classes, Names, Paint, Values, as_paint, paint_maps
from isosne.plots.palette import FAINT, PLAIN, TRUST_SCALE, VALUE_SCALE

X, Y_ = "isosne x", "isosne y"
"""Columns of the coordinates; unlikely names of columns to show."""
HEIGHT = 480
"""Height of a map in pixels; chosen."""
SIDE = 360
"""Height of each of several maps: their width is half of a notebook's (chosen)."""
N_TRUST = 5
"""Classes of trust, from 0 to 1; chosen: as many as the eye tells apart in a legend."""
NOT_MEASURED = "not measured"


class MapWidget:
    """One map, or several linked maps, in a notebook; the last value of a cell is shown.

    Attributes
    ----------
    scatters : list of jscatter.Scatter
        The maps, for further settings such as ``scatters[0].size(4)``.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.plots import widget
    >>> shown = widget(np.random.default_rng(0).normal(size=(20, 2)))
    >>> shown.selection = [3, 1]
    >>> shown.selection.tolist()
    [1, 3]
    """

    def __init__(self, scatters: list[Any], shown: Any) -> None:
        self.scatters = scatters
        self._shown = shown

    @property
    def selection(self) -> NDArray[np.int64]:
        """Row indices of the points that are selected in the notebook, in ascending order."""
        return np.sort(np.asarray(self.scatters[0].selection(), np.int64))

    @selection.setter
    def selection(self, rows: Any) -> None:
        checked = check_mark(rows, len(self.scatters[0].x_data), name="selection")
        for scatter in self.scatters:
            scatter.selection(checked)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self._shown._repr_mimebundle_(**kwargs)


def widget(
    embedding: Any,
    color: Any = None,
    *,
    kind: str = "auto",
    names: Names = None,
    hover: Mapping[str, Any] | None = None,
    height: int = HEIGHT,
) -> MapWidget:
    """Show a map as an interactive widget in a notebook: zoom, lasso, selection from Python.

    Parameters
    ----------
    embedding : TSNE, array or data frame of shape (n, 1) or (n, 2)
        The map: a fitted `TSNE`, or its coordinates.
    color : array, series, Trust or None, default=None
        What to color the points by, as in `plot_map`.
    kind : {"auto", "labels", "values", "trust"}, default="auto"
        How to interpret ``color``, as in `plot_map`.
    names : mapping, sequence of str or None, default=None
        Names of the labels, as in `plot_map`.
    hover : mapping, data frame or None, default=None
        Columns to show when the mouse is over a point, by name, one entry per point.
    height : int, default=480
        Height in pixels.

    Returns
    -------
    MapWidget
        The widget. ``widget.selection`` holds the row indices of the selected points, and can be
        set.

    Notes
    -----
    Trust is shown in five classes. Needs jupyter-scatter, ``pip install 'isosne[widgets]'``, and a
    browser with WebGL. Not in the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.plots import widget
    >>> shown = widget(np.random.default_rng(0).normal(size=(5, 2)), ["a", "a", "b", "b", "b"])
    >>> shown.selection = [3, 1]
    >>> shown.selection
    array([1, 3])
    """
    Y = _coordinates(embedding)
    scatter = _make_scatter(Y, as_paint(color, len(Y), kind=kind, names=names), hover)
    scatter.height(_check_height(height))
    return MapWidget([scatter], scatter.show())


def compare_widget(
    maps: Mapping[str, Any],
    color: Any = None,
    *,
    kind: str = "auto",
    names: Names = None,
    hover: Mapping[str, Any] | None = None,
    height: int = SIDE,
) -> MapWidget:
    """Show maps of the same points side by side, with linked view, hover and selection.

    Parameters
    ----------
    maps : mapping from str to TSNE, array or data frame
        The maps by title. Rows with the same index are the same point.
    color : array, series, Trust, mapping or None, default=None
        What to color the points by, or a mapping from titles to this, as in `plot_maps`.
    kind : {"auto", "labels", "values", "trust"}, default="auto"
        How to interpret ``color``, as in `plot_map`.
    names : mapping, sequence of str or None, default=None
        Names of the labels, as in `plot_map`.
    hover : mapping, data frame or None, default=None
        Columns to show when the mouse is over a point, by name, one entry per point.
    height : int, default=360
        Height in pixels.

    Returns
    -------
    MapWidget
        The widget. ``widget.selection`` holds the row indices of the selected points, and can be
        set.

    Notes
    -----
    The view is linked: zooming into a part of one map shows the same part of the other frame.
    Selected points and the point under the mouse are the same rows in all maps. Needs
    jupyter-scatter: ``pip install 'isosne[widgets]'``. Not in the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.plots import compare_widget
    >>> Y = np.random.default_rng(0).normal(size=(5, 2))
    >>> shown = compare_widget({"seed 0": Y, "mirrored": -Y})
    >>> len(shown.scatters)
    2
    """
    if not isinstance(maps, Mapping) or len(maps) < 2:
        hint = "Pass a dictionary such as {'owner': model, 'gaussian': other}."
        raise ParameterError("maps", "be a mapping from titles to at least two maps", hint=hint)
    found = {str(title): _coordinates(entry) for title, entry in maps.items()}
    sizes = {title: len(Y) for title, Y in found.items()}
    if len(set(sizes.values())) > 1:
        counts = ", ".join(f"{title}: {n:,}" for title, n in sizes.items())
        raise DataError(
            f"All maps must have the same points; got different numbers ({counts}). "
            "Pass maps of the same rows, in the same order."
        )
    paints = paint_maps(color, sizes, kind=kind, names=names)
    scatters = [_make_scatter(Y, paints[title], hover) for title, Y in found.items()]
    jscatter = _jscatter()
    linked = jscatter.link(
        list(zip(scatters, found, strict=True)), row_height=_check_height(height)
    )
    return MapWidget(scatters, linked)


def _jscatter() -> Any:
    return require("jscatter", "widgets", "isosne.plots.widget")


def _check_height(height: int) -> int:
    hint = f"{HEIGHT} is usual."
    return check_count(height, "height", low=100, hint=hint)


def _coordinates(embedding: Any) -> NDArray[np.float64]:
    """Return the coordinates of a fitted model or a map with one or two columns."""
    Y = check_embedding(getattr(embedding, "embedding_", embedding))
    if Y.shape[1] > 2:
        raise DataError(
            f"The map must have one or two dimensions; got {Y.shape[1]}. "
            "Draw three dimensions with isosne.plots.plot_map, or pass two columns of the map."
        )
    return Y


def _make_scatter(Y: NDArray[np.float64], paint: Paint, hover: Mapping[str, Any] | None) -> Any:
    jscatter, pandas = _jscatter(), require("pandas", "widgets", "isosne.plots.widget")
    positions = position_points(Y, paint)
    low, high = find_limits(positions)
    if Y.shape[1] > 1:  # a square, so that both axes have the same scale
        middle, half = (low + high) / 2, (high - low).max() / 2
        low, high = middle - half, middle + half
    frame = pandas.DataFrame(_check_hover(hover, len(Y)))
    told = list(frame)
    if paint is not None:
        title = paint.title or ("class" if isinstance(paint, Classes) else "value")
        frame[title], colors = _encode(paint)
        told = [title, *(name for name in told if name != title)]
    frame[X], frame[Y_] = positions.T
    limits = {"x_scale": (low[0], high[0]), "y_scale": (low[1], high[1])}
    scatter = jscatter.Scatter(data=frame, x=X, y=Y_, **limits)
    scatter.axes(False).background("white").color(default=PLAIN, selected="black")
    if paint is not None:
        scatter.color(by=title, **colors).legend(True)
    if told:
        scatter.tooltip(True, properties=told, histograms=False)
    return scatter


def _check_hover(hover: Mapping[str, Any] | None, n: int) -> dict[str, list[str]]:
    """Return the columns to show, as text, in which a column of any type is legible."""
    columns: dict[str, list[str]] = {}
    if hover is None:
        return columns
    for name in hover:
        entries: NDArray[Any] = np.asarray(hover[name], dtype=object)
        if entries.shape != (n,):
            raise DataError(
                f"{keyword('hover')} must have one entry per point in each column; got shape "
                f"{entries.shape} in {name!r} for {n} points. Pass the rows of the map."
            )
        columns[str(name)] = [str(entry) for entry in entries]
    return columns


def _encode(paint: Classes | Values) -> tuple[Any, dict[str, Any]]:
    """Return the column to color by, and the colors, as jupyter-scatter takes them."""
    if isinstance(paint, Values) and not paint.is_trust:
        low, high = paint.low, paint.high if paint.high > paint.low else paint.low + 1
        labels = f"{low:g}", f"{high:g}", paint.title
        return paint.numbers, {"map": VALUE_SCALE, "norm": (low, high), "labeling": labels}
    names, of_point, colors = (
        _trust_classes(paint)
        if isinstance(paint, Values)
        else (paint.names, paint.of_point, paint.colors)
    )
    used = np.unique(of_point)  # jupyter-scatter counts only those
    known: dict[str, str] = {}
    for c in used:
        known.setdefault(names[c], colors[c])  # several labels may have the same name
    pandas = require("pandas", "widgets", "isosne.plots.widget")
    column = pandas.Categorical(np.array(names, dtype=object)[of_point], list(known))
    return column, {"map": known}


def _trust_classes(paint: Values) -> tuple[list[str], NDArray[np.int64], list[str]]:
    """Return trust in fifths, as classes: jupyter-scatter has no color for missing values."""
    edges = [k / N_TRUST for k in range(1, N_TRUST)]
    between = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    names = [f"below {edges[0]:g}", *between, f"{edges[-1]:g} and above"]
    colors = [to_hex(TRUST_SCALE(k / (N_TRUST - 1))) for k in range(N_TRUST)]
    is_missing = np.isnan(paint.numbers)
    of_point = np.where(is_missing, N_TRUST, np.digitize(paint.numbers, edges))
    if is_missing.any():
        names, colors = [*names, NOT_MEASURED], [*colors, FAINT]
    return names, of_point, colors
