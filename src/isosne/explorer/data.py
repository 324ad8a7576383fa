"""The rows that are explored, and the settings of a map of them.

`Data`: points in memory, identifiers, labels and columns to show. `Settings`: what the page offers,
as an estimator and as options of `isosne embed`.
"""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from isosne._checks import check_points
from isosne._html import Markup, fill
from isosne._matching import check_ids
from isosne._types import Array, Points
from isosne.errors import DataError
from isosne.kernels.registry import KERNELS, make_kernel, parse_numbers
from isosne.layout.schedules import Schedule, as_schedule
from isosne.neighbors.metric import Metric
from isosne.pages.sprites import make_sprites
from isosne.rows import Rows, Table, open_rows
from isosne.rows.columns import as_text
from isosne.studies.point_columns import Column, as_column, as_texts, well_formed
from isosne.tables.columns import is_mixed
from isosne.tables.coordinates import MixedRows, gower_points
from isosne.tsne.estimator import TSNE

MIN_POINTS = 4  # smallest number of rows: the R_NX curve needs four points
MAX_FEATURES = 100  # of wider tables, such as images, no feature is a column to show
CHOICES = ("owner", "isolation", "gaussian", "adaptive", "knn")  # kernels that the page offers
PYTHON_ONLY = ("k", "p", "exaggeration")  # settings that `isosne embed` has no options for
EUCLIDEAN = Metric()
SPRITE = ("width", "height", "columns", "per_sheet")
IMAGE_SIDE = 48  # in pixels


@dataclass(frozen=True, eq=False)
class Data:
    """Rows to explore.

    ``X`` are the points whose neighbors are known: those that are mapped, or for ``mixed`` columns
    points for Gower's distance. ``columns`` are shown, searched and compared; features come first,
    in their own units. ``words`` are the source and the options that read it, as they are typed
    after ``isosne embed``; empty for data from Python. ``notes``: on columns that distort maps.
    ``origin``: the rows of a table as they were read. ``images``: those of `make_sprites`.
    """

    X: Points
    ids: Array
    labels: Array | None
    columns: tuple[Column, ...]
    source: str
    label_name: str = "label"
    words: tuple[str, ...] = ()
    mixed: MixedRows | None = None
    notes: tuple[str, ...] = ()
    origin: Rows | None = None
    images: dict[str, Any] | None = None

    @property
    def title(self) -> str:
        """The name of the table."""
        return Path(self.source).name or self.source

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def described(self) -> tuple[Column, ...]:
        """Return what is known of the rows: the labels as a column of text, and the columns."""
        if self.labels is None:
            return self.columns
        texts = as_text(self.labels)
        return (as_column(self.label_name, texts, self.n_rows), *self.columns)

    def with_images(self, images: Any) -> Self:
        """Return the rows with an image of each (n, height, width[, 3]), unless it is None."""
        return self if images is None else replace(self, images=make_sprites(images, self.n_rows))

    def image(self, row: int) -> Markup:
        """Return the image of a row, cut out of its sheet; empty without images."""
        if self.images is None:
            return Markup()
        width, height, columns, per_sheet = (self.images[name] for name in SPRITE)
        sheet, place = divmod(row, per_sheet)
        line, column = divmod(place, columns)
        at = width, height, sheet, -column * width, -line * height, IMAGE_SIDE / max(width, height)
        style = "width: {}px; height: {}px; background: var(--sheet{}) {}px {}px; zoom: {}"
        look = "display: inline-block; image-rendering: pixelated"
        return fill(f'<i style="{look}; {style}"></i>', *at)

    def to_fit(self, rows: Array | None) -> Any:
        """Return what a map of all rows (None) or of some is fitted to."""
        if self.mixed is not None:
            return self.mixed if rows is None else self.mixed.subset(rows)
        return self.X if rows is None else self.X[rows]


def from_table(
    table: Table,
    unscaled: Table,
    source: str,
    roles: tuple[str | None, str | None],
    words: tuple[str, ...],
) -> Data:
    """Return the rows of a table; columns are taken from the table before it was scaled.

    ``roles`` are the columns of the identifiers and of the labels, which are not shown again.
    """
    rows = table.rows
    X, mixed = rows.read(slice(None)), rows if isinstance(rows, MixedRows) else None
    n = _check_enough(X)
    if mixed is None:
        shown = _features(unscaled.rows.read(slice(None)), table.names or ())
    else:
        shown = mixed.columns()
    skipped = {*roles, *shown}
    shown |= {name: read() for name, read in rows.side.items() if name not in skipped}
    ids = np.arange(n) if table.ids is None else table.ids
    columns = tuple(as_column(name, values, n) for name, values in shown.items())
    about = roles[1] or "label", words, mixed, rows.notes or (), unscaled.rows
    return Data(X, ids, table.labels, columns, source, *about)


