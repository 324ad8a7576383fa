"""Strange points: values, types and containers that somebody may pass one day."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

from tests.fuzz.case import Case

DTYPES = (
    *("bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", ">f4", ">f8", "longdouble", "complex128"),
)
VALUES = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "grid": lambda rng, shape: rng.integers(-1, 2, shape).astype(float),
    "constant": lambda rng, shape: np.full(shape, rng.integers(-3, 4).astype(float)),
    "two rows": lambda rng, shape: rng.normal(size=(2, shape[1]))[rng.integers(0, 2, shape[0])],
    "scales": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.integers(-12, 13, shape[1]),
    "huge": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.integers(100, 308),
    "tiny": lambda rng, shape: (
        rng.normal(size=shape) * 10.0 ** -rng.integers(100, 324).astype(float)
    ),
    "denormal": lambda rng, shape: rng.integers(-5, 6, shape) * 5e-324,
    "far apart": lambda rng, shape: (
        rng.normal(size=shape) + 1e15 * rng.integers(0, 2, (shape[0], 1))
    ),
    "wide range": lambda rng, shape: (
        rng.normal(size=shape) * 10.0 ** rng.integers(-140, 140, shape)
    ),
    "offset": lambda rng, shape: 1e8 + rng.normal(size=shape),
    "zeros": lambda rng, shape: np.zeros(shape),
    "mostly zeros": lambda rng, shape: rng.normal(size=shape) * (rng.random(shape) < 0.3),
    "limits": lambda rng, shape: rng.choice([np.finfo("f4").max, 1e150, -1e150, 1e-150, 0], shape),
}
BAD_VALUES = (np.nan, np.inf, -np.inf, 1e308)


def draw_shape(case: Case) -> tuple[int, int]:
    """Return numbers of rows and columns, mostly enough for a map."""
    n_rows = case.pick(0, 1, 2, 3, 4) if case.happens(0.15) else int(case.rng.integers(5, 41))
    n_columns = case.pick(0, 1) if case.happens(0.08) else int(case.rng.integers(1, 7))
    return n_rows, n_columns


def plain_points(case: Case, shape: tuple[int, int]) -> np.ndarray:
    """Return float64 points without surprises of type."""
    name = case.pick("normal", *VALUES) if case.happens(0.7) else "normal"
    case.note(f"values: {name} {shape}")
    return np.asarray(VALUES[name](case.rng, shape), np.float64)


def draw_points(case: Case, shape: tuple[int, int] | None = None) -> Any:
    """Return points, as an array or in another container."""
    X = plain_points(case, draw_shape(case) if shape is None else shape)
    if X.size and case.happens(0.07):
        X.flat[int(case.rng.integers(X.size))] = case.pick(*BAD_VALUES)
    if case.happens(0.4):
        dtype = case.pick(*DTYPES)
        case.note(f"dtype: {dtype}")
        with np.errstate(all="ignore"):
            X = X.astype(dtype)
    if case.happens(0.6):
        return X
    name = case.pick(*REFUSED) if case.happens(0.15) else case.pick(*CONTAINERS)
    case.note(f"container: {name}")
    return (CONTAINERS | REFUSED)[name](case, X)


def distances(case: Case, n_rows: int) -> Any:
    """Return a matrix of distances, seldom a valid one."""
    X = VALUES[case.pick("normal", "grid", "two rows", "zeros")](case.rng, (n_rows, 2))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    change = case.pick("none", "none", "none", "asymmetric", "diagonal", "negative", "wide", "huge")
    case.note(f"distances of {n_rows}: {change}")
    if change == "asymmetric":
        D = D * case.rng.random(D.shape)
    elif change == "diagonal":
        D = D + 1
    elif change == "negative":
        D = -D
    elif change == "wide":
        D = np.hstack([D, D])
    elif change == "huge":
        D = D * 1e200
    if case.happens(0.3):
        D[case.rng.random(D.shape) < 0.5] = 0
        D = np.maximum(D, D.T) if D.shape[0] == D.shape[1] else D
        return sparse.csr_array(D)
    return D


def _strange_csr(case: Case, X: np.ndarray) -> Any:
    """Return a matrix whose parts may not fit each other: SciPy does not check later changes."""
    found = sparse.csr_array(_real(X))
    change = case.pick("indices", "indptr", "short", "twice", "unsorted", "zeros", "int64", "text")
    case.note(f"csr: {change}")
    size = max(1, found.nnz)
    if change == "indices" and found.nnz:
        found.indices[int(case.rng.integers(size))] = case.pick(-1, 7, 2**31 - 1)
    elif change == "indptr":
        found.indptr[int(case.rng.integers(len(found.indptr)))] = case.pick(-1, 10**6, 2**31 - 1)
    elif change == "short":
        found.data = found.data[: size // 2]
    elif change == "twice" and found.nnz:
        found.indices[:] = found.indices[0]
    elif change == "unsorted":
        found.indices[:] = found.indices[::-1]
    elif change == "zeros":
        found.data[::2] = 0
    elif change == "int64":
        found.indices, found.indptr = found.indices.astype("i8"), found.indptr.astype("i8")
    elif change == "text":
        found.data = found.data.astype(str)
    return found


def _frame(case: Case, X: np.ndarray) -> Any:
    frame = pd.DataFrame(_real(X) if X.dtype.kind == "c" or X.dtype.byteorder == ">" else X)
    if case.happens(0.7):
        frame.columns = [case.pick("a", "b c", "", "é", f"c{k}") for k in range(frame.shape[1])]
    if frame.shape[1] and case.happens(0.4):
        kind = case.pick("text", "category", "date", "nullable", "object", "missing", "decimal")
        case.note(f"column: {kind}")
        column = {
            "text": lambda: pd.Series(["x", "1", "2"] * len(frame)),
            "category": lambda: pd.Series(["x", "y"] * len(frame)).astype("category"),
            "date": lambda: pd.Series(pd.date_range("2020-01-01", periods=len(frame))),
            "nullable": lambda: pd.Series([1, None] * len(frame), dtype="Int64"),
            "object": lambda: pd.Series([1, 2.5, True] * len(frame), dtype=object),
            "missing": lambda: pd.Series([None, "x"] * len(frame)),
            "decimal": lambda: pd.Series([1.5, 2.5] * len(frame), dtype="Float64"),
        }[kind]()
        frame.insert(0, "extra", column[: len(frame)].to_numpy() if kind == "object" else column)
        frame = frame.iloc[: len(X)]
    return frame


def _polars(case: Case, X: np.ndarray) -> Any:
    values = X if X.dtype.isnative and X.dtype.char not in "egFDG" else _real(X)
    return pl.DataFrame({f"c{k}": column for k, column in enumerate(values.T)})


def _object(case: Case, X: np.ndarray) -> Any:
    X = X.astype(object)
    if X.size and case.happens(0.5):
        strange = case.pick(
            None, "x", "1.5", [1], {}, 10**400, 1j, b"3", np.datetime64("2020-01-01")
        )
        X.flat[int(case.rng.integers(X.size))] = strange
    return X


CONTAINERS = {
    "list": lambda case, X: X.tolist(),
    "tuple of tuples": lambda case, X: tuple(map(tuple, X.tolist())),
    "fortran": lambda case, X: np.asfortranarray(X),
    "reversed": lambda case, X: X[::-1, ::-1],
    "every second": lambda case, X: np.repeat(X, 2, axis=0)[::2],
    "read-only": lambda case, X: _read_only(X),
    "matrix": lambda case, X: sparse.csr_matrix(np.nan_to_num(_real(X))).todense(),
    "masked": lambda case, X: np.ma.masked_less(X, 0),
    "text": lambda case, X: X.astype(str),
    "object": _object,
    "csr": lambda case, X: sparse.csr_array(_real(X)),
    "csr matrix": lambda case, X: sparse.csr_matrix(_real(X)),
    "csc": lambda case, X: sparse.csc_array(_real(X)),
    "coo": lambda case, X: sparse.coo_array(_real(X)),
    "strange csr": _strange_csr,
    "frame": _frame,
    "frame again": _frame,
    "polars": _polars,
}

"""Containers of points."""
REFUSED = {
    "flat": lambda case, X: X.ravel(),
    "cube": lambda case, X: X[:, :, None],
    "structured": lambda case, X: np.zeros(len(X), [("a", "f8"), ("b", "i4")]),
    "bytes": lambda case, X: np.full(X.shape, b"1"),
    "dates": lambda case, X: np.full(X.shape, np.datetime64("2020-01-01")),
    "ragged": lambda case, X: [*X.tolist(), [1.0]],
    "nothing": lambda case, X: None,
    "number": lambda case, X: 3.0,
    "word": lambda case, X: "no such file",
    "set": lambda case, X: {1, 2},
    "dict": lambda case, X: {"a": [1, 2]},
    "function": lambda case, X: print,
}
"""What holds no table of numbers."""


def _real(X: np.ndarray) -> np.ndarray:
    return X.real.astype(np.float64)


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X
