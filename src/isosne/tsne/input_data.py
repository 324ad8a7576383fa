"""The input of a fit: points in memory, or rows of a file or a Dask collection."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from isosne._checks import check_points, is_integer
from isosne._random import RandomState
from isosne._types import Array, Points
from isosne.errors import MissingValuesError
from isosne.kernels.base import MetricKernel
from isosne.kernels.registry import takes_tables
from isosne.neighbors.coordinates import working_size
from isosne.neighbors.metric import Metric
from isosne.sources import Rows, blocks, is_stored, open_rows
from isosne.sources.row_source import RowSource
from isosne.sources.scaled import Scale
from isosne.tables.columns import is_mixed
from isosne.tables.coordinates import table_coordinates
from isosne.tables.forest import TableForest
from isosne.tables.mixed_rows import MixedRows
from isosne.tsne.landmarks import Landmarks, draw_landmarks, pool_size
from isosne.tsne.peak_memory import InputSize

TABLES = (
    "To keep these rows, pass a data frame (pandas, polars or pyarrow) to TSNE, or --mixed on the "
    "command line."
)

DROPPING = (
    "Impute such values, or pass isosne.sources.open_rows(X, missing='drop') instead of X to leave "
    "out the rows."
)


def open_input(X: Any) -> Rows:
    """Open the input of an estimator, which has no parameter that drops rows; errors say what has.

    Rows that the user opened, and collections with other advice, keep their own.
    """
    rows = open_rows(X)
    if rows is not X and isinstance(rows, RowSource) and rows.advice is RowSource.advice:
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
        raise MissingValuesError(f"{error.sentence} {TABLES}") from None


class Input:
    """The input of `fit`. Points in memory are validated here, and only here.

    Parameters
    ----------
    X : array, CSR, data frame, path, or Dask array or data frame
        The input.
    landmarks : Landmarks or None
        Landmarks to map; None maps all rows.
    metric : str
        Name of the kernel's metric.
    random_state : int, Generator, RandomState or None
        Seed of the trees, if the input is a table with mixed columns.

    Attributes
    ----------
    shape : tuple of int
        Number of points to map, and number of features.
    forest : TableForest or None
        For a table with mixed columns, the trees; the points are its codes.
    """

    def __init__(
        self,
        X: Any,
        landmarks: Landmarks | None,
        metric: str,
        random_state: RandomState = None,
    ) -> None:
        self.forest: TableForest | None = None
        self._coordinates: Array | None = None
        is_table = isinstance(X, MixedRows)
        if is_table or (metric != "precomputed" and not is_stored(X) and is_mixed(X)):
            categorical = X.categorical if is_table else None
            seed = _tree_seed(random_state)
            self.forest = TableForest(categorical=categorical, random_state=seed)
            table = self.forest._grow(X.frame if is_table else X)
            self._coordinates = table_coordinates(self.forest.columns_, table)
            X = self.forest._find(table)
        self._landmarks = landmarks
        self._points: Points | None = None
        self._rows: Rows | None = None
        self._in_memory = not is_stored(X) and not isinstance(X, np.memmap)
        if landmarks is None and not is_stored(X):
            self._points = check_points(X, min_rows=2)
            self.shape: tuple[int, int] = self._points.shape
            return
        self._rows = open_input(X)
        self.shape = self._rows.shape
        if landmarks is not None:
            landmarks.check(self.shape[0], metric)
            self.shape = landmarks.n, self.shape[1]

    @property
    def n_rows(self) -> int:
        """Number of rows of the input; with landmarks, more than points to map."""
        return self.shape[0] if self._rows is None else int(self._rows.shape[0])

    @property
    def points(self) -> Points:
        """Points that are in memory."""
        assert self._points is not None  # only asked of input that was validated as a whole
        return self._points

    @property
    def column_names(self) -> tuple[str, ...] | None:
        """Column names of rows that are not in memory, if they have any."""
        return None if self._rows is None else self._rows.column_names

    @property
    def scale(self) -> Scale | None:
        """The column scaling of stored rows, if there is one."""
        return getattr(self._rows, "scale", None)

    def start_points(self, fitted: Points, landmarks: Array | None) -> Points:
        """Return the points whose principal components start a map: of a table its coordinates.

        fitted: the points of the kernel.
        """
        if self._coordinates is None:
            return fitted
        return self._coordinates if landmarks is None else self._coordinates[landmarks]

    @property
    def note(self) -> str:
        """What the plan says about the columns of a table."""
        return "" if self.forest is None else self.forest.describe()

    def size(self) -> InputSize:
        """Return the sizes that the plan depends on."""
        if self._points is not None:
            value_bytes, is_ready = working_size(self._points)
            if not isinstance(self._points, csr_array):
                return InputSize(*self.shape, value_bytes, is_ready)
            return InputSize(*self.shape, 8, is_ready, True, self._points.nnz)
        rows = self._rows
        assert rows is not None  # set in __init__ if the points are not
        value_bytes, is_ready = working_size(np.empty((0, 0), rows.dtype))
        entry_bytes = rows.dtype.itemsize + 4
        n_entries = self.shape[0] * rows.row_bytes // entry_bytes if rows.is_sparse else 0
        n_pool = pool_size(rows.shape[0], self._landmarks.n if self._landmarks else 0)
        n_rows = None if self._landmarks is None else rows.shape[0]
        return InputSize(
            *self.shape,
            value_bytes,
            is_ready,
            rows.is_sparse,
            n_entries,
            rows.row_bytes,
            n_rows,
            n_pool,
        )

    def n_listed(self, kernel: MetricKernel) -> int | None:
        """Return the number of distances per row of a sparse matrix of distances; None for others.

        Such a matrix is validated here, because the plan depends on the smallest number.
        """
        if kernel.metric != "precomputed":
            return None
        if self._points is None and self._rows is not None and self._rows.is_sparse:
            self._points = check_points(self._rows.read(slice(None)), min_rows=2)
        if not isinstance(self._points, csr_array):
            return None
        kernel._check_comparable(self._points)
        return kernel._n_listed(self._points)

    def fingerprint(self) -> str:
        """Return a hash of the input; for stored rows, of a sample of them."""
        rows = open_rows(self._points) if self._rows is None else self._rows
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
            return kernel._fit_checked(self._points), None
        assert self._rows is not None  # set in __init__ if the points are not
        with suggesting_tables(kernel):
            if self._landmarks is None:
                points = check_points(self._rows.read(slice(None)), min_rows=2)
                return kernel._fit_checked(points), None
            metric = Metric(kernel.metric, kernel.p)
            drawn = draw_landmarks(self._rows, self._landmarks, metric, rng)
        return kernel._fit_pool(drawn.pool, drawn.points), drawn.indices


def _tree_seed(random_state: RandomState) -> RandomState:
    """Return the seed of the trees: the user's integer, else 0, so that a run can be resumed."""
    return random_state if is_integer(random_state) else 0
