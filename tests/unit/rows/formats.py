"""The same table in every format."""

from functools import partial

import anndata
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import zarr
from dask import delayed
from pyarrow.feather import write_feather
from scipy.sparse import csr_array, csr_matrix, save_npz


def write_npy(folder, X):
    np.save(folder / "x.npy", X)
    return folder / "x.npy"


def make_memmap(folder, X):
    return np.load(write_npy(folder, X), mmap_mode="r")


def names_of(X):
    return [f"c{c}" for c in range(X.shape[1])]


def as_table(X):
    return pa.table(dict(zip(names_of(X), X.T, strict=True)))


def write_parquet(folder, X):
    pq.write_table(as_table(X), folder / "x.parquet", row_group_size=7)
    return folder / "x.parquet"


def write_parquet_folder(folder, X):
    parts = folder / "parts"
    parts.mkdir()
    for k, start in enumerate(range(0, len(X), 11)):
        pq.write_table(as_table(X[start : start + 11]), parts / f"part.{k}.parquet")
    return parts


def write_arrow(folder, X, name, compression):
    write_feather(as_table(X), str(folder / name), compression=compression, chunksize=9)
    return folder / name


def write_text(folder, X, name, delimiter, *, header=True, newline="\n"):
    lines = [delimiter.join(map(repr, row)) for row in X.tolist()]
    lines = [delimiter.join(names_of(X)), *lines] if header else lines
    (folder / name).write_bytes((newline.join(lines) + newline).encode())
    return folder / name


def write_npz(folder, X, save=np.savez):
    save(folder / "x.npz", X=X, y=np.arange(len(X)) % 3)
    return folder / "x.npz"


def write_zarr(folder, X, version):
    path, form = folder / f"v{version}.zarr", {"chunks": (9, 2), "zarr_format": version}
    zarr.create_array(path, shape=X.shape, dtype=X.dtype, **form)[:] = X
    return path


def write_h5ad(folder, X, *, sparse=False):
    kinds = pd.Categorical(np.array(["T", "B"])[np.arange(len(X)) % 2])
    obs = pd.DataFrame({"kind": kinds, "batch": np.arange(len(X)) % 3})
    obs.index = [f"cell{i}" for i in range(len(X))]
    var, values = pd.DataFrame(index=names_of(X)), csr_matrix(X) if sparse else X
    path = folder / "x.h5ad"
    anndata.AnnData(values, obs=obs, var=var, obsm={"X_pca": X[:, :2]}).write_h5ad(path)
    return path


def make_dask_array_of_unknown_size(folder, X):
    parts, shape = [X[:13], X[13:21], X[21:]], (np.nan, X.shape[1])
    arrays = [da.from_delayed(delayed(part), shape, X.dtype) for part in parts]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


def make_dask_frame(folder, X):
    return dd.from_pandas(pd.DataFrame(X, columns=names_of(X)), npartitions=4)


DENSE = {
    "array": lambda folder, X: X,
    "memmap": make_memmap,
    "part of a memmap": lambda folder, X: make_memmap(folder, np.hstack([X, X]))[:, : X.shape[1]],
    "npy": write_npy,
    "fortran npy": lambda folder, X: write_npy(folder, np.asfortranarray(X)),
    "parquet": write_parquet,
    "parquet folder": write_parquet_folder,
    "feather": partial(write_arrow, name="x.feather", compression="lz4"),
    "arrow": partial(write_arrow, name="x.arrow", compression="uncompressed"),
    "npz": write_npz,
    "compressed npz": partial(write_npz, save=np.savez_compressed),
    "zarr 2": partial(write_zarr, version=2),
    "zarr 3": partial(write_zarr, version=3),
    "open zarr array": lambda folder, X: zarr.open(write_zarr(folder, X, 3), mode="r"),
    "h5ad": write_h5ad,
    "dask array": lambda folder, X: da.from_array(X, chunks=(7, 2)),
    "dask array of unknown size": make_dask_array_of_unknown_size,
    "dask frame": make_dask_frame,
}
TEXT = {
    "csv": partial(write_text, name="x.csv", delimiter=","),
    "csv of Windows": partial(write_text, name="w.csv", delimiter=",", newline="\r\n"),
    "tsv": partial(write_text, name="x.tsv", delimiter="\t"),
    "semicolons": partial(write_text, name="s.csv", delimiter=";"),
    "no header": partial(write_text, name="n.csv", delimiter=",", header=False),
}


def write_sparse(folder, X, *, compressed, kind="csr"):
    path = folder / f"{kind}{compressed}.npz"
    save_npz(path, csr_array(X).asformat(kind), compressed=compressed)
    return path


SPARSE = {
    "csr": lambda folder, X: csr_array(X),
    "csc": lambda folder, X: csr_array(X).tocsc(),
    "npz": partial(write_sparse, compressed=False),
    "compressed npz": partial(write_sparse, compressed=True),
    "npz of csc": partial(write_sparse, compressed=False, kind="csc"),
    "h5ad": partial(write_h5ad, sparse=True),
}
