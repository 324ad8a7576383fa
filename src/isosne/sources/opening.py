"""The door: what may be a source of rows, and which reader opens it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import csr_array, issparse

from isosne.errors import ParameterError
from isosne.sources.base import Rows
from isosne.sources.columns import Wanted, as_wanted, choose_columns, refuse_names
from isosne.sources.feather import open_feather
from isosne.sources.memory import ArrayRows, SparseRows
from isosne.sources.parquet import open_parquet
from isosne.sources.raw import open_memmap, open_npy
from isosne.sources.stored import StoredRows
from isosne.sources.watched import WatchedFiles

ENDINGS = (".npy", ".parquet", ".feather", ".arrow")


def open_rows(
    source: Any,
    *,
    columns: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    text_columns: str = "refuse",
) -> Rows:
    """Open anything that holds points, in memory or not.

    Parameters
    ----------
    source : array, CSR, data frame or path
        What holds the points. A path ends in .npy, .parquet (a file, or a folder of them),
        .feather or .arrow.
    columns : list of str or None, default=None
        Columns that are values, in this order. None: all.
    exclude : list of str, default=()
        Columns that are not, such as ids and labels.
    text_columns : {"refuse", "leave_out"}, default="refuse"
        What to do about further columns that are not numeric.

    Returns
    -------
    Rows
        Reads rows when asked to; its values are checked then.
    """
    wanted = as_wanted(columns, exclude, text_columns)
    if isinstance(source, StoredRows):
        return source
    if isinstance(source, str | Path):
        return _open_path(Path(source), wanted)
    return _open_object(source, wanted)


def _open_path(path: Path, wanted: Wanted) -> StoredRows:
    ending = path.suffix.lower()
    if ending == ".parquet" or path.is_dir():
        return open_parquet(path, wanted)
    if ending in (".feather", ".arrow"):
        return open_feather(path, wanted)
    if ending == ".npy":
        refuse_names(wanted, str(path))
        return open_npy(path)
    raise ParameterError(
        f"A file of points must end in one of {', '.join(ENDINGS)}; got {str(path)!r}. "
        "Rename it if it is of such a kind, or convert it."
    )


def _open_object(source: Any, wanted: Wanted) -> StoredRows:
    frame = nw.from_native(source, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _open_frame(frame, wanted)
    name = "X"
    refuse_names(wanted, name)
    watched = WatchedFiles(name)
    if issparse(source):
        X = csr_array(source)
        return SparseRows(watched, X.shape, X.indptr, X.indices, X.data)
    if isinstance(source, np.memmap):
        return open_memmap(source) or ArrayRows(watched, source)
    return ArrayRows(watched, np.asarray(source))


def _open_frame(frame: nw.DataFrame[Any], wanted: Wanted) -> StoredRows:
    types = [frame.schema[name] for name in frame.columns]
    kinds = [None if t.is_numeric() or t == nw.Boolean else str(t) for t in types]
    choice = choose_columns(frame.columns, kinds, wanted, "X")
    values = frame.select(choice.names).to_numpy()
    rows = ArrayRows(WatchedFiles("X"), values, column_names=choice.names)
    rows.left_out = choice.left_out
    others = [name for name in frame.columns if name not in choice.names]
    rows.side = {name: frame[name].to_numpy for name in others}
    return rows
