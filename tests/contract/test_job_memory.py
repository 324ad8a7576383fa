"""The memory of a job does not grow with the number of its rows."""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isosne import TSNE, Phase, Schedule, place_files
from isosne.place import parts
from isosne.place.results import count_rows

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the peak is in kilobytes on Linux only"),
]
FEW, MANY = 160_000, 960_000


def test_six_times_as_many_rows_take_the_same_memory():
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.test_job_memory"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    few, many = json.loads(done.stdout)
    # Less than 20 bytes per row: a row of the file has 24, its result 12.
    assert many - few < 20 * (MANY - FEW)


def place(folder, n_rows):
    """Place and count the rows of one file; return the peak of the process in bytes."""
    rng, path = np.random.default_rng(0), folder / f"{n_rows}.parquet"
    schema = pa.schema({"label": pa.int32()} | dict.fromkeys("abcde", pa.float32()))
    with pq.ParquetWriter(path, schema) as file:
        for _ in range(n_rows // 10_000):
            columns = [np.arange(10_000) % 3, *rng.normal(size=(5, 10_000))]
            file.write_table(pa.table(columns, schema.names).cast(schema))
    output = folder / f"out-{n_rows}"
    done = place_files(folder / "model.isosne", path, output, keep=["label"], n_jobs=1)
    assert done.n_rows == count_rows(output, "label").n_rows == n_rows
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main():
    parts.BLOCK_BYTES = 2**20  # so that few rows have several blocks, too
    few = Schedule((Phase(12, exaggeration=4), Phase(12)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X = np.random.default_rng(1).normal(size=(300, 5)).astype(np.float32)
        TSNE(random_state=0, schedule=few, n_jobs=1).fit(X).save(folder / "model.isosne")
        sys.stdout.write(json.dumps([place(folder, FEW), place(folder, MANY)]))


if __name__ == "__main__":
    main()
