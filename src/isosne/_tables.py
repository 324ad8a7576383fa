"""Conversion of what users pass as data to an array of numbers.

Takes arrays, tensors, nested lists, masked arrays and eager data frames. An error names the column
and the row of the first value that is not a number.
"""

from collections import Counter
from typing import Any, NoReturn

import narwhals as nw
import numpy as np

from isosne._types import Array
from isosne.errors import DataError, DataTypeError, show

NUMERIC = "buif"
"""Kinds of NumPy types that are real numbers."""
LONGEST = (nw.Int128, nw.UInt128)
"""Integers that NumPy does not have."""
NOT_SIMPLE = (list, tuple, dict, set, np.ndarray, complex)
"""Types of objects that are no single value of a column."""


def as_numeric(data: Any, name: str) -> tuple[Array, list[Any] | None]:
    """Return data as an array of real numbers, and the labels of the columns of a data frame.

    Missing values are NaN; integers stay integers, booleans become uint8.
    """
    frame = as_frame(data, name)
    if frame is None:
        values = _as_numbers(check_two_dimensional(as_array(data, name), name), name)
        return as_compiled(check_real(values, name)), None
    is_numeric = all(t.is_numeric() or t == nw.Boolean for t in frame.schema.values())
    whole = frame.to_numpy() if is_numeric else None
    if whole is None or whole.dtype.kind == "O":  # decimals, or booleans beside missing values
        parts = [
            _as_numbers(check_simple(column, name).to_numpy(), name, column.name)
            for column in frame.iter_columns()
        ]
        whole = np.column_stack(parts) if parts else np.empty((len(frame), 0))
    return as_compiled(check_real(whole, name)), list(frame.columns)


def _as_numbers(values: Array, name: str, label: Any = None) -> Array:
    """Return numbers; text is read as numbers where possible. label: of a single column."""
    if values.dtype.kind in "mM":
        where = "" if label is None else f" in column {label!r}"
        raise DataError(
            f"{name} must be numeric; got dates or times ({values.dtype}){where}. "
            "Convert them to numbers, such as days since the first date, or leave them out."
        )
    if values.dtype.kind not in "OUS":
        return check_real(values, name)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = np.empty(values.shape)
    for place, value in np.ndenumerate(values):
        try:
            numbers[place] = np.nan if is_missing(value) else float(value)
        except (TypeError, ValueError, OverflowError):
            column = place[-1] if label is None else label
            refuse_value(value, f"row {place[0]} (counting from 0), column {column!r}", name)
    return numbers


