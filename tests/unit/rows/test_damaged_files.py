"""Damaged files, and paths that lead to no file: one sentence with the name, and no waiting."""

import io
import os
import re
import zipfile

import numpy as np
import pytest

from isosne.errors import DataError, ParameterError
from isosne.rows import open_rows
from isosne.rows.table_reader import check_exists
from tests.conftest import refuses
from tests.fuzz.case import Case, judge
from tests.fuzz.readers import run_reader
from tests.unit.rows.formats import write_npy

X = np.random.default_rng(0).normal(size=(30, 3))
N_CASES = 400


def test_a_damaged_file_is_read_or_refused_in_one_sentence(tmp_path):
    """A run of the fuzzer in this process, with other seeds than its own."""
    n_refused = 0
    for seed in range(N_CASES):
        folder = tmp_path / str(seed)
        folder.mkdir()
        outcome, reason, details = judge(run_reader, Case(np.random.default_rng(seed), folder))
        assert outcome != "failed", f"{reason}\n{details}"
        n_refused += outcome == "refused"
        assert outcome == "succeeded" or str(folder) in reason
    assert n_refused > N_CASES / 2


def refused(path, reason):
    words = (
        rf"\ACannot read {re.escape(str(path))}: the file is damaged, incomplete, or not of the "
        rf"format that its extension names \({reason}\)\. Write or copy it again\.\Z"
    )
    return pytest.raises(DataError, match=words)


def array_header(shape):
    content = io.BytesIO()
    entries = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(content, entries)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (array_header((-5, 3)) + bytes(200), r"ValueError: an array has the shape \(-5, 3\)"),
        (
            b"\x93NUMPY\x02\x00\xff\xff\xff\x7f{",
            "ValueError: the header of an array is damaged: EOF.*",
        ),
        (b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8',", "ValueError: the header of an .*"),
        (b"", "ValueError: the header of an array is damaged: .*"),
    ],
    ids=["negative shape", "long header", "open literal", "empty"],
)
def test_the_header_of_an_array_is_checked_before_it_is_believed(content, reason, tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(content)
    with refused(path, reason):
        open_rows(path)


@pytest.mark.parametrize("name", ["X", "y"])
def test_an_array_of_an_npz_file_is_as_long_as_its_header_says(name, tmp_path):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for member, shape in {"X": (3, 2), "y": (3, 1)}.items():
            declared = (6 if member == name else 3, shape[1])
            archive.writestr(f"{member}.npy", array_header(declared) + bytes(8 * np.prod(shape)))
    with refused(path, f"ValueError: the header of {name} does not fit its content"):
        open_rows(path)


def test_other_members_of_an_npz_file_are_ignored(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, X=X, names=np.array([{"a": 1}], dtype=object))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("README.txt", "of the data")
    rows = open_rows(path)
    np.testing.assert_array_equal(rows.read(slice(None)), X)
    assert dict(rows.side) == {}


def test_a_column_that_unpacks_to_too_much_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    np.savez_compressed(path, X=X, y=np.zeros(30, "<U60000"))
    rows = open_rows(path, memory_limit=10**6)
    with pytest.raises(DataError, match=r"must fit in memory; it takes 7 MB"):
        rows.side["y"]()


# --- paths


FIFO = (
    "it is not a regular file, and rows are read in any order. "
    "Save its content to a file, or pipe it into isosne and pass '-' instead."
)
PLACES = {
    "fifo": (os.mkfifo, FIFO),
    "loop": (
        lambda path: path.symlink_to(path),
        "too many levels of symbolic links. Correct the path, or change its permissions.",
    ),
}


@pytest.mark.skipif(os.name != "posix", reason="files of POSIX")
@pytest.mark.parametrize(("make", "reason"), PLACES.values(), ids=PLACES)
def test_what_is_no_regular_file_is_refused_at_once(make, reason, tmp_path):
    path = tmp_path / "x.csv"
    make(path)
    with refuses(DataError, f"Cannot read {path}: {reason}"):
        open_rows(path)


@pytest.mark.parametrize("ending", ["csv", "npy", "npz", "feather", "h5ad"])
def test_a_folder_is_no_file(ending, tmp_path):
    path = tmp_path / f"x.{ending}"
    path.mkdir()
    with pytest.raises(DataError, match=re.escape(str(path))):
        open_rows(path)


def test_a_zarr_folder_has_metadata(tmp_path):
    path = tmp_path / "x.zarr"
    path.mkdir()
    sentence = (
        f"{path} must be a folder that zarr wrote; it has no zarr.json or .zarray or .zgroup. "
        "Name the folder of an array or a group."
    )
    with refuses(DataError, sentence):
        open_rows(path)


def test_a_null_character_is_refused():
    with refuses(DataError, r"Cannot read 'x\x00.csv': embedded null byte. Correct the path."):
        open_rows("x\0.csv")


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
@pytest.mark.parametrize("target", ["x.csv", "nowhere.csv"])
def test_a_link_that_leads_nowhere_does_not_suggest_itself(target, tmp_path):
    path = tmp_path / "x.csv"
    path.symlink_to(tmp_path / target)
    sentence = f"source must be a file that exists; got source={str(path)!r}. Correct the path."
    with refuses(ParameterError, sentence):
        check_exists(path, "source")


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "I/O")])
def test_errors_of_the_system_have_their_own_words(error, tmp_path, monkeypatch):
    rows = open_rows(write_npy(tmp_path, X))

    def fail(*arguments):
        raise error

    monkeypatch.setattr(type(rows), "_read", fail)
    reason = "the file is damaged, incomplete, or not of the format that its extension names"
    sentence = f"{reason} (OSError: [Errno 5] I/O). Write or copy it again."
    if isinstance(error, PermissionError):
        sentence = "permission denied. Change the permissions of the file."
    with refuses(DataError, f"Cannot read {tmp_path / 'x.npy'}: {sentence}"):
        rows.read(slice(None))
