"""The input of a fit: points in memory, rows of a file or a Dask collection, or a sample of them.

With landmarks, a pool of rows is drawn from the whole input; an isolation kernel draws its samples
from the pool. Landmarks, the rows that are mapped, are a subset of the pool. The size of the pool
does not depend on n, so neither do time and memory (docs/decisions/0008).
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils.validation import validate_data

from isosne._blocks import for_each_block
from isosne._checks import (
    as_graph,
    check_count,
    check_for_metric,
    check_names,
    check_points,
    check_width,
    is_integer,
    is_one_of,
)
from isosne._random import RandomState
from isosne._types import Array, Points
from isosne.errors import (
    DataError,
    MissingValuesError,
    ParameterError,
    as_keyword,
    keyword,
    show,
    spelled_by,
    suggest,
)
from isosne.kernels.base import MetricKernel
from isosne.kernels.given import PrecomputedKernel
from isosne.kernels.registry import takes_tables
from isosne.kernels.views import Layout, are_views
from isosne.neighbors.distances import exact_set
from isosne.neighbors.metric import Metric, Query, working_dtype
from isosne.rows.rows import Rows, blocks, is_stored
from isosne.rows.scaled import ScaledRows
from isosne.tables.columns import is_mixed
from isosne.tables.coordinates import MixedRows, table_bytes, table_coordinates
from isosne.tables.trees import TableForest
from isosne.tsne.memory import InputSize

POOL = 2**16
"""Rows in the pool; more if there are more landmarks (docs/decisions/0008)."""
CELL_SIZE = 8
"""Landmarks per cell with choice="spread" (chosen; not measured). Costs m / 8 passes over the pool
(docs/decisions/0008)."""
CHOICES = ("uniform", "spread")


@dataclass(frozen=True)
class Landmarks:
    """Map a sample of m rows; `TSNE.place` gives the other rows coordinates on that map.

    Parameters
    ----------
    n : int
        Number of landmarks, from 2 to the number of rows.
    choice : {"uniform", "spread"}, default="uniform"
        "uniform": sampled uniformly. "spread": half uniformly, half evenly over the space, so that
        rare populations are represented.

    Notes
    -----
    Algorithms 1 and 2 of the paper with m < n. Departure: samples of an isolation kernel are drawn
    from a pool of 65 536 rows instead of all rows (docs/decisions/0008). Other kernels, and the
    closed forms, compare landmarks only.

    Examples
    --------
    >>> from isosne import TSNE, Landmarks
    >>> TSNE(landmarks=Landmarks(5000, choice="spread"))
    TSNE(landmarks=Landmarks(n=5000, choice='spread'))
    """

    n: int
    choice: str = "uniform"

    def __post_init__(self) -> None:
        if not is_one_of(self.choice, CHOICES):
            raise ParameterError(
                "choice",
                f"be one of {', '.join(map(repr, CHOICES))}",
                self.choice,
                suggest(self.choice, CHOICES, "'spread' takes more landmarks from sparse regions."),
            )

    def _check(self, n_rows: int, metric: str) -> None:
        """Raise an error if there are more landmarks than rows, or if there are no points."""
        hint = "Leave landmarks out to map every row."
        check_count(self.n, "landmarks", low=2, high=n_rows, hint=hint)
        if is_one_of(metric, ("precomputed",)):
            raise ParameterError(
                "landmarks",
                "be None with precomputed distances or affinities: landmarks are rows of points",
                self.n,
                "Pass points, or leave landmarks out.",
            )


def as_landmarks(landmarks: object) -> Landmarks | None:
    """Return Landmarks for an integer; None and Landmarks are returned unchanged."""
    if landmarks is None or isinstance(landmarks, Landmarks):
        return landmarks
    count = check_count(landmarks, "landmarks", low=2, hint="Leave it out to map every row.")
    return Landmarks(count)


def pool_size(n_rows: int, n_landmarks: int) -> int:
    """Return the number of rows in the pool."""
    return min(n_rows, max(POOL, n_landmarks))


def draw_landmarks(
    rows: Rows, landmarks: Landmarks, metric: Metric, rng: np.random.Generator
) -> tuple[Points, Points, NDArray[np.int64]]:
    """Return a pool of rows, landmarks drawn from it, and their indices, in order of the input."""
    n_rows, n_landmarks = rows.shape[0], int(landmarks.n)
    drawn = rng.choice(n_rows, pool_size(n_rows, n_landmarks), replace=False)
    numbers = np.argsort(drawn)  # of the draws, in the order of the input
    ids = drawn[numbers]
    pool = check_points(rows.take(ids))
    check_for_metric(pool, metric.name)
    turns = np.zeros_like(numbers)
    if landmarks.choice == "spread":
        turns = _turns(pool, max(2, n_landmarks // CELL_SIZE), numbers, metric)
        turns[numbers < n_landmarks // 2] = 0  # dense clusters keep half of their landmarks
    first = np.lexsort((numbers, turns))[:n_landmarks]
    first.sort()
    return pool, pool[first], ids[first]


def _turns(pool: Points, n_cells: int, numbers: Array, metric: Metric) -> Array:
    """Return the rank of each row within its cell; landmarks are taken in order of rank."""
    cells = even_cells(pool, n_cells, int(np.argmin(numbers)), metric)
    order = np.lexsort((numbers, cells))
    turns = np.empty(len(cells), np.int64)
    turns[order] = np.arange(len(cells)) - np.searchsorted(cells[order], cells[order])
    return turns


def even_cells(pool: Points, n_cells: int, first: int, metric: Metric) -> NDArray[np.int64]:
    """Return the cell of each row, for cells of about equal width (farthest-point sampling).

    Each center is the row farthest from the previous centers. Cells around random rows would
    instead hold about equally many rows, and be wide where rows are rare. O(n_cells n d) time.
    """
    search = exact_set(pool, metric, precision=working_dtype(pool))
    nearest, cells = np.full(search.n_points, np.inf), np.zeros(search.n_points, np.int64)
    center = first

    def visit(query: Query, c: int, rows: slice) -> None:
        keys = search.keys(query, rows)[0]
        is_nearer = keys < nearest[rows]
        nearest[rows][is_nearer], cells[rows][is_nearer] = keys[is_nearer], c

    for c in range(n_cells):
        query = search.query(pool, slice(center, center + 1))
        for_each_block(search.n_points, search.tile, partial(visit, query, c))
        nearest[center] = 0
        center = int(np.argmax(nearest))
    return cells


TABLES = (
    "To keep these rows, pass a data frame (pandas, polars or pyarrow) to TSNE, or --mixed on the "
    "command line."
)

DROPPING = (
    "Impute such values, or pass isosne.rows.open_rows(X, missing='drop') instead of X to leave "
    "out the rows."
)


def _as_open_rows(name: str, value: object) -> str:
    """Spell a parameter of `open_rows` for users of `TSNE`, which does not have it."""
    spelled = as_keyword(name, value)
    return spelled if value is ... else f"isosne.rows.open_rows(X, {spelled}) instead of X"


def open_input(X: Any) -> Rows:
    """Open the input of an estimator; errors say how rows are dropped before a fit."""
    from isosne.rows.formats import open_rows  # and all readers, which an array does not need

    is_command = keyword("exclude") != "exclude"
    with nullcontext() if is_command else spelled_by(_as_open_rows):
        rows = open_rows(X)
    if rows is not X and isinstance(rows, Rows) and rows.advice is None:
        rows.advice = DROPPING
    return rows


@contextmanager
def suggesting_tables(kernel: object) -> Iterator[None]:
    """Say in an error for missing values that tables may have some, if the kernel takes tables."""
    try:
        yield
    except MissingValuesError as error:
        if not takes_tables(kernel):
            raise
        raise MissingValuesError(f"{error} {TABLES}") from None


class Input:
    """The input of `fit`. Points in memory are validated here, and only here.

    ``source`` is what the user passed, ``shape`` the number of points to map and of features,
    ``forest`` the trees of a table with mixed columns, whose codes are the points, and ``layout``
    that of several views, which are one matrix here.
    """

    def __init__(
        self, X: Any, kernel: Any, landmarks: Any = None, random_state: RandomState = None
    ) -> None:
        metric = getattr(kernel, "metric", "euclidean")
        if is_one_of(kernel, ("precomputed",)) or isinstance(kernel, PrecomputedKernel):
            metric = "precomputed"
        self.forest: TableForest | None = None
        self._is_precomputed = is_one_of(metric, ("precomputed",))
        X = as_graph(X) if self._is_precomputed else X
        self.layout = Layout.of(X) if are_views(X) else None
        if self.layout is not None:
            X = self.layout.stack(X)
        is_table = isinstance(X, MixedRows)
        self.source = X.frame if is_table else X
        self._examined = X.notes if isinstance(X, Rows) else None
        can_be_table = not self._is_precomputed and not is_stored(X)
        if is_table or (can_be_table and is_mixed(X)):
            categorical = X.categorical if is_table else None
            # A run without a seed can be resumed only if its trees grow again.
            seed = random_state if is_integer(random_state) else 0
            self.forest = TableForest(categorical=categorical, random_state=seed)
            X = self.forest.fit_transform(self.source)
        self.has_codes = self.forest is not None or is_one_of(metric, ("hamming",))
        self._landmarks = as_landmarks(landmarks)
        self._points: Points | None = None
        self._rows: Rows | None = None
        self._in_memory = not is_stored(X) and not isinstance(X, np.memmap)
        with suggesting_tables(kernel):
            self.shape = self._open(X, metric)

    def _open(self, X: Any, metric: Any) -> tuple[int, int]:
        """Validate points, or open rows; return the number of points to map and of features."""
        if self._landmarks is None and not is_stored(X):
            self._points = check_points(X, min_rows=2)
            return self._points.shape
        self._rows = open_input(X)
        n_rows, n_features = self._rows.shape
        if self._landmarks is None:
            return n_rows, n_features
        self._landmarks._check(n_rows, metric)
        return self._landmarks.n, n_features

    @property
    def n_rows(self) -> int:
        """Number of rows of the input; with landmarks, more than points to map."""
        return self.shape[0] if self._rows is None else int(self._rows.shape[0])

    def start_points(self, fitted: Points, landmarks: Array | None) -> Points:
        """Return the points whose principal components start a map: of a table its coordinates."""
        if self.forest is None:
            return fitted
        coordinates = table_coordinates(self.source, self.forest.categorical)
        return coordinates if landmarks is None else coordinates[landmarks]

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Sentences about columns that distort the map, or are left out of it."""
        if self._examined is not None:
            return self._examined
        table = self.source if self._rows is None or self.forest is not None else self._rows
        has_names = isinstance(table, Rows) or hasattr(table, "columns")
        if self._is_precomputed or not has_names:
            return ()
        from isosne.tables.notes import table_notes  # and all readers, which an array does not need

        if self.forest is None:
            return table_notes(table)
        return table_notes(table, self.forest.columns_, known=self.forest.categorical or ())

    def size(self, kernel: MetricKernel) -> InputSize:
        """Return the sizes that the plan of a fit with a kernel depends on."""
        found = self._size_of_points(self._n_listed(kernel))._replace(notes=self.notes)
        if self.forest is not None:
            of_table = table_bytes(self.forest.columns_, self.n_rows)
            columns = tuple(map(str, self.forest.columns_))
            note = self.forest.describe()
            return found._replace(table_bytes=of_table, note=note, columns=columns)
        if isinstance(self._points, np.ndarray) and hasattr(self.source, "columns"):
            return found._replace(table_bytes=self._points.nbytes)
        return found

    def _size_of_points(self, n_listed: int | None) -> InputSize:
        if self._points is not None:
            entries = self._points.nnz if isinstance(self._points, csr_array) else None
            value_bytes = np.dtype(working_dtype(self._points)).itemsize
            return InputSize(*self.shape, value_bytes, entries, n_listed=n_listed)
        rows = self._rows
        assert rows is not None  # set in __init__ if the points are not
        entry_bytes = rows.dtype.itemsize + 4
        return InputSize(
            *self.shape,
            np.dtype(working_dtype(np.empty((0, 0), rows.dtype))).itemsize,
            self.shape[0] * rows.row_bytes // entry_bytes if rows.is_sparse else None,
            rows.row_bytes,
            rows.copies_read,
            n_rows=rows.shape[0] if self._landmarks else None,
            n_pool=pool_size(rows.shape[0], self._landmarks.n) if self._landmarks else None,
        )

    def _n_listed(self, kernel: MetricKernel) -> int | None:
        """Return the number of distances per row of a sparse matrix of distances; None for others.

        Such a matrix is validated here, because the plan depends on the smallest number.
        """
        if kernel.metric != "precomputed":
            return None
        if self._points is None and self._rows is not None and self._rows.is_sparse:
            self._points = check_points(self._rows.read(slice(None)), min_rows=2)
        if not isinstance(self._points, csr_array):
            return None
        kernel.check_comparable(self._points)
        return kernel.n_listed(self._points)

    def fingerprint(self) -> str:
        """Return a hash of the input; for stored rows, of a sample of them."""
        rows = open_input(self._points) if self._rows is None else self._rows
        digest = sha256(rows.fingerprint().encode())
        for part in blocks(rows) if self._in_memory else ():
            block: Any = rows.read(part)
            is_sparse = isinstance(block, csr_array)
            for values in (block.indptr, block.indices, block.data) if is_sparse else (block,):
                digest.update(np.ascontiguousarray(values).data)
        return digest.hexdigest()[:32]

    def fit(
        self, kernel: MetricKernel, rng: np.random.Generator
    ) -> tuple[MetricKernel, Array | None]:
        """Return the kernel fitted to the mapped points, and the row indices of landmarks."""
        if self._points is not None:
            return kernel.fit_checked(self._points), None
        assert self._rows is not None  # set in __init__ if the points are not
        with suggesting_tables(kernel):
            if self._landmarks is None:
                points = check_points(self._rows.read(slice(None)), min_rows=2)
                return kernel.fit_checked(points), None
            metric = Metric(kernel.metric, kernel.p)
            pool, points, ids = draw_landmarks(self._rows, self._landmarks, metric, rng)
        return kernel.fit_pool(pool, points), ids

    def describe_columns(self, model: Any) -> None:
        """Set the attributes of a fitted estimator that describe the columns of its input."""
        set_or_remove(model, "table_", self.forest)
        set_or_remove(model, "layout_", self.layout)
        set_or_remove(model, "input_scale_", getattr(self._rows, "scale", None))
        if self._rows is None or not is_stored(self.source):
            validate_data(model, self.source, reset=True, skip_check_array=True)
            if self.layout is not None:
                model.n_features_in_ = sum(self.layout.widths)
            return
        names = self._rows.column_names
        model.n_features_in_ = self.shape[1]
        is_named = names is not None
        set_or_remove(model, "feature_names_in_", np.array(names, object) if is_named else None)