def as_frame(data: Any, name: str) -> nw.DataFrame[Any] | None:
    """Return an eager data frame with valid labels; None for other objects."""
    try:
        frame = nw.from_native(data, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        labels = getattr(data, "column_names", data.columns)  # columns of pyarrow are values
        label = next(label for label, count in Counter(labels).items() if count > 1)
        raise DataError(
            f"Column names must be unique; {name} has {label!r} more than once. "
            "Rename one of the columns."
        ) from None
    if not isinstance(frame, nw.DataFrame):
        return None
    other = [label for label in frame.columns if not isinstance(label, str)]
    if 0 < len(other) < len(frame.columns):
        raise DataTypeError(
            f"Column names must all be strings, or none; {name} has strings and {other[0]!r}. "
            f"Convert them with {name}.columns = {name}.columns.astype(str)."
        )
    longest = [label for label, dtype in frame.schema.items() if dtype in LONGEST]
    return frame.with_columns(nw.col(*longest).cast(nw.Float64)) if longest else frame


def check_simple(column: nw.Series[Any], name: str) -> nw.Series[Any]:
    """Return a column; raise an error if its values are not single ones, or are complex."""
    what = str(column.dtype)
    is_simple = not column.dtype.is_nested() and column.dtype != nw.Binary
    if is_simple and column.dtype in (nw.Object, nw.Unknown):
        odd = (v for v in column.to_list() if isinstance(v, NOT_SIMPLE))
        value = next(odd, None)
        is_simple, what = value is None, show(value)
    if not is_simple:
        raise DataError(
            f"Column {column.name!r} of {name} must hold numbers, text, categories, booleans or "
            f"dates; got {what}. Leave it out, or turn it into several columns."
        )
    return column


def as_array(data: Any, name: str) -> Array:
    """Return data as an array, also tensors, with masked values as NaN; raise errors for others."""
    check_container(data, name)
    if np.ma.is_masked(data) and data.dtype.kind != "c":  # complex numbers are refused later
        return np.ma.filled(data.astype(np.float64), np.nan)
    is_tensor = hasattr(data, "__dlpack__") and not isinstance(data, np.ndarray)
    try:
        by_dlpack = is_tensor and not hasattr(data, "__array__")
        return np.from_dlpack(data) if by_dlpack else np.asarray(data)
    except (TypeError, RuntimeError, BufferError) as error:
        if not is_tensor:
            raise
        raise DataError(
            f"{name} must be in CPU memory, without gradients, and of a type that NumPy has; got a "
            f"{type(data).__name__} ({error}). Pass for example x.detach().cpu().float() "
            "(PyTorch) or x.get() (CuPy)."
        ) from error
    except ValueError:
        raise DataError(
            f"{name} must be a table whose rows have equal lengths; got a "
            f"{type(data).__name__} of different ones. Pass as many values in each row."
        ) from None


def check_two_dimensional(values: Array, name: str) -> Array:
    """Return the values; raise an error unless they have rows and columns."""
    if values.ndim != 2:
        raise DataError(
            f"{name} must be two-dimensional, one point in each row; got shape {values.shape}. "
            "Reshape your data with X.reshape(-1, 1) if it has one attribute, or "
            "X.reshape(1, -1) if it is one point."
        )
    return values


def check_container(data: Any, name: str) -> None:
    """Raise an error for objects that hold data but are not data themselves."""
    kind, rule = type(data), f"{name} must be an array, a sparse matrix or a data frame"
    if kind.__module__.partition(".")[0] == "anndata" and hasattr(data, "obsm"):
        raise DataError(
            f"{rule}; got an AnnData object. Pass adata.X or an array of adata.obsm; "
            "isosne.scanpy.tsne(adata) maps the object itself."
        )
    if kind.__name__ == "LazyFrame":
        raise DataError(f"{rule}; got a LazyFrame. Pass {name}.collect().")


def check_real(values: Array, name: str) -> Array:
    """Return the values; raise an error unless their type is that of real numbers."""
    if values.dtype.kind == "c":
        raise DataError(
            f"Complex data not supported: {name} must be real; got dtype {values.dtype}. "
            "Pass the real and imaginary parts as columns."
        )
    if values.dtype.kind not in NUMERIC:
        raise DataError(
            f"{name} must be numeric; got dtype {values.dtype}. "
            "Convert the values to numbers, or leave them out."
        )
    return values


def as_compiled(values: Array) -> Array:
    """Return values in a type that compiled functions know; most are returned unchanged.

    Booleans, which cannot be subtracted, become uint8, half precision float32, extended precision
    float64, and a foreign byte order the one of this machine.
    """
    wanted = values.dtype.newbyteorder("=")
    if wanted.kind == "b":
        wanted = np.dtype(np.uint8)
    elif wanted.kind == "f" and wanted.itemsize not in (4, 8):
        wanted = np.dtype(np.float32 if wanted.itemsize == 2 else np.float64)
    return values.astype(wanted, copy=False)


def is_missing(value: Any) -> bool:
    """Return whether an object is None or a marker of pandas for missing values."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def refuse_value(value: Any, where: str, name: str) -> NoReturn:
    """Raise the error for an object that is not a number."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str | bytes):
        raise DataError(
            f"{name} must be numeric; {where} holds the text {show(value)}. "
            "Encode the column as numbers, or leave it out."
        )
    # In the words of float(), which the checks of scikit-learn look for.
    raise DataTypeError(
        f"Every value of the argument must be a number, or a string that holds a number; {where} "
        f"of {name} holds {show(value)}. Convert it, or leave the column out."
    )
