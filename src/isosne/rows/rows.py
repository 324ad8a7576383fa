"""The base class of every source of rows: checks of indices, values and files, and fingerprints."""

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._files import describe_os_error
from isosne._types import Array, Points
from isosne.errors import DataError, IsosneError, MissingValuesError, ParameterError, keyword

Indices = NDArray[np.int64]

LAZY_PACKAGES = ("dask", "zarr")
"""Packages whose collections are read in parts."""
BLOCK_BYTES = 64_000_000
"""Default size of a block of rows. Chosen: small in memory, and large for a read."""
LONGEST_REASON = 200
"""Letters of the message of a reader that are repeated in ours; some messages contain the file."""
SAMPLE_BYTES, N_SAMPLES = 65_536, 16
"""The fingerprint of a file uses its size and N_SAMPLES + 1 samples: about 1 MB. Chosen."""


class SourceFiles:
    """The files of a source, with their sizes and modification times when it was opened.

    They must not change while they are read. A source that is not in files has a name and no paths.
    """

    def __init__(self, name: str, *paths: Path) -> None:
        self.name, self.paths = name, paths
        self.stamps = {path: _stamp(path) for path in paths}

    def check_unchanged(self) -> None:
        """Raise an error if a file has changed since the source was opened."""
        for path, before in self.stamps.items():
            if _stamp(path) != before:
                raise DataError(
                    f"{path} must not change while it is read; it was written again. "
                    "Wait until the file is complete, then start again."
                )

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Check the files before and after a read; convert read errors to `DataError`."""
        self.check_unchanged()
        try:
            yield
        except Exception as error:  # readers raise almost anything for damaged files
            self.check_unchanged()
            if isinstance(error, IsosneError) or not self.paths:
                raise
            line = (str(error).splitlines() or [""])[0].rstrip(".")
            reason = line if len(line) <= LONGEST_REASON else f"{line[:LONGEST_REASON]}..."
            what = (
                "the file is damaged, incomplete, or not of the format that its extension names "
                f"({type(error).__name__}: {reason}). Write or copy it again."
            )
            if isinstance(error, PermissionError):
                what = "permission denied. Change the permissions of the file."
            raise DataError(f"Cannot read {self.name}: {what}") from error
        self.check_unchanged()

    def digest(self, digest: Any) -> None:
        """Update a hash with sizes and samples of the content: a copy has the same hash."""
        digest.update(" ".join(str(n_bytes) for n_bytes, _ in self.stamps.values()).encode())
        for path in self.paths[:: max(1, len(self.paths) - 1)]:  # the first and the last
            n_bytes, _ = self.stamps[path]
            with path.open("rb") as file:
                for k in range(N_SAMPLES + 1):
                    file.seek(max(0, n_bytes - SAMPLE_BYTES) * k // N_SAMPLES)
                    digest.update(file.read(SAMPLE_BYTES))


def _stamp(path: Path) -> tuple[int, int]:
    """Return the size and the modification time of a regular file."""
    status = stat_path(path)
    if stat.S_ISDIR(status.st_mode):
        raise DataError(f"Cannot read {path}: it is a folder. Name a file in it.")
    if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for its writer
        raise DataError(
            f"Cannot read {path}: it is not a regular file, and rows are read in any order. "
            "Save its content to a file, or pipe it into isosne and pass '-' instead."
        )
    return status.st_size, status.st_mtime_ns


def stat_path(path: Path) -> os.stat_result:
    """Return what the system knows of a path; raise an error if it does not exist."""
    try:
        return path.stat()
    except FileNotFoundError:
        raise DataError(f"Cannot read {path}: no such file. Correct the path.") from None
    except OSError as error:
        raise DataError(
            f"Cannot read {path}: {describe_os_error(error)}. "
            "Correct the path, or change its permissions."
        ) from error
    except ValueError as error:  # a null character
        raise DataError(f"Cannot read {str(path)!r}: {error}. Correct the path.") from error


class Rows(ABC):
    """Points that need not be in memory at once; `open_rows` returns them.

    Attributes
    ----------
    shape : tuple of int
        Number of rows and of features.
    dtype : dtype
        Type of the values that `read` and `take` return.
    column_names : tuple of str or None
        Names of the features, if the source has names.
    row_bytes : int
        Average size of a row in memory.
    side : mapping of str to callable
        For each column that is not a feature, such as ids and labels, a function that reads it.
    left_out : tuple of str
        Columns that are not features only because they are not numeric.
    is_sparse : bool
        Whether rows are returned as CSR.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.rows import open_rows
    >>> rows = open_rows(np.eye(3))
    >>> rows.shape, rows.read(slice(1))
    ((3, 3), array([[1., 0., 0.]]))
    """

    is_sparse = False
    copies_read: int = 1
    """Copies of the rows in memory, at most, while all of them are read."""
    advice: str | None = None
    """What to do about values that are not finite; None: impute or drop them."""
    notes: tuple[str, ...] | None = None
    """Sentences about columns that distort a map (`tables.notes`); None: not examined yet."""
    n_sampled = 0
    """Rows whose values are part of the fingerprint, for sources that are not only in files."""

    def __init__(
        self,
        files: SourceFiles,
        shape: tuple[int, ...],
        dtype: Any,
        *,
        column_names: tuple[str, ...] | None = None,
    ) -> None:
        self.files = files
        # No names at all: a table without numeric columns, whose reader has allowed that.
        _check_table(files.name, shape, np.dtype(dtype), int(column_names != ()))
        self.shape = (int(shape[0]), int(shape[1]))
        if column_names is not None and len(column_names) != shape[1]:
            raise DataError(
                f"{files.name} must have a name for each column; it has {len(column_names):,} "
                f"name(s) and {shape[1]:,} columns. Write the file again."
            )
        self.dtype = np.dtype(dtype).newbyteorder("=")
        self.column_names = column_names
        self.row_bytes = max(1, self.shape[1] * self.dtype.itemsize)
        self.side: Mapping[str, Callable[[], Array]] = {}
        self.left_out: tuple[str, ...] = ()
        self.possible: tuple[str, ...] = ()  # features and those left out, in the order of a table

    def _read(self, start: int, stop: int) -> Points:
        """Return the rows from `start` up to `stop`."""
        return self._take(np.arange(start, stop))

    @abstractmethod
    def _take(self, indices: Indices) -> Points:
        """Return the rows with the given indices, which are distinct and in ascending order."""

    def read(self, rows: slice, *, allow_missing: bool = False) -> Points:
        """Return consecutive rows, which must not be modified; values are those of `take`."""
        start, stop, step = rows.indices(self.shape[0])
        if step != 1:
            rule = "be a slice of consecutive rows"
            raise ParameterError("rows", rule, rows, "Use take for other rows.")
        stop = max(start, stop)
        with self.files.reading():
            block = self._read(start, stop)
        if not allow_missing:
            self._check_finite(block, range(start, stop))
        return block

    def take(self, indices: Any, *, allow_missing: bool = False) -> Points:
        """Return rows by index, in any order and with repetitions.

        Reads as little as the format allows. All values are finite, except that missing values
        are NaN if `allow_missing` is true.
        """
        indices = self._check_indices(indices)
        distinct, inverse = indices, None
        if np.any(np.diff(indices) <= 0):
            distinct, inverse = np.unique(indices, return_inverse=True)
        with self.files.reading():
            block = self._take(distinct)
        if not allow_missing:
            self._check_finite(block, distinct)
        return block if inverse is None else block[inverse]

    def apply(self, function: Callable[[Points], Array], n_bytes: int) -> Iterator[Array]:
        """Yield the results of a function on blocks of about `n_bytes`, in order.

        Sources that compute their rows on a cluster run the function there.
        """
        for rows in blocks(self, n_bytes):
            yield function(self.read(rows))

    def describe(self) -> str:
        """Return the name of the source in messages."""
        return self.files.name

    def fingerprint(self) -> str:
        """Return a hash of samples of the content, which changes when the source changes."""
        digest = sha256(f"{self.shape} {self.dtype.str} {self.column_names}".encode())
        with self.files.reading():
            self._digest(digest)
        return digest.hexdigest()[:32]

    def _digest(self, digest: Any) -> None:
        """Update a hash with samples of the content."""
        self.files.digest(digest)
        if self.n_sampled:
            rows = np.linspace(0, self.shape[0] - 1, self.n_sampled).astype(np.int64)
            block = self._take(np.unique(rows))
            names = ("indptr", "indices", "data") if isinstance(block, csr_array) else ()
            for part in [getattr(block, name) for name in names] or [block]:
                digest.update(np.ascontiguousarray(part).tobytes())

    def _where(self, row: int) -> str:
        """Return the location of a row in messages."""
        return f"row {row} (counting from 0)"

    def _column(self, column: int) -> str:
        """Return the name or the index of a feature in messages."""
        return f"column {self.column_names[column]!r}" if self.column_names else f"column {column}"

    def _check_finite(self, block: Points, rows: Any) -> None:
        """Raise an error if a value is not finite; ``rows[i]`` is the index of row i of a block."""
        bad_rows, bad_columns = find_not_finite(block)
        if len(bad_rows) == 0:
            return
        row, column = int(bad_rows[0]), int(bad_columns[0])
        is_missing = bool(np.isnan(block[row, column]))
        what = "a missing value" if is_missing else "an infinite value"
        n_bad = len(bad_rows)
        count = "" if n_bad == 1 else f" ({n_bad} of the values read are not finite)"
        advice = self.advice or (
            "Impute such values, exclude the column, or pass "
            f"{keyword('missing', 'drop')} to leave out the rows."
        )
        if n_bad > 1 and not self.is_sparse and np.isnan(block[:, column]).all():
            advice = "The column has no values: leave it out."
        raise (MissingValuesError if is_missing and not self.is_sparse else DataError)(
            f"Every value must be a finite number; {self.describe()} has {what} in "
            f"{self._where(int(rows[row]))}, {self._column(column)}{count}. {advice}"
        )

    def _check_indices(self, indices: Any) -> Indices:
        chosen = np.asarray(indices)
        if chosen.size == 0:
            return np.empty(0, np.int64)
        last, is_list = self.shape[0] - 1, chosen.ndim == 1 and chosen.dtype.kind in "ui"
        if not is_list or chosen.min() < 0 or chosen.max() > last:
            rule = f"be integers from 0 to {last}, the last row of {self.describe()}"
            raise ParameterError("indices", rule, hint="Pass the indices of existing rows.")
        return chosen.astype(np.int64)


def _check_table(name: str, shape: tuple[int, ...], dtype: Any, min_columns: int) -> None:
    """Raise an error if an array is not a nonempty table of real numbers."""
    if len(shape) != 2:
        raise DataError(
            f"{name} must be two-dimensional, with one point per row; got shape {tuple(shape)}. "
            "Reshape it, or choose another array."
        )
    if dtype.kind not in "buif":
        raise DataError(
            f"{name} must be numeric; got dtype {dtype}. "
            "Encode values that are not real numbers, or leave them out."
        )
    if shape[0] < 1 or shape[1] < min_columns:
        raise DataError(
            f"{name} must have at least one row and one numeric column; "
            f"got {shape[0]} row(s) and {shape[1]} column(s). Pass a table that contains values."
        )


def find_not_finite(block: Points) -> tuple[Indices, Indices]:
    """Return the rows and the columns of the values that are not finite, in the order of rows."""
    values = block.data if isinstance(block, csr_array) else block
    none = np.empty(0, np.int64)
    if values.dtype.kind != "f":
        return none, none
    # The sum is finite for almost all data, and needs no array of the size of the block.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return none, none
    places = np.nonzero(~np.isfinite(values))
    if not isinstance(block, csr_array):
        return places[0], places[1]
    rows = np.searchsorted(block.indptr, places[0], side="right") - 1
    return rows, block.indices[places[0]].astype(np.int64)


def blocks(rows: Rows, n_bytes: int = BLOCK_BYTES) -> Iterator[slice]:
    """Yield slices that cover all rows, in blocks of about `n_bytes` and at least one row."""
    n_rows = rows.shape[0]
    step = max(1, n_bytes // rows.row_bytes)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def is_stored(source: Any) -> bool:
    """Return whether rows need not be in memory: a path, `Rows`, a Dask or zarr collection."""
    package = type(source).__module__.partition(".")[0]
    return isinstance(source, str | Path | Rows) or package in LAZY_PACKAGES