def set_or_remove(model: Any, name: str, value: object) -> None:
    """Set an attribute, or for None remove that of an earlier fit."""
    if value is not None:
        setattr(model, name, value)
    elif hasattr(model, name):
        delattr(model, name)


def comparable_rows(model: Any, X: Any) -> Any:
    """Return the rows of X that are on the map of a model, as its kernel compares them."""
    if hasattr(model, "layout_"):
        return take_landmarks(model, _stacked(model, X))
    rows = open_input(X) if is_stored(X) and model.plan_.n_rows is not None else X
    return take_landmarks(model, model.table_.transform(X) if hasattr(model, "table_") else rows)


def take_landmarks(model: Any, values: Any) -> Any:
    """Return points or values of the landmarks of a model, if those of all its rows are given."""
    n_rows = model.plan_.n_rows
    length = values.shape[:1] if hasattr(values, "shape") else np.shape(values)[:1]
    if n_rows is None or length != (n_rows,):
        return values
    chosen = model.landmark_indices_
    if isinstance(values, Rows):
        return values.take(chosen)
    known = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(known, nw.DataFrame | nw.Series):
        return known[chosen.tolist()].to_native()
    return (values if hasattr(values, "shape") else np.asarray(values))[chosen]


def checked_points(model: Any, X: Any) -> Points:
    """Return new points, validated, as the kernel of a model compares them: scaled, or as codes."""
    if hasattr(model, "layout_"):
        return check_points(_stacked(model, X))
    if is_stored(X):
        return check_points(opened_rows(model, X).read(slice(None)))
    if hasattr(model, "table_"):
        codes: Points = model.table_.transform(X)
        return codes
    X = _as_pairs(model, X)
    points = check_points(X)
    check_width(points, model.n_features_in_, type(model).__name__)
    validate_data(model, X, reset=False, skip_check_array=True)
    if hasattr(model, "input_scale_"):
        points = model.input_scale_.apply(points)
    check_for_metric(points, model.kernel_.metric)
    return points


