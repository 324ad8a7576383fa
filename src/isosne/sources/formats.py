"""The door: what may be a source of rows, and which reader opens it."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import psutil
from scipy.sparse import csr_array, issparse

from isosne._checks import unmasked
from isosne._types import Array
from isosne.errors import ParameterError
from isosne.sources.base import Rows
from isosne.sources.chunked import is_zarr, open_zarr, zarr_array
from isosne.sources.columns import (
    Wanted,
    as_wanted,
    check_side,
    choose_columns,
    names_in_words,
    plain_column,
)
from isosne.sources.complete import check_missing, drop_incomplete
from isosne.sources.dask_rows import DaskRows, is_dask, open_dask
from isosne.sources.feather import open_feather
from isosne.sources.h5ad import open_h5ad
from isosne.sources.memory import ArrayRows, SparseRows
from isosne.sources.npz import open_npz
from isosne.sources.parquet import open_parquet
from isosne.sources.raw import open_memmap, open_npy
from isosne.sources.stored import StoredRows
from isosne.sources.text import TextRows
from isosne.sources.watched import WatchedFiles

TEXT = (".csv", ".tsv", ".txt")
ENDINGS = (*TEXT, ".parquet", ".feather", ".arrow", ".npy", ".npz", ".zarr", ".h5ad")
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".lz4")


class Options(NamedTuple):
    """What a caller asked, apart from the source."""

    wanted: Wanted = Wanted()
    key: str | None = None
    header: bool | None = None
    memory_limit: int | None = None
    missing: str = "refuse"


def open_rows(
    source: Any,
    *,
    columns: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    text_columns: str = "refuse",
    missing: str = "refuse",
    key: str | None = None,
    header: bool | None = None,
    memory_limit: int | None = None,
) -> Rows:
    """Open anything that holds points, in memory or not.

    Parameters
    ----------
    source : path, array, CSR, data frame, zarr array, Dask array or Dask data frame
        What holds the points. A path ends in .csv, .tsv, .txt, .parquet, .feather, .arrow, .npy,
        .npz, .zarr or .h5ad, or is a folder of Parquet files, which are read in the order of
        their names.
    columns : list of str or None, default=None
        Columns that are values, in this order. None: all.
    exclude : list of str, default=()
        Columns that are not, such as ids and labels.
    text_columns : {"refuse", "leave_out"}, default="refuse"
        What to do about further columns that are not numeric.
    missing : {"refuse", "drop"}, default="refuse"
        What to do about rows in which a value is missing or infinite: NaN, a null, an empty field
        or one such as NA. "drop" leaves them out; ``kept`` then has the numbers of the others.
    key : str or None, default=None
        Array of a file that holds several: a member of .npz, an array of a zarr group, an obsm or
        a layer of .h5ad. None: X, or the only one.
    header : bool or None, default=None
        Whether a text table begins with names. None: found out.
    memory_limit : int or None, default=None
        Bytes up to which a file that must be held whole (a compressed .npz) may be loaded. None:
        what is free.

    Returns
    -------
    Rows
        Reads rows when asked to; values are checked then. Types stay as they are; a text table
        gives float64, and columns of several types their common one.

    Notes
    -----
    A file must stay as it is while its rows are in use. Cost: opening reads headers only, except
    for text, which is walked through once, and Dask collections of unknown size. To drop rows, all
    are read once in blocks, and 8 bytes are held for each.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.sources import open_rows
    >>> rows = open_rows(np.arange(6).reshape(3, 2))
    >>> rows.take([2, 0]).tolist()
    [[4, 5], [0, 1]]
    """
    check_missing(missing)
    wanted = as_wanted(columns, exclude, text_columns)
    if isinstance(source, str | Path):
        return open_path(Path(source), Options(wanted, key, header, memory_limit, missing))
    if missing == "refuse":
        return _open_object(source, wanted)
    if is_dask(source) or isinstance(source, DaskRows):
        raise ParameterError(
            "missing must be 'refuse' for a Dask collection, whose rows are not read before they "
            f"are used; got {missing!r}. Leave such rows out of it with its dropna."
        )
    return drop_incomplete(_open_object(source, wanted))


def open_path(path: Path, options: Options) -> StoredRows:
    """Open a file or a folder."""
    rows = _open_table(path, options)
    return rows if options.missing == "refuse" else drop_incomplete(rows)


def _open_table(path: Path, options: Options) -> StoredRows:
    ending, wanted = path.suffix.lower(), options.wanted
    if ending in TEXT:
        return TextRows(path, wanted, header=options.header)
    if ending in (".feather", ".arrow"):
        return open_feather(path, wanted)
    is_folder = path.is_dir() and ending != ".zarr" and not is_zarr(path)
    if ending == ".parquet" or is_folder:
        return open_parquet(path, wanted)
    if ending not in ENDINGS and not path.is_dir():
        raise _refuse_ending(path)
    rows = _open_array(path, ending, options)
    check_side(wanted, list(rows.side), str(path))
    return rows


def _open_array(path: Path, ending: str, options: Options) -> StoredRows:
    if ending == ".npy":
        return open_npy(path)
    if ending == ".npz":
        limit = options.memory_limit
        free = int(psutil.virtual_memory().available)
        return open_npz(path, options.key, free if limit is None else limit)
    if ending == ".h5ad":
        return open_h5ad(path, options.key)
    return open_zarr(path, options.key)


def _refuse_ending(path: Path) -> ParameterError:
    advice = "Rename it if it is of such a kind, or convert it."
    if path.suffix.lower() in PACKED:
        advice = "Unpack it first: rows cannot be looked up in a packed file."
    return ParameterError(
        f"A file of points must end in one of {', '.join(ENDINGS)}; got {str(path)!r}. {advice}"
    )


def _open_object(source: Any, wanted: Wanted) -> StoredRows:
    if isinstance(source, StoredRows):
        return source
    if is_dask(source):
        return open_dask(source, wanted)
    frame = nw.from_native(source, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _open_frame(frame, wanted)
    check_side(wanted, (), "X")
    if issparse(source):
        X = csr_array(source)
        return SparseRows(WatchedFiles("X"), X.shape, X.indptr, X.indices, X.data)
    if isinstance(source, np.memmap):
        return open_memmap(source) or ArrayRows(WatchedFiles("X"), source)
    if type(source).__module__.startswith("zarr"):
        return zarr_array(source)
    return ArrayRows(WatchedFiles("X"), unmasked(source))


def _open_frame(frame: nw.DataFrame[Any], wanted: Wanted) -> StoredRows:
    types = [frame.schema[name] for name in frame.columns]
    kinds = [None if t.is_numeric() or t == nw.Boolean else str(t) for t in types]
    choice = choose_columns(frame.columns, kinds, wanted, "X")
    chosen = frame.select(nw.nth(*choice.places))
    values = chosen.to_numpy()
    if values.dtype.kind == "O":  # decimals, or numbers of which some are missing
        numbers = [column.cast(nw.Float64).to_numpy() for column in chosen.iter_columns()]
        values = np.column_stack(numbers)
    rows = ArrayRows(WatchedFiles("X"), values, column_names=names_in_words(choice.names))
    rows.left_out = choice.left_out
    rows.side = {name: partial(_frame_column, frame, name) for name in choice.others}
    return rows


def _frame_column(frame: nw.DataFrame[Any], name: str) -> Array:
    return plain_column(frame.get_column(name).to_numpy())
