"""Dask collections: which partitions are computed to open them and to draw rows."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.callbacks import Callback

from isosne.errors import MissingValuesError
from isosne.rows import open_rows

SIZES = (10, 4, 17, 1)


class Tasks(Callback):
    """Counts the tasks that are computed."""

    def __init__(self):
        self.keys = []

    def _pretask(self, key, dsk, state):
        self.keys.append(key)


@pytest.fixture
def table():
    return pd.DataFrame(np.arange(2.0 * sum(SIZES)).reshape(-1, 2), columns=["a", "b"])


@pytest.fixture
def frame(tmp_path, table):
    """A Dask data frame of four Parquet files."""
    first = 0
    for k, n in enumerate(SIZES):
        table[first : first + n].to_parquet(tmp_path / f"p{k}.parquet")
        first += n
    return dd.read_parquet(tmp_path)


def test_lengths_of_partitions_are_computed(frame, table):
    with Tasks() as tasks:
        rows = open_rows(frame[frame["a"] > 11])
    assert tasks.keys
    np.testing.assert_array_equal(rows.read(slice(0, 99)), table[table["a"] > 11])


def test_only_partitions_that_hold_the_rows_are_computed():
    computed = []

    def compute(block, block_info=None):
        computed.append(block_info[0]["chunk-location"][0])
        return block

    source = da.from_array(np.arange(80.0).reshape(40, 2), chunks=(10, 2))
    rows = open_rows(source.map_blocks(compute, dtype=np.float64, meta=np.empty((0, 0))))
    found = rows.take([35, 12, 38])
    assert sorted(computed) == [1, 3]
    np.testing.assert_array_equal(found[:, 0], [70, 24, 76])


@pytest.mark.parametrize("dtype", ["f4", "i8"])
def test_masked_values_are_missing(dtype):
    X = np.arange(40).reshape(20, 2).astype(dtype)
    rows = open_rows(da.ma.masked_equal(da.from_array(X, chunks=(5, 2)), 7))
    np.testing.assert_array_equal(rows.read(slice(5, 20)), X[5:])
    for use in (
        lambda: rows.read(slice(0, 5)),
        lambda: rows.take([3, 12]),
        lambda: list(rows.apply(np.sum, 64)),
    ):
        with pytest.raises(MissingValuesError, match=r"a missing value in row 3 .*, column 1"):
            use()
