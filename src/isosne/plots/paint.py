"""What a map is colored by: classes, values or nothing, from whatever the user passed."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw  # plain narwhals gives up the categories of a column
import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne.errors import DataError, ParameterError
from isosne.plots.palette import FAINT, MOST_CLASSES, SHAPES, class_color, class_shape
from isosne.quality import Trust
from isosne.quality.labels import is_unlabeled

KINDS = ("auto", "labels", "values", "trust")
MOST_WHOLE_NUMBERS = 30
"""Distinct whole numbers up to which they are taken for labels."""
NO_LABEL = "no label"
Names = Mapping[Any, str] | Sequence[str] | NDArray[np.str_] | None


class Classes(NamedTuple):
    """A class for each point: ``names`` in the order of the legend, ``of_point`` (n,) numbers.

    Where ``has_rest``, the last of them is no class: it holds the points without a label.
    """

    names: list[str]
    of_point: NDArray[np.int64]
    title: str = ""
    has_rest: bool = False

    @property
    def n_classes(self) -> int:
        """How many there are, the points without a label not counted."""
        return len(self.names) - self.has_rest

    @property
    def colors(self) -> list[str]:
        """The color of each class; gray without a label."""
        return [class_color(c) for c in range(self.n_classes)] + [FAINT] * self.has_rest

    @property
    def shapes(self) -> list[str]:
        """The marker of each class, where classes differ in shape."""
        n = self.n_classes
        return [class_shape(c, n) for c in range(n)] + [SHAPES[0]] * self.has_rest

    @property
    def is_rest(self) -> NDArray[np.bool_]:
        """Whether each point is without a label."""
        return np.asarray(self.of_point >= self.n_classes)

    def part(self, rows: slice | Array) -> "Classes":
        """Return the classes of some points; names, and with them colors, stay."""
        return self._replace(of_point=self.of_point[rows])


class Values(NamedTuple):
    """A number for each point, NaN where nobody asked, and the two ends of the color scale."""

    numbers: NDArray[np.float64]
    low: float
    high: float
    title: str = ""
    is_trust: bool = False

    def part(self, rows: slice | Array) -> "Values":
        """Return the numbers of some points; the ends of the scale stay."""
        return self._replace(numbers=self.numbers[rows])


Paint = Classes | Values | None


class Column(NamedTuple):
    """What the user passed: ``entries`` (n,), the name, and the categories in order if it has."""

    entries: Array
    title: str
    order: list[Any]


def as_paint(color: Any, n: int, *, kind: str = "auto", names: Names = None) -> Paint:
    """Return what to color n points by; None: all the same."""
    _check_kind(kind)
    if color is None:
        if kind != "auto":
            raise ParameterError(
                f"kind={kind!r} needs something to color by; got color=None. "
                "Pass one label or number for each point."
            )
        return None
    if isinstance(color, Trust):
        if kind not in ("auto", "trust"):
            raise ParameterError(
                f"kind must be 'trust' for what isosne.quality.trust returns; got {kind!r}. "
                "Leave kind out, or pass one of its columns."
            )
        return _of_trust(color, n)
    return _from_column(_read(color, n), kind, names)


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise ParameterError(
            f"kind must be one of {', '.join(KINDS)}; got {kind!r}. "
            "Leave it out to have it chosen by the type of color."
        )


def _from_column(column: Column, kind: str, names: Names) -> Classes | Values:
    if kind == "auto":
        kind = _fitting_kind(column.entries)
    if kind == "labels":
        return _as_classes(column, names)
    return _as_values(column, is_trust=kind == "trust")


def _read(color: Any, n: int) -> Column:
    series = nw.from_native(color, series_only=True, pass_through=True)
    title, order = "", []
    if isinstance(series, nw.Series):
        title = str(series.name or "")
        if series.dtype in (nw.Categorical, nw.Enum):
            order = series.cat.get_categories().to_list()
        array = np.asarray(series.to_list(), object) if order else series.to_numpy()
    else:
        array = np.asarray(color)
    if array.shape != (n,):
        raise DataError(
            "color must be one-dimensional, with one entry for each point of the map; "
            f"got shape {array.shape} for {n} points. "
            "Pass the column of the rows that were mapped, in the same order."
        )
    return Column(array, title, order)


def _fitting_kind(array: Array) -> str:
    if array.dtype.kind == "f":
        return "values"
    is_whole = array.dtype.kind in "iu"
    return "values" if is_whole and len(np.unique(array)) > MOST_WHOLE_NUMBERS else "labels"


def _as_classes(column: Column, names: Names) -> Classes:
    array, title, order = column
    missing = is_unlabeled(array)
    try:
        found, of_labeled = np.unique(array[~missing], return_inverse=True)
    except TypeError:
        raise DataError(
            "color must be of one kind, so that classes can be sorted; got a mixture. "
            "Pass all of them as text, or all as numbers."
        ) from None
    if len(found) > MOST_CLASSES:
        raise DataError(
            f"color must name at most {MOST_CLASSES} classes to be drawn as labels; "
            f"got {len(found)}. Put the rare ones into one class, or pass numbers."
        )
    if order:
        place = {category: c for c, category in enumerate(order)}
        ranks = np.argsort(np.argsort([place[entry] for entry in found.tolist()]))
        of_labeled = ranks[of_labeled]
        found = np.array(sorted(found.tolist(), key=place.__getitem__), object)
    shown = [_name(entry, names) for entry in found.tolist()]
    has_rest = bool(missing.any())
    of_point = np.full(len(array), len(shown), np.int64)
    of_point[~missing] = of_labeled.reshape(-1)
    return Classes([*shown, *[NO_LABEL] * has_rest], of_point, title, has_rest)


def _name(label: Any, names: Names) -> str:
    """Return the name of a label: by key from a mapping, by place from a sequence."""
    if names is None:
        return str(label)
    try:
        if isinstance(names, Mapping):
            return str(names[label])
        if isinstance(label, int) and label >= 0:
            return str(names[label])
        raise KeyError(label)
    except (KeyError, IndexError):
        raise ParameterError(
            f"names must have a name for every label; got none for {label!r}. "
            "Pass a mapping from labels to names, or a sequence if labels count from 0."
        ) from None


def _as_values(column: Column, *, is_trust: bool) -> Values:
    array, title = column.entries, column.title
    try:
        numbers = array.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"color must be numeric to be drawn by value; got dtype {array.dtype}. "
            "Pass numbers, or kind='labels'."
        ) from None
    n_bad = int((~np.isfinite(numbers)).sum())
    if n_bad:
        raise DataError(
            f"color must be finite; got {n_bad} NaN or infinite value(s). "
            "Leave out or impute these points."
        )
    if not is_trust:
        return Values(numbers, float(numbers.min()), float(numbers.max()), title)
    if numbers.min() < 0 or numbers.max() > 1:
        raise DataError(
            f"Trust must be from 0 to 1; got values from {numbers.min():g} to {numbers.max():g}. "
            "Pass what isosne.quality.trust returns, or kind='values'."
        )
    return Values(numbers, 0.0, 1.0, title or "trust", is_trust=True)


def _of_trust(trust: Trust, n: int) -> Values:
    if len(trust.points) and int(trust.points.max()) >= n:
        raise DataError(
            "Trust must be that of the points of the map; "
            f"got point {int(trust.points.max())} for a map of {n} points. "
            "Pass what isosne.quality.trust returns for this map."
        )
    numbers = np.full(n, np.nan)
    numbers[trust.points] = trust.agreement
    count = f"{trust.k} " if trust.k else ""
    return Values(numbers, 0.0, 1.0, f"share of {count}neighbors kept", is_trust=True)


def paint_maps(
    color: Any, sizes: Mapping[str, int], *, kind: str = "auto", names: Names = None
) -> dict[str, Paint]:
    """Return the paint of several maps, with the same colors for the same thing in all.

    ``color`` is one column for all maps, or a mapping from their titles to one for each.
    """
    if not isinstance(color, Mapping):
        of_size = {n: as_paint(color, n, kind=kind, names=names) for n in set(sizes.values())}
        return {title: of_size[n] for title, n in sizes.items()}
    missing = [title for title in sizes if title not in color]
    if missing:
        raise ParameterError(
            f"color must have an entry for every map; got none for {missing[0]!r}. "
            "Pass one column for all maps, or one for each by its title."
        )
    asked = {title: color[title] for title in sizes}
    n_trust = sum(isinstance(entry, Trust) for entry in asked.values())
    if n_trust == len(asked):
        return {title: as_paint(asked[title], n, kind=kind) for title, n in sizes.items()}
    if n_trust:
        raise ParameterError(
            "color must be of one kind in all maps; got Trust for some of them only. "
            "Draw them in two figures."
        )
    return _paint_together(asked, sizes, kind, names)


def _paint_together(
    asked: Mapping[str, Any], sizes: Mapping[str, int], kind: str, names: Names
) -> dict[str, Paint]:
    """Paint the columns of several maps as if they were one, and cut the result."""
    _check_kind(kind)
    columns = [_read(asked[title], n) for title, n in sizes.items()]
    whole = Column(
        np.concatenate([column.entries for column in columns]),
        columns[0].title,
        list(dict.fromkeys(category for column in columns for category in column.order)),
    )
    paint = _from_column(whole, kind, names)
    ends = np.cumsum([0, *sizes.values()]).tolist()
    return {
        title: paint.part(slice(start, stop))
        for title, start, stop in zip(sizes, ends[:-1], ends[1:], strict=True)
    }
