"""Sources read what they are asked for, and hold a few rows at a time."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.feather import write_feather

from isosne.rows import blocks, open_rows
from tests.unit.rows.formats import DENSE, TEXT, as_table, write_npy, write_zarr

X = np.random.default_rng(0).normal(size=(30, 3))


@pytest.fixture(scope="module")
def large_parquet(tmp_path_factory):
    """A million rows in a hundred row groups."""
    path = tmp_path_factory.mktemp("large") / "million.parquet"
    numbers = np.arange(1_000_000)
    table = pa.table({"n": numbers, "half": numbers / 2})
    pq.write_table(table, path, row_group_size=10_000, compression="none")
    return path


def counted(monkeypatch, rows):
    """Note the row groups that are read."""
    groups = []

    def scan(number, part, names):
        groups.append(number)
        return part.scan(names)

    parts = [part._replace(scan=partial(scan, g, part)) for g, part in enumerate(rows._parts)]
    monkeypatch.setattr(rows, "_parts", parts)
    return groups


def test_a_hundred_rows_of_a_million_touch_only_their_row_groups(large_parquet, monkeypatch):
    rows = open_rows(large_parquet)
    groups = counted(monkeypatch, rows)
    rng = np.random.default_rng(0)
    wanted = rng.permutation(
        np.concatenate([rng.integers(0, 10_000, 50) + s for s in (0, 640_000)])
    )
    found = rows.take(wanted)
    np.testing.assert_array_equal(found, np.column_stack([wanted, wanted / 2]))
    assert groups == [0, 64]


def test_consecutive_blocks_decode_each_row_group_once(large_parquet, monkeypatch):
    rows = open_rows(large_parquet)
    groups = counted(monkeypatch, rows)
    total, n_blocks = 0.0, 0
    for block in blocks(rows, 24_000):  # 1500 rows: a row group takes several
        total += rows.read(block)[:, 0].sum()
        n_blocks += 1
    assert total == 1_000_000 * 999_999 / 2
    assert n_blocks == 667
    assert groups == list(range(100))


def test_threads_may_share_a_source(large_parquet):
    rows = open_rows(large_parquet)
    starts = range(0, 400_000, 10_000)

    def read(start):
        return rows.read(slice(start, start + 10_000))[:, 0].sum(), rows.take([start])[0, 0]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(read, starts))
    expected = [(float(np.arange(s, s + 10_000).sum()), s) for s in starts]
    assert found == expected


def test_rows_of_an_array_on_disk_are_fetched_without_those_between(tmp_path, monkeypatch):
    wide = np.arange(2000 * 5000, dtype=np.int32).reshape(2000, 5000)
    rows = open_rows(write_npy(tmp_path, wide))
    fetched = []
    fetch = np.fromfile

    def fetch_and_count(file, dtype, n_values, offset):
        fetched.append(n_values)
        return fetch(file, dtype, n_values, offset=offset)

    monkeypatch.setattr(np, "fromfile", fetch_and_count)
    np.testing.assert_array_equal(rows.take([1900, 3, 4, 700]), wide[[1900, 3, 4, 700]])
    assert fetched == [10_000, 5_000, 5_000]


def test_only_chunks_that_hold_rows_are_read(tmp_path):
    rows = open_rows(write_zarr(tmp_path, X, 3))
    array, asked = rows._array, []

    class Counting:
        def __getitem__(self, part):
            asked.append(part)
            return array[part]

    rows._array = Counting()
    np.testing.assert_array_equal(rows.take([29, 1, 2]), X[[29, 1, 2]])
    assert asked == [slice(1, 3), slice(29, 30)]


def test_only_partitions_of_dask_that_hold_the_rows_are_computed():
    computed = []

    def compute(block, block_info=None):
        computed.append(block_info[0]["chunk-location"][0])
        return block

    source = da.from_array(np.arange(80.0).reshape(40, 2), chunks=(10, 2))
    rows = open_rows(source.map_blocks(compute, dtype=np.float64, meta=np.empty((0, 0))))
    np.testing.assert_array_equal(rows.take([35, 12, 38])[:, 0], [70, 24, 76])
    assert sorted(computed) == [1, 3]


def test_sizes_of_a_dask_array_are_found_without_changing_it(tmp_path):
    lazy = DENSE["dask array of unknown size"](tmp_path, X)
    open_rows(lazy)
    assert np.isnan(lazy.shape[0])


def test_positions_beyond_31_bits_are_reached(tmp_path):
    path = tmp_path / "huge.npy"
    n_rows = 2**21 + 1  # 2^31 + 1024 values: a hole in the file, with a few of them written
    mapped = np.lib.format.open_memmap(path, "w+", np.uint8, (n_rows, 1024))
    mapped[-1] = 7
    mapped[2**21 - 1, 5] = 9
    mapped.flush()
    rows = open_rows(path)
    found = rows.take([n_rows - 1, 2**21 - 1])
    assert found[0].tolist() == [7] * 1024
    assert found[1].sum() == 9
    assert rows.read(slice(n_rows - 1, None)).sum() == 7 * 1024


FINGERPRINTED = {
    name: (DENSE | TEXT)[name]
    for name in ("array", "npy", "parquet folder", "zarr 3", "csv", "dask frame", "h5ad")
}


@pytest.mark.parametrize("make", FINGERPRINTED.values(), ids=FINGERPRINTED)
def test_fingerprints_differ_with_content_and_not_otherwise(make, tmp_path):
    first, second = tmp_path / "1", tmp_path / "2"
    first.mkdir()
    second.mkdir()
    source = make(first, X)
    assert open_rows(source).fingerprint() == open_rows(source).fingerprint()
    changed = X.copy()
    changed[0, 0] += 1
    assert open_rows(make(second, changed)).fingerprint() != open_rows(source).fingerprint()


WALK = """
import resource, sys
import numpy as np
from isosne.rows import blocks, open_rows
rows = open_rows(sys.argv[1])
rows.take([0])
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
before, peak, total = resident(), 0, 0.0
for block in blocks(rows, 4_000_000):
    total += float(rows.read(block).sum(dtype=np.float64))
    peak = max(peak, resident())
arrow = sys.modules.get("pyarrow")  # its peak includes the first row, which is read before
print(peak - before, arrow.default_memory_pool().max_memory() if arrow else 0, total)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("kind", "limit"),  # of a few blocks of 4 MB, batches of 8 MB, and what Arrow decodes them in
    [("npy", 15_000_000), ("parquet", 60_000_000), ("arrow", 30_000_000)],
)
def test_a_walk_holds_blocks_and_not_the_table(kind, limit, tmp_path):
    large = np.ones((2_500_000, 10), np.float32)  # 100 MB
    table, path = as_table(large), tmp_path / f"x.{kind}"
    if kind == "npy":
        np.save(path, large)
    elif kind == "parquet":  # one row group
        pq.write_table(table, path, row_group_size=len(large), use_dictionary=False)
    else:
        write_feather(table, str(path), compression="uncompressed")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WALK, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    grown, decoded, total = done.stdout.split()
    assert float(total) == large.size
    assert int(grown) < limit
    assert int(decoded) < 35_000_000  # batches of 8 MB, not the file or a row group
