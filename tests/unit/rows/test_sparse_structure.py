"""Sparse matrices whose indices lead outside are refused before a loop follows them."""

import h5py
import numpy as np
import pytest
from scipy import sparse

from isosne import TSNE, GaussianKernel, PrecomputedKernel
from isosne._checks import check_points
from isosne.errors import DataError
from isosne.rows import open_rows
from tests.conftest import refuses

X = np.where(np.arange(24).reshape(6, 4) % 3, np.arange(24.0).reshape(6, 4), 0)


def refused(reason, name="X"):
    return refuses(
        DataError,
        f"{name} must be a valid sparse matrix: {reason}. Build the matrix again from its rows, "
        "columns and values, as with scipy.sparse.coo_array.",
    )


def changed(values, index, value):
    values = values.copy()
    values[index] = value
    return values


def with_parts(make, **changes):
    """Return a matrix with some arrays replaced, as SciPy allows it."""
    matrix = make(X)
    for name, change in changes.items():
        setattr(matrix, name, change(getattr(matrix, name)))
    return matrix


def too_high(indices):
    return changed(indices, 3, 2**30)


BROKEN = {
    "an index too high": (
        {"indices": too_high},
        "indices must be from 0 to 3; got 1073741824",
    ),
    "an index below zero": (
        {"indices": lambda part: changed(part, 3, -1)},
        "indices must be from 0 to 3; got -1",
    ),
    "indices that are no integers": (
        {"indices": lambda part: part * 0.5},
        "indices must be integers; got float64 of shape (16,)",
    ),
    "a row that ends before it starts": (
        {"indptr": lambda part: changed(part, 2, 10**6)},
        "indptr must start at 0 and never decrease",
    ),
    "rows that start later": (
        {"indptr": lambda part: changed(part, 0, 1)},
        "indptr must start at 0 and never decrease",
    ),
    "a last row that ends too late": (
        {"indptr": lambda part: changed(part, -1, 17)},
        "indptr must end at 16, the number of indices; got 17",
    ),
    "too few rows": (
        {"indptr": lambda part: part[:-1]},
        "indptr must have 7 integers; got int32 of shape (6,)",
    ),
    "too few values": (
        {"data": lambda part: part[:-1]},
        "data must have 16 values, one per index; got shape (15,)",
    ),
}


@pytest.mark.parametrize(("changes", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_matrix_in_memory_is_checked(changes, reason):
    matrix = with_parts(sparse.csr_array, **changes)
    fitted = GaussianKernel(2).fit(X)
    for use in (
        lambda: TSNE(GaussianKernel(2)).fit(matrix),
        lambda: GaussianKernel(2).fit(matrix),
        lambda: fitted.similarity(matrix),
        lambda: open_rows(matrix),
    ):
        with refused(reason):
            use()


@pytest.mark.parametrize(
    ("make", "name", "change", "reason"),
    [
        (sparse.csc_array, "indices", too_high, "indices must be from 0 to 5; got 1073741824"),
        (
            lambda X: sparse.bsr_array(X, blocksize=(3, 2)),
            "indices",
            lambda indices: changed(indices, 3, 2**20),
            "axis 1 index 2097153 exceeds matrix dimension 4",
        ),
        (
            sparse.coo_array,
            "coords",
            lambda coords: (too_high(coords[0]), coords[1]),
            "axis 0 index 1073741824 exceeds matrix dimension 6",
        ),
        (
            sparse.coo_array,
            "data",
            lambda data: data[:-1],
            "all index and data arrays must have the same length",
        ),
        (
            sparse.lil_array,
            "rows",
            lambda rows: changed(rows, 2, [0, 1, 2**30]),
            "axis 1 index 1073741824 exceeds matrix dimension 4",
        ),
        (
            sparse.lil_array,
            "rows",
            lambda rows: changed(rows, 2, [0]),
            "every row must have one value per index",
        ),
    ],
    ids=["csc", "bsr", "coo", "coo with too few values", "lil", "lil with other rows"],
)
def test_a_matrix_of_another_format_is_checked_before_it_is_converted(make, name, change, reason):
    with refused(reason):
        check_points(with_parts(make, **{name: change}))


def test_affinities_are_checked():
    square = sparse.csr_array(X[:4])
    square.indices = changed(square.indices, 0, 9)
    with refused("indices must be from 0 to 3; got 9"):
        PrecomputedKernel().fit(square)


@pytest.mark.parametrize("kind", ["coo", "csc", "bsr", "lil", "dia", "dok"])
def test_every_format_becomes_the_same_rows(kind):
    np.testing.assert_array_equal(check_points(sparse.csr_array(X).asformat(kind)).toarray(), X)


@pytest.mark.parametrize(
    "array", [sparse.coo_array(np.ones(4)), sparse.coo_array(np.ones((2,) * 3))]
)
def test_a_sparse_array_has_two_dimensions(array):
    sentence = (
        f"X must be two-dimensional, one point in each row; got shape {array.shape}. Reshape it."
    )
    with refuses(DataError, sentence):
        check_points(array)


def test_the_matrix_of_the_user_is_not_changed():
    """Unsorted and repeated indices, and unused capacity, are tidied in a copy."""
    data, indices = np.array([1.0, 2, 3, 4, np.nan]), np.array([2, 0, 2, 1, 77], np.int32)
    matrix = sparse.csr_array((3, 3))
    matrix.data, matrix.indices, matrix.indptr = data, indices, np.array([0, 3, 4, 4], np.int32)
    before = {name: getattr(matrix, name).copy() for name in ("data", "indices", "indptr")}
    points = check_points(matrix)
    np.testing.assert_array_equal(points.toarray(), [[2, 0, 4], [0, 4, 0], [0, 0, 0]])
    assert points.has_canonical_format
    for name, part in before.items():
        np.testing.assert_array_equal(getattr(matrix, name), part)


# --- files


def write_npz(folder, **parts):
    matrix = sparse.csr_array(X)
    stored = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")} | parts
    np.savez(folder / "x.npz", format=b"csr", shape=parts.pop("shape", X.shape), **stored)
    return folder / "x.npz"


def write_h5ad(folder, **parts):
    matrix = sparse.csr_array(X)
    stored = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")} | parts
    with h5py.File(folder / "x.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "shape": X.shape})
        for name, part in stored.items():
            group[name] = part
        for name, length in (("obs", 6), ("var", 4)):
            frame = file.create_group(name)
            frame["_index"] = [f"{i}" for i in range(length)]
    return folder / "x.h5ad"


@pytest.mark.parametrize("write", [write_npz, write_h5ad])
@pytest.mark.parametrize(("changes", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_matrix_in_a_file_is_checked(write, changes, reason, tmp_path):
    matrix = with_parts(sparse.csr_array, **changes)
    path = write(tmp_path, **{name: getattr(matrix, name) for name in changes})
    if "data" in changes:  # nothing says whether an index or a value is missing
        reason = "indptr must end at 15, the number of indices; got 16"
    with refused(reason, path):
        open_rows(path).read(slice(None))
    with refused(reason, path):
        open_rows(path).take([5, 4, 3, 2, 1, 0])


def test_a_column_of_a_packed_matrix_is_checked_before_it_is_converted(tmp_path):
    matrix = sparse.csc_array(X)
    matrix.indices[3] = 2**30
    sparse.save_npz(tmp_path / "x.npz", matrix)
    with refused("indices must be from 0 to 5; got 1073741824", tmp_path / "x.npz"):
        open_rows(tmp_path / "x.npz")
