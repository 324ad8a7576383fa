"""The same points from any source give the same embedding and the same new coordinates."""

import inspect
import logging
import os
import signal
import subprocess
import sys

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
import pytest

import isosne.tsne.input
import isosne.tsne.place
from isosne import IsolationKernel
from isosne.rows import open_rows
from tests.conftest import make as make_model
from tests.unit.rows.formats import DENSE, SPARSE, TEXT, write_npy

N, POOL, LANDMARKS = 600, 250, 120


@pytest.fixture(scope="module")
def points():
    """Eighths, which every type and every format holds as they are."""
    rng = np.random.default_rng(0)
    X = rng.normal(0, 2, (N, 4)) + 8 * rng.integers(0, 3, (N, 1))
    return (np.round(8 * X) / 8).astype(np.float32)


@pytest.fixture(autouse=True)
def small_pool_and_blocks(monkeypatch):
    monkeypatch.setattr(isosne.tsne.input, "POOL", POOL)
    monkeypatch.setattr(isosne.tsne.place, "PLACE_BYTES", 16 * 70)


def make(kernel=None, **settings):
    return make_model(IsolationKernel(30) if kernel is None else kernel, **settings)


def results(source, **more):
    model = make(landmarks=LANDMARKS, **more).fit(source)
    return model, model.place(source)


@pytest.fixture(scope="module")
def expected(points):
    """The embedding and the coordinates of all points in memory, with the pool of other runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isosne.tsne.input, "POOL", POOL)
        return results(points)


def assert_same(found, expected):
    model, coordinates = found
    other, other_coordinates = expected
    np.testing.assert_array_equal(model.landmark_indices_, other.landmark_indices_)
    assert model.embedding_.tobytes() == other.embedding_.tobytes()
    assert coordinates.tobytes() == other_coordinates.tobytes()


# One source for each reader; unit/rows/test_formats.py compares the rows of all formats.
SAME = ("array", "fortran npy", "arrow", "zarr 2", "part of a memmap", "memmap", "compressed npz")
READERS = [name for name in DENSE if name not in SAME] + ["csv"]


@pytest.mark.parametrize("name", READERS)
def test_every_source_gives_the_bytes_of_points_in_memory(points, expected, tmp_path, name):
    source = (DENSE | TEXT)[name](tmp_path, points)
    assert_same(results(source), expected)


@pytest.fixture(scope="module")
def whole(points):
    """The embedding of some points in memory, without landmarks, and their new coordinates."""
    model = make().fit(points[:150])
    return model.embedding_.tobytes(), model.transform(points[:150]).tobytes()


@pytest.mark.parametrize("name", ["npy", "csv", "dask frame"])
def test_all_rows_of_a_source_give_the_map_of_points_in_memory(points, whole, tmp_path, name):
    source = (DENSE | TEXT)[name](tmp_path, points[:150])
    found = make().fit(source)
    assert (found.embedding_.tobytes(), found.transform(source).tobytes()) == whole


FROM_RANDOM = {"start": "random"}  # principal axes of sparse points are not centered


@pytest.fixture(scope="module")
def expected_of_sparse(points):
    """As `expected`, for points with many zeros."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isosne.tsne.input, "POOL", POOL)
        return results(np.maximum(points, 0), **FROM_RANDOM)


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_sources_give_the_bytes_of_dense_points(points, expected_of_sparse, tmp_path, name):
    source = SPARSE[name](tmp_path, np.maximum(points, 0))
    assert_same(results(source, **FROM_RANDOM), expected_of_sparse)


@pytest.mark.parametrize("name", ["npy", "csv", "dask frame"])
def test_names_of_columns_are_those_of_the_source(points, tmp_path, name):
    source = (DENSE | TEXT)[name](tmp_path, points)
    model = make(landmarks=LANDMARKS).fit(source)
    has_names = name != "npy"
    assert model.n_features_in_ == 4
    if has_names:
        assert model.feature_names_in_.tolist() == ["c0", "c1", "c2", "c3"]
    # A later fit to points without names forgets them.
    model.fit(write_npy(tmp_path, points))
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("kind", ["pandas", "dask"])
def test_a_frame_whose_columns_are_numbers_is_a_source(points, expected, kind):
    frame = pd.DataFrame(points)
    source = frame if kind == "pandas" else dd.from_pandas(frame, npartitions=4)
    found = results(source)
    assert_same(found, expected)
    assert not hasattr(found[0], "feature_names_in_")
    rows = open_rows(source, columns=[3, 0], exclude=[2])
    np.testing.assert_array_equal(rows.read(slice(5)), points[:5, [3, 0]])
    np.testing.assert_array_equal(rows.side[2](), points[:, 2].astype(str))


# --- Dask


