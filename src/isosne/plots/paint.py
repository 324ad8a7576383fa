"""What a map is colored by: classes, values or nothing, from any column that a user passes.

Needs no plotting package. Up to ten classes keep the order of the palette, so that a class has the
same color in every figure. For more classes, `spread_colors` minimizes

    sum over pairs of classes a, b of  nearness(a, b) / distance(color of a, color of b)^2

where nearness is 1 / (squared distance of the centers + softening)^3. That is a quadratic
assignment problem; swapping the best pair of colors as long as the sum falls finds a local minimum.
The powers are chosen: for 60 classes on a grid of centers, the colors of neighbors are at least 16
apart with normal vision and 4.4 in the worst view (units of `palette`), instead of 7.0 and 2.8.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw  # plain narwhals drops the categories of a column
import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_points
from isosne._types import Array
from isosne.errors import DataError, ParameterError, keyword, suggest
from isosne.plots.palette import (
    COLORS,
    FAINT,
    MAX_CLASSES,
    ON_DARK,
    ON_WHITE,
    TRUST_SCALE,
    VALUE_SCALE,
    Floats,
    assign,
    blend,
    color_distances,
    to_hex,
    to_rgb,
)
from isosne.quality import Trust
from isosne.quality.inputs import is_unlabeled

KINDS = ("auto", "labels", "values", "trust")
MAX_INTEGER_LABELS = 30  # integers with at most this many distinct values are labels; chosen
N_DISTINCT = 10  # up to this many colors are far apart in any order
NO_LABEL = "no label"
SHOWN = (0.05, 0.95)  # quantiles at the ends of the scale of trust, which few points exceed
Names = Mapping[Any, str] | Sequence[str] | NDArray[np.str_] | None


class Classes(NamedTuple):
    """The class of each point: ``names`` in the order of the legend, ``of_point`` (n,) indices.

    If ``has_rest``, the last name is not a class but stands for the points without a label, which
    have the color ``rest_color``.
    """

    names: list[str]
    of_point: NDArray[np.int64]
    title: str = ""
    has_rest: bool = False
    palette: Sequence[str] = COLORS
    rest_color: str = FAINT

    @property
    def n_classes(self) -> int:
        """Number of classes, without the group of unlabeled points."""
        return len(self.names) - self.has_rest

    @property
    def colors(self) -> list[str]:
        """Color of each class; gray for unlabeled points."""
        colors = [self.palette[c % len(self.palette)] for c in range(self.n_classes)]
        return colors + [self.rest_color] * self.has_rest

    @property
    def is_rest(self) -> NDArray[np.bool_]:
        """Whether each point is unlabeled."""
        return np.asarray(self.of_point >= self.n_classes)

    def part(self, rows: slice | Array) -> "Classes":
        """Return the classes of some points; names and colors stay the same."""
        return self._replace(of_point=self.of_point[rows])


class Values(NamedTuple):
    """The value of each point, NaN if unknown, and the limits of the color scale."""

    numbers: NDArray[np.float64]
    low: float
    high: float
    title: str = ""
    is_trust: bool = False
    on_dark: bool = False

    def part(self, rows: slice | Array) -> "Values":
        """Return the values of some points; the limits of the scale stay the same."""
        return self._replace(numbers=self.numbers[rows])

    def colors_of(self, numbers: Array) -> Floats:
        """Return the colors (..., 3) of numbers on the scale of these values."""
        return self._colors_at(self.shares(numbers))

    def shares(self, numbers: Array) -> Floats:
        """Return where numbers are on the scale, from 0 to 1; halves, so that nothing overflows."""
        return np.asarray((numbers / 2 - self.low / 2) / ((self.high / 2 - self.low / 2) or 1.0))

    @property
    def ends(self) -> tuple[str, str]:
        """What is written at both ends of the scale."""
        if self.is_trust:
            return f"{self.low:.0%}  fewer", f"{self.high:.0%}  more"
        low, high = (f"{float(f'{end:.4g}'):,.10g}" for end in (self.low, self.high))
        return low, high

    def sample_scale(self, n: int) -> list[str]:
        """Return n evenly spaced colors of the scale, from that of the lowest value on."""
        return to_hex(self._colors_at(np.linspace(0, 1, n)))

    def _colors_at(self, share: Array) -> Floats:
        first, last = ON_DARK if self.on_dark else ON_WHITE
        scale = TRUST_SCALE if self.is_trust else VALUE_SCALE
        return blend(scale, first + (last - first) * np.clip(share, 0, 1))


Paint = Classes | Values | None


class Column(NamedTuple):
    """A column: ``entries`` (n,), its name, and its categories in order, if it has any."""

    entries: Array
    title: str
    order: list[Any]


def point_colors(paint: Paint, rows: Array, plain: str, faint: str) -> Floats:
    """Return the colors (m, 3) of some points, ``faint`` if unknown; one for all without paint."""
    if paint is None:
        return to_rgb([plain])
    if isinstance(paint, Classes):
        return np.asarray(to_rgb(paint.colors)[paint.of_point[rows]])
    numbers = paint.numbers[rows]
    is_known = np.isfinite(numbers)[:, None]
    return np.where(is_known, paint.colors_of(np.nan_to_num(numbers)), to_rgb([faint]))


def check_embedding(embedding: Any, *, name: str = "embedding") -> Floats:
    """Return a map as a finite array with one to three columns."""
    points = check_points(embedding, name=name)
    if not isinstance(points, np.ndarray) or points.shape[1] > 3:
        raise DataError(
            f"{name} must be a dense array with 1 to 3 columns; got shape {points.shape}. "
            "Pass the embedding, such as TSNE().fit(X).embedding_, not the data."
        )
    return points.astype(np.float64)


def as_paint(color: Any, n: int, *, kind: str = "auto", names: Names = None) -> Paint:
    """Return what to color n points by; None for a single color."""
    if isinstance(color, Classes | Values) or (color is None and kind == "auto"):
        return color
    if color is None:
        rule, hint = f"be given with {keyword('kind', kind)}", "Pass one label or number per point."
        raise ParameterError("color", rule, None, hint)
    if isinstance(color, Trust):
        return paint_trusts([color], n)[0]
    return _paint_column(_read_column(color, n), kind, names)


def _paint_column(column: Column, kind: str, names: Names) -> Classes | Values:
    entries = column.entries
    if kind not in KINDS:
        auto = f"Use {keyword('kind', 'auto')} to choose it by the type of {keyword('color')}."
        hint = suggest(kind, KINDS, auto)
        raise ParameterError("kind", f"be one of {', '.join(KINDS)}", kind, hint)
    if kind == "auto":
        is_many = entries.dtype.kind in "iu" and len(np.unique(entries)) > MAX_INTEGER_LABELS
        kind = "values" if is_many or entries.dtype.kind == "f" else "labels"
    if kind == "labels":
        return _as_classes(column, names)
    return _as_values(column, is_trust=kind == "trust")


def _read_column(color: Any, n: int) -> Column:
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
            f"{keyword('color')} must be one-dimensional, with one entry per point; "
            f"got shape {array.shape} for {n} points. "
            "Pass the values in the order of the rows of the map."
        )
    return Column(array, title, order)


def _as_classes(column: Column, names: Names) -> Classes:
    array, title, order = column
    missing = is_unlabeled(array)
    try:
        found, of_labeled = np.unique(array[~missing], return_inverse=True)
    except TypeError:
        raise DataError(
            f"{keyword('color')} must be all text or all numbers; got a mixture of types. "
            "Convert it with np.asarray(color, dtype=str)."
        ) from None
    if len(found) > MAX_CLASSES:
        raise DataError(
            f"{keyword('color')} must have at most {MAX_CLASSES} classes; got {len(found)}. "
            f"Merge rare classes, or pass numbers with {keyword('kind', 'values')}."
        )
    ranked = np.argsort(_sort_keys(found.tolist(), order), kind="stable")
    found, of_labeled = found[ranked], np.argsort(ranked)[of_labeled]
    shown = [_find_name(entry, names) for entry in found.tolist()]
    has_rest = bool(missing.any())
    of_point = np.full(len(array), len(shown), np.int64)
    of_point[~missing] = of_labeled.reshape(-1)
    return Classes([*shown, *[NO_LABEL] * has_rest], of_point, title, has_rest)


def _sort_keys(labels: list[Any], order: list[Any]) -> Sequence[float]:
    """Return what to sort labels by: their categories, or numbers, also those that are text."""
    if order:
        return [order.index(label) for label in labels]
    try:
        return [float(label) for label in labels]
    except (TypeError, ValueError):
        return range(len(labels))


def _find_name(label: Any, names: Names) -> str:
    """Return the name of a label: by key from a mapping, by index from a sequence."""
    if names is None:
        return str(label)
    if isinstance(names, Mapping) and label in names:
        return str(names[label])
    if not isinstance(names, Mapping) and isinstance(label, int) and 0 <= label < len(names):
        return str(names[label])
    rule = f"have a name for every label; there is none for {label!r}"
    hint = "Pass a mapping from labels to names, or a sequence for labels 0, 1, ..."
    raise ParameterError("names", rule, hint=hint)


def _as_values(column: Column, *, is_trust: bool) -> Values:
    array, title = column.entries, column.title
    try:
        numbers = array.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{keyword('color')} must be numeric; got dtype {array.dtype}. "
            f"Pass numbers, or {keyword('kind', 'labels')}."
        ) from None
    n_bad = int((~np.isfinite(numbers)).sum())
    if n_bad:
        raise DataError(
            f"{keyword('color')} must be finite; got {n_bad} NaN or infinite value(s). "
            "Drop or impute these points."
        )
    if not is_trust:
        return Values(numbers, float(numbers.min()), float(numbers.max()), title)
    if numbers.min() < 0 or numbers.max() > 1:
        raise DataError(
            f"Trust must be between 0 and 1; got values from {numbers.min():g} to "
            f"{numbers.max():g}. Pass the result of isosne.quality.compare(...).trust(), or "
            f"{keyword('kind', 'values')}."
        )
    return paint_shares([numbers], title or "trust")[0]


def paint_trusts(trusts: Sequence[Trust], n: int) -> list[Values]:
    """Return the regional trust of n points on each of some maps, on one scale."""
    for trust in trusts:
        if len(trust.embedding) != n:
            raise DataError(
                "Trust must belong to the map; "
                f"got that of {len(trust.embedding)} points for a map of {n} points. "
                "Pass the result of isosne.quality.compare(...).trust() for this map."
            )
    title = f"neighbors kept{f', of {trusts[0].k}' if trusts[0].k else ''}"
    return paint_shares([trust.regional() for trust in trusts], title)


def paint_shares(shares: Sequence[Floats], title: str) -> list[Values]:
    """Return paints of shares of neighbors kept, on a scale from their 5 to their 95 % quantile."""
    known = np.concatenate([numbers[np.isfinite(numbers)] for numbers in shares])
    low, high = np.quantile(known, SHOWN).tolist() if len(known) else (0.0, 1.0)
    return [Values(numbers, low, high, title, is_trust=True) for numbers in shares]


def paint_maps(
    color: Any, sizes: Mapping[str, int], *, kind: str = "auto", names: Names = None
) -> dict[str, Paint]:
    """Return what to color several maps by, with the same colors in all of them.

    ``color`` is one column for all maps, or a mapping from titles to columns.
    """
    if not isinstance(color, Mapping):
        of_size = {n: as_paint(color, n, kind=kind, names=names) for n in set(sizes.values())}
        return {title: of_size[n] for title, n in sizes.items()}
    missing = [title for title in sizes if title not in color]
    if missing:
        rule = f"have an entry for every map; there is none for {missing[0]!r}"
        hint = "Pass one column for all maps, or a mapping from all titles to columns."
        raise ParameterError("color", rule, hint=hint)
    is_trust = {isinstance(color[title], Trust) for title in sizes}
    if len(is_trust) > 1:
        hint = "Draw these maps in two figures."
        raise ParameterError("color", "be Trust for all maps or for none", hint=hint)
    if True in is_trust:
        trusts = [paint_trusts([color[title]], n)[0] for title, n in sizes.items()]
        scaled = paint_shares([one.numbers for one in trusts], trusts[0].title)
        return dict(zip(sizes, scaled, strict=True))
    columns = [_read_column(color[title], n) for title, n in sizes.items()]
    whole = Column(  # painted at once, so that the maps share classes and scale
        np.concatenate([column.entries for column in columns]),
        columns[0].title,
        list(dict.fromkeys(category for column in columns for category in column.order)),
    )
    paint = _paint_column(whole, kind, names)
    ends = np.cumsum([0, *sizes.values()]).tolist()
    return {
        title: paint.part(slice(start, stop))
        for title, start, stop in zip(sizes, ends[:-1], ends[1:], strict=True)
    }


def spread_colors(paint: Paint, Y: Floats) -> Paint:
    """Return a paint whose colors differ most between classes that are near each other."""
    if not isinstance(paint, Classes) or not N_DISTINCT < paint.n_classes <= len(paint.palette):
        return paint
    n = paint.n_classes
    counts = np.bincount(paint.of_point, minlength=n)[:n]
    shown = np.flatnonzero(counts)  # a class may have no points here
    if len(shown) < 2:
        return paint
    sums = np.column_stack([np.bincount(paint.of_point, axis, n)[:n] for axis in Y.T])
    palette = tuple(paint.palette[:n])
    cost = 1 / (color_distances(palette) + np.eye(n)) ** 2
    np.fill_diagonal(cost, 0)
    near = np.zeros((n, n))
    near[np.ix_(shown, shown)] = _nearness(sums[shown] / counts[shown, None])
    return paint._replace(palette=[palette[c] for c in assign(near, cost).tolist()])


def _nearness(centers: Floats) -> Floats:
    """Return how near the centers are to each other, 1 for coinciding ones."""
    sq_dist = ((centers[:, None] - centers) ** 2).sum(axis=2)
    np.fill_diagonal(sq_dist, np.inf)
    softening = max(float(np.median(sq_dist.min(axis=1))) / 4, np.finfo(np.float64).tiny)
    return np.asarray((1 + sq_dist / softening) ** -3.0)
