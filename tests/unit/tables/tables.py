"""A small table with a column of every kind, as each library holds it."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

N = 48
SIZES = ["small", "medium", "large"]


def mixed_columns(n=N, seed=0):
    """Columns by name, as lists; None where a value is missing."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    columns = {
        "weight": (10.0 * group + rng.normal(size=n)).round(3).tolist(),
        "count": rng.integers(0, 9, n).tolist(),
        "color": [("red", "green", "blue")[g] for g in group],
        "size": [SIZES[s] for s in rng.integers(0, 3, n)],
        "is_new": (rng.random(n) < 0.5).tolist(),
        "seen": [datetime.datetime(2024, 1, 1 + int(day)) for day in rng.integers(0, 28, n)],
    }
    for c, name in enumerate(columns):
        for row in range(c, n, 7):
            columns[name][row] = None
    return columns


def as_pandas(columns):
    frame = pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})
    frame["count"] = frame["count"].astype("Int64")
    frame["size"] = pd.Categorical(frame["size"], SIZES, ordered=True)
    frame["is_new"] = frame["is_new"].astype("boolean")
    return frame


def as_polars(columns):
    return pl.DataFrame(columns).with_columns(pl.col("size").cast(pl.Enum(SIZES)))


def as_pyarrow(columns):
    values = [None if value is None else SIZES.index(value) for value in columns["size"]]
    size = pa.DictionaryArray.from_arrays(pa.array(values, pa.int8()), SIZES, ordered=True)
    arrays = {name: pa.array(values) for name, values in columns.items()} | {"size": size}
    return pa.table(arrays)


FRAMES = {"pandas": as_pandas, "polars": as_polars, "pyarrow": as_pyarrow}