def _stacked(model: Any, X: Any) -> Points:
    """Return views, or a table with their columns side by side, as one matrix, scaled."""
    layout: Layout = model.layout_
    X = open_input(X).read(slice(None), allow_missing=True) if is_stored(X) else X
    if hasattr(model, "input_scale_"):
        X = model.input_scale_.apply(np.hstack(list(layout.named(X).values())))
    return layout.stack(X)


def _as_pairs(model: Any, X: Any) -> Any:
    """Return the neighbors of new points among the fitted points as CSR; other input unchanged."""
    return as_graph(X, model.n_features_in_) if model.kernel_.takes_pairs else X


def opened_rows(model: Any, X: Any) -> Rows:
    """Return new rows of an input of any kind as the kernel of a model compares them."""
    if hasattr(model, "layout_"):
        return open_input(_stacked(model, X))
    if hasattr(model, "table_"):
        X = X.frame if isinstance(X, MixedRows) else X
        if is_stored(X):
            raise DataError(
                "The map was made of a table with mixed columns, and takes tables in memory; "
                f"got {show(X)}. Read it into a data frame, or pass parts of it."
            )
        return open_input(model.table_.transform(X))
    rows = open_input(_as_pairs(model, X))
    check_width(rows, model.n_features_in_, type(model).__name__)
    check_names(rows.column_names, getattr(model, "feature_names_in_", None))
    if hasattr(model, "input_scale_") and not isinstance(rows, ScaledRows):
        return ScaledRows(rows, model.input_scale_)
    return rows
