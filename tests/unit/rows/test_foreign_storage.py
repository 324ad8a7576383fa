"""A file of somebody else reads no other file of this machine."""

import anndata
import h5py
import numpy as np
import pytest
import zarr
from scipy.sparse import csc_matrix, csr_matrix, save_npz

from isosne.errors import DataError
from isosne.rows import open_rows, read_map

N = 20


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret.h5"
    with h5py.File(path, "w") as file:
        file["X"] = np.ones((N, 2), "f4")
    return path


def by_external_storage(file, where, secret):
    return file.create_dataset(where, (N, 2), "u1", external=[(str(secret), 0, 2 * N)])


def by_external_link(file, where, secret):
    file[where] = h5py.ExternalLink(secret, "/X")


def by_soft_link(file, where, secret):
    file["other"] = h5py.ExternalLink(secret, "/")
    file[where] = h5py.SoftLink("/other/X")


def by_virtual_data_set(file, where, secret):
    layout = h5py.VirtualLayout((N, 2), "f4")
    layout[:] = h5py.VirtualSource(secret, "X", (N, 2))
    return file.create_virtual_dataset(where, layout)


KINDS = [by_external_storage, by_external_link, by_soft_link, by_virtual_data_set]


@pytest.mark.parametrize("lead_outside", KINDS)
@pytest.mark.parametrize(("where", "read"), [("X", open_rows), ("obsm/X_umap", read_map)])
def test_an_h5ad_file_that_reads_another_file_is_refused(
    lead_outside, where, read, tmp_path, secret
):
    path = tmp_path / "crafted.h5ad"
    values = np.zeros((N, 2), np.float32)
    anndata.AnnData(values, obsm={"X_umap": values}).write_h5ad(path)
    with h5py.File(path, "a") as file:
        attributes = dict(file[where].attrs)
        del file[where]
        made = lead_outside(file, where, secret)
        if made is not None:
            made.attrs.update(attributes)
    with pytest.raises(DataError, match=r"An \.h5ad file must have all of its data itself; "):
        read(path)


def test_a_zarr_store_whose_chunk_is_a_link_is_refused(tmp_path, secret):
    path = tmp_path / "crafted.zarr"
    zarr.create_array(path, data=np.ones((N, 2)), compressors=None)
    (path / "c" / "0" / "0").unlink()
    (path / "c" / "0" / "0").symlink_to(secret)
    with pytest.raises(DataError, match="A zarr store must have all of its data itself; "):
        open_rows(path)


def by_index(path):
    with h5py.File(path, "a") as file:
        del file["X/indptr"]
        file["X"].create_dataset("indptr", (10**9,), "i8", chunks=(10**6,))
        file["X"].attrs["shape"] = [10**9 - 1, 2]


def by_names(path):
    with h5py.File(path, "a") as file:
        attributes = dict(file["var/_index"].attrs)
        del file["var/_index"]
        made = file["var"].create_dataset("_index", (10**8,), h5py.string_dtype(), chunks=(10**6,))
        made.attrs.update(attributes)


@pytest.mark.parametrize("declare", [by_index, by_names])
def test_an_h5ad_file_that_declares_more_than_it_has_is_refused(declare, tmp_path):
    path = tmp_path / "crafted.h5ad"
    anndata.AnnData(csr_matrix(np.eye(N, 2, dtype=np.float32))).write_h5ad(path)
    declare(path)
    with pytest.raises(DataError, match=r"An \.h5ad file must have the values that it declares; "):
        open_rows(path)


def test_every_column_must_have_a_name(tmp_path):
    path = tmp_path / "crafted.h5ad"
    anndata.AnnData(np.ones((N, 2), np.float32)).write_h5ad(path)
    with h5py.File(path, "a") as file:
        attributes = dict(file["X"].attrs)
        del file["X"]
        file["X"] = np.ones((N, 3), np.float32)
        file["X"].attrs.update(attributes)
    with pytest.raises(DataError, match=r"it has 2 name\(s\) and 3 columns"):
        open_rows(path)


def test_the_rows_that_a_matrix_by_columns_declares_count_as_memory(tmp_path):
    save_npz(tmp_path / "crafted.npz", csc_matrix(([1.0], ([0], [0])), shape=(10**9, 2)))
    with pytest.raises(DataError, match="must fit in memory; it takes 8,000 MB, and 100 MB are"):
        open_rows(tmp_path / "crafted.npz", memory_limit=10**8)