def from_python(
    X: Any, labels: Any = None, ids: Any = None, columns: Mapping[str, Any] | None = None
) -> Data:
    """Return points, labels, identifiers and columns that were passed in Python."""
    mixed = None
    if is_mixed(X):
        points = gower_points(X)
        mixed = MixedRows(open_rows(points), X)
        features = mixed.columns()
    else:
        points = check_points(X)
        features = _features(points, getattr(X, "columns", ()))
    n = _check_enough(points)
    if labels is not None and len(labels) != n:
        raise DataError(
            f"labels must have one entry per row; got {len(labels)} for {n} rows. "
            "Pass them in the order of the rows."
        )
    return Data(
        points,
        np.arange(n) if ids is None else _plain(check_ids(ids, n, "ids")),
        None if labels is None else _plain(np.asarray(labels)),
        tuple(
            as_column(name, values, n) for name, values in (features | dict(columns or {})).items()
        ),
        "data from Python",
        well_formed(str(getattr(labels, "name", None) or "label")),
        mixed=mixed,
    )


def _plain(values: Array) -> Array:
    """Return numbers as they are, and all other values, also of several types, as text."""
    return values if values.dtype.kind in "iuf" else as_texts(values)


def _check_enough(X: Points) -> int:
    if X.shape[0] < MIN_POINTS:
        raise DataError(
            f"A table to explore must have at least {MIN_POINTS} rows; got {X.shape[0]}. "
            "Pass more rows."
        )
    return int(X.shape[0])


def _features(X: Points, names: Iterable[Any]) -> dict[str, Array]:
    """Return the features by name; none of a sparse or a very wide table."""
    if not isinstance(X, np.ndarray) or X.shape[1] > MAX_FEATURES:
        return {}
    titles = [str(name) for name in names] or [f"column {c}" for c in range(X.shape[1])]
    return {title: X[:, c].astype(np.float64) for c, title in enumerate(titles)}


def plain_values(column: Column, rows: Array | slice) -> Array:
    """Return the values of some rows: numbers, or text."""
    values = column.data[rows]
    return values if column.words is None else np.array(column.words, dtype=np.str_)[values]


def show_values(values: Array) -> Array:
    """Return values as text: numbers with six digits, empty if missing; no integer is rounded."""
    if values.dtype.kind != "f":
        return as_texts(values)
    return np.array(["" if value != value else f"{value:.6g}" for value in values.tolist()])


@dataclass(frozen=True)
class Settings:
    """Settings of a map.

    ``size`` is the main parameter of the kernel as text, such as "16" or "8,64": psi, cell_size,
    perplexity or k. Empty: its default. ``n_iter`` None: until the objective has settled.
    ``metric`` is the distance between rows.
    """

    kernel: str = "owner"
    size: str = ""
    exaggeration: float | None = None
    seed: int = 0
    n_iter: int | None = None
    metric: Metric = EUCLIDEAN

    @classmethod
    def of(cls, model: TSNE) -> Self | None:
        """Return the settings of an estimator; None if the page does not offer its kernel."""
        kernel = model.kernel if model.kernel not in CHOICES else make_kernel(model.kernel, {})
        names = [name for name in CHOICES if type(kernel) is KERNELS[name].kind]
        if not names:
            return None
        size = kernel.get_params()[KERNELS[names[0]].main_parameter]
        numbers = size if isinstance(size, list | tuple) else [size]
        schedule = as_schedule(model.schedule)
        return cls(
            names[0],
            "" if size in (None, "auto") else ",".join(map(str, numbers)),
            model.exaggeration,
            model.random_state if isinstance(model.random_state, int) else 0,
            None if schedule.phases[-1].stop else schedule.n_iter,
            Metric(kernel.metric, kernel.p),
        )

    @property
    def parameter(self) -> str:
        """Name of the main parameter of the kernel."""
        return KERNELS[self.kernel].main_parameter

    @property
    def title(self) -> str:
        """Name of the map, such as "Isolation kernel, psi 16"."""
        size = f", {self.parameter.replace('_', ' ')} {self.size}" if self.size else ""
        return f"{self.kernel.capitalize()} kernel{size}"

    def command(self, words: tuple[str, ...], output: str) -> tuple[str, str]:
        """Return the `isosne embed` that writes the map, and settings that it has no option for."""
        plain, options, others = Settings(), [], []
        for name, value, default in (
            ("kernel", self.kernel, plain.kernel),
            (self.parameter.replace("_", "-"), self.size.replace(" ", ""), ""),
            ("metric", self.metric.name, plain.metric.name),
            ("p", self.metric.p, plain.metric.p),
            ("exaggeration", self.exaggeration, None),
            ("n-iter", self.n_iter, plain.n_iter),
            ("seed", self.seed, plain.seed),
        ):
            text = f"{value:g}" if isinstance(value, float) else str(value)
            if value != default and name in PYTHON_ONLY:
                others.append(f"{name} {text}")
            elif value != default:
                options += [f"--{name}", text]
        return shlex.join(["isosne", "embed", *words, *options, "-o", output]), ", ".join(others)

    def make_model(self) -> TSNE:
        """Return an estimator with these settings."""
        given: dict[str, Any] = {}
        if self.size:
            numbers = parse_numbers(self.parameter, self.size)
            given[self.parameter] = numbers[0] if len(numbers) == 1 else numbers
        if self.metric != EUCLIDEAN:
            given |= {"metric": self.metric.name, "p": self.metric.p}
        return TSNE(
            make_kernel(self.kernel, given) if given else self.kernel,
            schedule=Schedule.annealed(n_iter=self.n_iter),
            exaggeration=self.exaggeration,
            random_state=self.seed,
        )