def test_only_samples_landmarks_and_coordinates_come_back_from_dask(points, tmp_path, monkeypatch):
    came = []
    compute = dask.base.compute

    def counting(*collections, **more):
        found = compute(*collections, **more)
        came.extend(np.asarray(part) for part in found)
        return found

    for module in (dask, dask.base):
        monkeypatch.setattr(module, "compute", counting)
    source = da.from_array(points, chunks=(100, 2))
    model = make(landmarks=LANDMARKS).fit(source)
    assert sum(len(part) for part in came) == POOL
    came.clear()
    model.place(source)
    assert [part.shape for part in came] == [(100, 2)] * 6
    assert {part.dtype for part in came} == {np.dtype(np.float32)}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A cluster of two processes on this machine, and nobody else's."""
    distributed = pytest.importorskip("distributed")
    quiet = {"silence_logs": logging.CRITICAL, "memory_limit": 0}
    with (
        dask.config.set({"distributed.worker.daemon": True}),
        distributed.LocalCluster(
            n_workers=2,
            processes=True,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            local_directory=str(tmp_path_factory.mktemp("workers")),
            **quiet,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def workers(client):
    return client.run(os.getpid)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dask array", "dask frame"])
def test_a_cluster_gives_the_same_bytes(client, points, expected, tmp_path, name):
    assert len(set(workers(client).values())) == 2
    source = DENSE["dask frame"](tmp_path, points)
    if name == "dask array":
        source = da.from_array(points, chunks=(100, 2))
    assert_same(results(source), expected)


@pytest.mark.slow
def test_a_cluster_talks_to_nobody_but_this_machine(client, points, expected):
    model, coordinates = expected
    found = model.place(da.from_array(points, chunks=(200, 4)))
    assert found.tobytes() == coordinates.tobytes()
    addresses = [client.scheduler.address, *workers(client)]
    assert all(address.startswith("tcp://127.0.0.1:") for address in addresses)
    for pid in (os.getpid(), *workers(client).values()):
        for connection in psutil.Process(pid).net_connections("inet"):
            ends = [end.ip for end in (connection.laddr, connection.raddr) if end]
            if connection.status == psutil.CONN_ESTABLISHED:
                assert set(ends) <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


class Heavy:
    """A function that weighs more than a cluster likes to be sent, and counts when it is."""

    n_sent = 0

    def __init__(self):
        self.weight = np.random.default_rng(0).random(1_500_000)  # 12 MB

    def __getstate__(self):
        type(self).n_sent += 1
        return self.__dict__

    def __call__(self, points):
        return points[:, :2] + np.float32(len(self.weight))


@pytest.mark.slow
def test_what_is_applied_on_a_cluster_travels_to_it_once(client, points):
    rows = open_rows(da.from_array(points, chunks=(8, 4)))  # 75 chunks: two rounds
    found = np.concatenate(list(rows.apply(Heavy(), 2**20)))
    np.testing.assert_array_equal(found, points[:, :2] + np.float32(1_500_000))
    assert Heavy.n_sent <= 2  # once to be weighed, and once to be sent


# Last of the tests with a cluster: a new worker takes seconds to load.
@pytest.mark.slow
def test_a_worker_killed_in_the_middle_of_a_placement_changes_nothing(
    client, points, expected, tmp_path
):
    model, coordinates = expected
    armed, fired = tmp_path / "armed", tmp_path / "fired"

    def read(block, block_info=None):
        first = block_info[0]["array-location"][0][0]
        if first == 300 and armed.exists():
            armed.rename(fired)
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    source = da.from_array(points, chunks=(50, 4)).map_blocks(read, dtype=np.float32)
    before = workers(client)
    armed.touch()
    found = model.place(source)
    assert fired.exists()
    assert found.tobytes() == coordinates.tobytes()
    client.wait_for_workers(2)
    assert set(workers(client).values()) != set(before.values())


def fingerprints(folder):
    """Return the fingerprints of two Dask collections; also run in another process."""
    import dask.array
    import dask.dataframe
    import numpy

    from isosne.rows import open_rows

    array = dask.array.from_array(numpy.load(folder + "/x.npy"), chunks=(100, 2))
    frame = dask.dataframe.read_parquet(folder + "/x.parquet")
    return [open_rows(source).fingerprint() for source in (array, frame)]


@pytest.mark.slow
def test_a_dask_collection_has_the_same_fingerprint_in_another_process(points, tmp_path):
    for write in (DENSE["npy"], DENSE["parquet"]):
        write(tmp_path, points)
    first = fingerprints(str(tmp_path))
    script = f"{inspect.getsource(fingerprints)}\nprint(*fingerprints({str(tmp_path)!r}))"
    found = subprocess.check_output([sys.executable, "-c", script], text=True)
    assert found.split() == first
    DENSE["npy"](tmp_path, points + 1)
    assert fingerprints(str(tmp_path))[0] != first[0]


FRESH = """
import dask.array, numpy, sys
from isosne.rows import open_rows

array = dask.array.from_array(numpy.ones((6, 2)), chunks=(3, 2))
assert "distributed" not in sys.modules
print(sum(block.sum() for block in open_rows(array).apply(lambda block: block, 16)))
"""


def test_a_dask_array_is_placed_in_an_interpreter_that_has_not_imported_its_cluster():
    # The imports of this module load it before any test begins.
    found = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True)
    assert (found.stdout, found.stderr) == ("12.0\n", "")
