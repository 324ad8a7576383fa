"""Open a source of rows: find its format and the reader for it."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse

from isosne._csr import valid_csr
from isosne._extras import require
from isosne._tables import NUMERIC, as_array, as_frame, as_numeric
from isosne._types import Array
from isosne.errors import DataError, ParameterError
from isosne.rows.archives import open_h5ad, open_npz
from isosne.rows.arrays import (
    ArrayRows,
    DaskRows,
    SparseRows,
    is_dask,
    is_zarr,
    open_dask,
    open_npy,
    open_zarr,
)
from isosne.rows.arrow import open_arrow
from isosne.rows.columns import (
    ColumnSelection,
    Request,
    as_integers_or_text,
    check_side_columns,
    make_request,
    select_columns,
    string_names,
)
from isosne.rows.rows import Rows, SourceFiles, stat_path
from isosne.rows.scaled import drop_incomplete
from isosne.rows.text import COMPRESSED, TEXT, TextRows, is_text_file

ARROW = (".parquet", ".feather", ".arrow")
EXTENSIONS = (*TEXT, *ARROW, ".npy", ".npz", ".zarr", ".h5ad")
ARCHIVES, SPREADSHEETS = (*COMPRESSED, ".xz", ".zip", ".br"), (".xlsx", ".xls", ".xlsb", ".ods")


def open_rows(
    source: Any,
    *,
    columns: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    text_columns: str = "refuse",
    missing: str = "refuse",
    key: str | None = None,
    header: bool | None = None,
    decimal: str = ".",
    memory_limit: int | None = None,
) -> Rows:
    """Open a source of points, in memory or not.

    Parameters
    ----------
    source : path, array, CSR, data frame, dict, zarr array, Dask array or Dask data frame
        The points, one per row. A data frame may be an Arrow table or record batch. A dict holds
        columns by name. A path is a file that ends in .csv, .tsv, .txt, .parquet,
        .feather, .arrow, .npy, .npz, .zarr or .h5ad, or a folder of Parquet files, also in
        subfolders, which are read in the order of their names. Text tables may be compressed, as in
        .csv.gz (.gz, .bz2, .zst, .lz4).
    columns : list of str or None, default=None
        Columns to use as features, in this order. None uses all columns.
    exclude : list of str, default=()
        Columns that are not features, such as ids and labels.
    text_columns : {"refuse", "leave_out"}, default="refuse"
        What to do with other columns that are not numeric: raise an error, or leave them out.
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows that have missing or infinite values: raise an error when they are
        read, or drop them. Missing values are NaN, null, and in text tables empty fields and
        words such as NA. After "drop", the attribute ``kept`` has the indices of the other rows.
    key : str or None, default=None
        Array to read from a file that contains several: an array of an .npz file or a zarr group,
        an obsm array or a layer of an .h5ad file. None reads X, or the only array.
    header : bool or None, default=None
        Whether the first line of a text table has column names. None detects it.
    decimal : {".", ","}, default="."
        What separates the fraction of the numbers of a text table.
    memory_limit : int or None, default=None
        Largest size in bytes of an .npz file, which is loaded as a whole. None uses the memory that
        is available.

    Returns
    -------
    Rows
        A source that reads and checks rows on demand. Numeric types are kept; text tables become
        float64, and columns of different types their common type.

    Raises
    ------
    ParameterError
        If a parameter is not valid, or a named column or array does not exist.
    DataError
        If the source cannot be read, or is not a table of numbers.

    Notes
    -----
    A file must not change while its rows are in use. Cost: opening reads only headers, except that
    text tables are scanned once and unknown chunk sizes of Dask collections are computed.
    ``missing="drop"`` reads all rows once in blocks, and takes 8 bytes of memory per row.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.rows import open_rows
    >>> rows = open_rows(np.arange(6).reshape(3, 2))
    >>> rows.take([2, 0]).tolist()
    [[4, 5], [0, 1]]
    """
    others = {"key": key, "header": header, "decimal": decimal, "memory_limit": memory_limit}
    request = make_request(columns, exclude, text_columns, missing, **others)
    if isinstance(source, str | Path):
        return open_path(Path(source), request)
    if missing == "refuse":
        return _open_object(source, request)
    if is_dask(source) or isinstance(source, DaskRows):
        rule = "be 'refuse' for a Dask collection, whose rows are not read in advance"
        hint = "Drop the rows with the dropna method of the collection beforehand."
        raise ParameterError("missing", rule, missing, hint)
    return drop_incomplete(_open_object(source, request))


def open_path(path: Path, request: Request) -> Rows:
    """Open a file or a folder."""
    stat_path(path)
    extension = path.suffix.lower()
    is_store = extension == ".zarr" or (path.is_dir() and is_zarr(path))
    if is_text_file(path):
        rows: Rows = TextRows(path, request)
    elif extension in ARROW or (path.is_dir() and not is_store):
        rows = open_arrow(path, request)
    else:
        rows = open_zarr(path, request.key) if is_store else _open_arrays(path, request)
        check_side_columns(request, list(rows.side), str(path))
    return rows if request.missing == "refuse" else drop_incomplete(rows)


def _open_arrays(path: Path, request: Request) -> Rows:
    match path.suffix.lower():
        case ".npy":
            return open_npy(path)
        case ".npz":
            return open_npz(path, request.key, request.memory_limit)
        case ".h5ad":
            return open_h5ad(path, request.key)
    hint = "Convert the file, or correct its extension."
    if path.suffix.lower() in ARCHIVES:
        endings = ", ".join(COMPRESSED)
        hint = f"Decompress it first: only text tables are read from compressed files ({endings})."
    elif path.suffix.lower() in SPREADSHEETS:
        hint = "Save the sheet as CSV UTF-8 in the spreadsheet program, and pass that file."
    rule = f"be a file that ends in one of {', '.join(EXTENSIONS)}"
    raise ParameterError("source", rule, str(path), hint)


def _open_object(source: Any, request: Request) -> Rows:
    if isinstance(source, Rows):
        return source
    if is_dask(source):
        return open_dask(source, request)
    if isinstance(source, Mapping):
        return _open_columns(source, request)
    frame = as_frame(as_table(source), "X")
    if frame is not None:
        return _open_frame(frame, request)
    check_side_columns(request, (), "X")
    if issparse(source):
        X = valid_csr(source, "X")
        return SparseRows(SourceFiles("X"), X.shape, X.indptr, X.indices, X.data)
    if isinstance(source, np.memmap) or type(source).__module__.startswith("zarr"):
        return ArrayRows(SourceFiles("X"), source)
    values = as_array(source, "X")
    if values.ndim == 2 and values.dtype.kind in "OUSmM":  # objects, text, dates
        values = as_numeric(values, "X")[0]
    return ArrayRows(SourceFiles("X"), values)


def _open_frame(frame: nw.DataFrame[Any], request: Request) -> Rows:
    types = [None if t.is_numeric() or t == nw.Boolean else str(t) for t in frame.schema.values()]
    selection = select_columns(frame.columns, types, request, "X")
    features = frame.select(nw.nth(*selection.indices))
    values = features.to_numpy()
    if values.dtype.kind == "O":  # decimals, or nullable numbers with missing values
        numbers = [column.cast(nw.Float64).to_numpy() for column in features.iter_columns()]
        values = np.column_stack(numbers)
    read = frame.get_column
    return _make_rows(values, selection, lambda name: as_integers_or_text(read(name).to_numpy()))


def _open_columns(columns: Mapping[str, Any], request: Request) -> Rows:
    """Return the rows of a dictionary of columns; those that are not selected may be anything."""
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    types = [
        None if a.ndim == 1 and a.dtype.kind in NUMERIC else f"{a.dtype} of shape {a.shape}"
        for a in arrays.values()
    ]
    selection = select_columns(list(arrays), types, request, "X")
    lengths = {name: len(arrays[name]) for name in selection.names}
    first, *others = lengths
    other = next((name for name in others if lengths[name] != lengths[first]), None)
    if other is not None:
        raise DataError(
            "All columns must have the same number of rows; "
            f"{first!r} has {lengths[first]} and {other!r} has {lengths[other]}. "
            "Pass columns of the same rows."
        )
    values = np.column_stack([arrays[name] for name in selection.names])
    return _make_rows(values, selection, lambda name: as_integers_or_text(arrays[name]))


def _make_rows(
    values: Array, selection: ColumnSelection, read: Callable[[str], Array]
) -> ArrayRows:
    rows = ArrayRows(SourceFiles("X"), values, column_names=string_names(selection.names))
    rows.left_out, rows.possible = selection.left_out, selection.possible
    rows.side = {name: partial(read, name) for name in selection.others}
    return rows


def as_table(source: Any) -> Any:
    """Return an Arrow record batch as a table, which is a data frame; others are unchanged."""
    kind = type(source)
    if kind.__name__ != "RecordBatch" or kind.__module__.partition(".")[0] != "pyarrow":
        return source
    return require("pyarrow", "files", "Reading a record batch").Table.from_batches([source])


def names_of(source: Any) -> list[Any] | None:
    """Return the column names of a dictionary or data frame in memory; None if it has none."""
    if isinstance(source, Mapping):
        return list(source)
    frame = as_frame(source, "X")
    return None if frame is None else list(frame.columns)


def count_rows(source: Any) -> int:
    """Return the number of rows of a batch in memory."""
    if isinstance(source, Mapping):
        return max(map(len, source.values()), default=0)
    return int(source.shape[0]) if hasattr(source, "shape") else len(source)
