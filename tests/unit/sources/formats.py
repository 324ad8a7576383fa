"""The same table in every format."""

import numpy as np
import pytest


def write_npy(folder, X):
    np.save(folder / "x.npy", X)
    return folder / "x.npy"


def write_fortran(folder, X):
    np.save(folder / "f.npy", np.asfortranarray(X))
    return folder / "f.npy"


def names_of(X):
    return [f"c{c}" for c in range(X.shape[1])]


def as_table(X):
    pa = pytest.importorskip("pyarrow")
    return pa.table(dict(zip(names_of(X), X.T, strict=True)))


def write_parquet(folder, X):
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(as_table(X), folder / "x.parquet", row_group_size=7)
    return folder / "x.parquet"


def write_parquet_folder(folder, X):
    pq = pytest.importorskip("pyarrow.parquet")
    place = folder / "parts"
    place.mkdir()
    for k, start in enumerate(range(0, len(X), 11)):
        pq.write_table(as_table(X[start : start + 11]), place / f"part.{k}.parquet")
    return place


def write_feather(folder, X):
    feather = pytest.importorskip("pyarrow.feather")
    feather.write_feather(as_table(X), str(folder / "x.feather"), chunksize=9)
    return folder / "x.feather"


def write_arrow(folder, X):
    feather = pytest.importorskip("pyarrow.feather")
    path = folder / "x.arrow"
    feather.write_feather(as_table(X), str(path), compression="uncompressed", chunksize=9)
    return path


def make_memmap(folder, X):
    return np.load(write_npy(folder, X), mmap_mode="r")


def make_memmap_part(folder, X):
    np.save(folder / "wide.npy", np.hstack([X, X]))
    return np.load(folder / "wide.npy", mmap_mode="r")[:, : X.shape[1]]


DENSE = {
    "array": lambda folder, X: X,
    "memmap": make_memmap,
    "part of a memmap": make_memmap_part,
    "npy": write_npy,
    "fortran npy": write_fortran,
    "parquet": write_parquet,
    "parquet folder": write_parquet_folder,
    "feather": write_feather,
    "arrow": write_arrow,
}
