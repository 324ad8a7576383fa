"""Files of models, checkpoints and sessions: round trips, and errors for other files."""

import io
import json
import time
import zipfile

import numpy as np
import pytest
from numpy.lib import format as npy

from isosne._archive import read_archive, write_archive
from isosne.errors import DataError
from tests.conftest import refuses

ARRAYS = {"a": np.arange(6).reshape(2, 3), "b": np.array([0.5, np.nan])}
REST = "Choose another file; this one was not modified."


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.isosne"
    write_archive(path, "model", {"psi": np.int64(16)}, ARRAYS)
    return path


def header_of(*names, **more):
    return json.dumps({"isosne": "model", "form": 1, "version": "1", "arrays": [*names]} | more)


def zipped(compression=zipfile.ZIP_STORED, **members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        for name, member in members.items():
            archive.writestr(name.replace("_", "."), member)
    return content.getvalue()


def test_header_and_arrays_come_back(path):
    stored = read_archive(path, "model")
    assert stored.header["psi"] == 16
    assert list(stored.arrays) == ["a", "b"]
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(stored.arrays[name], array)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_the_same_content_is_the_same_bytes_at_any_time(path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr(time, "localtime", lambda *_: (2031, 5, 4, 3, 2, 1, 0, 124, 0))
    write_archive(path, "model", {"psi": np.int64(16)}, ARRAYS)
    assert path.read_bytes() == before


DAMAGED = "Cannot read the model {path}: the file is damaged or not written by isosne "
NO_HEADER = "(\"There is no item named 'header.json' in the archive\")"
LATER = "{path} uses file format 2, written by isosne 7.0; this version reads formats up to 1. "
CONTAIN = "{path} must contain a model of isosne; it contains "
OTHERS = {
    "another kind": (
        zipped(header_json=header_of(isosne="checkpoint")),
        f"{CONTAIN}a checkpoint of isosne. {REST}",
    ),
    "something else": (zipped(header_json="[1, 2]"), f"{CONTAIN}something else. {REST}"),
    "a later format": (
        zipped(header_json=header_of(form=2, version="7.0")),
        f"{LATER}Update isosne to read it.",
    ),
    "no archive": (b"a,b\n1,2\n", f"{DAMAGED}(File is not a zip file). {REST}"),
    "an archive of arrays": (zipped(X_npy="x"), f"{DAMAGED}{NO_HEADER}. {REST}"),
}


@pytest.mark.parametrize(("content", "sentence"), OTHERS.values(), ids=OTHERS)
def test_another_file_is_refused_and_not_changed(content, sentence, path):
    path.write_bytes(content)
    with refuses(DataError, sentence.format(path=path)):
        read_archive(path, "model")
    assert path.read_bytes() == content


def test_a_file_that_cannot_be_opened_is_refused(path):
    path.unlink()
    with refuses(DataError, f"Cannot read the model {path}: no such file. Check the name."):
        read_archive(path, "model")
    sentence = (
        f"Cannot read the model {path.parent}: is a directory. "
        "Choose another file, or check its permissions."
    )
    with refuses(DataError, sentence):
        read_archive(path.parent, "model")


def test_a_file_cut_or_changed_anywhere_is_refused(path):
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        begin = archive.getinfo("a.npy").header_offset
    flipped = bytearray(content)
    flipped[begin + 180] ^= 4  # a value
    cut = [content[:length] for length in [*range(0, len(content), 40), len(content) - 1]]
    for damaged in [bytes(flipped), *cut]:
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"the file is damaged or not written by isosne \(.+\)"):
            read_archive(path, "model")
        assert path.read_bytes() == damaged


def array_header(shape, dtype="<f8"):
    content = io.BytesIO()
    npy.write_array_header_2_0(content, {"descr": dtype, "fortran_order": False, "shape": shape})
    return content.getvalue()


BOMBS = {
    "a packed header": zipped(zipfile.ZIP_DEFLATED, header_json=" " * 10**6 + header_of()),
    "an array without values": zipped(header_json=header_of("a"), a_npy=array_header((10**12,))),
    "a negative shape": zipped(header_json=header_of("a"), a_npy=array_header((-5, 3))),
    "values of no size": zipped(header_json=header_of("a"), a_npy=array_header((9**9,), "<U0")),
    "objects": zipped(header_json=header_of("a"), a_npy=array_header((0,), "|O")),
    "a header of four gigabytes": zipped(
        header_json=header_of("a"), a_npy=b"\x93NUMPY\x02\x00\xff\xff\xff\xff{"
    ),
    "a header that is no literal": zipped(
        header_json=header_of("a"), a_npy=b"\x93NUMPY\x01\x00\x10\x00" + b"{'descr': '<f8',"
    ),
    "a header without an end": zipped(header_json="[" * 100_000),
    "arrays that repeat": zipped(header_json=header_of("a", "a"), a_npy=array_header((0,))),
}


@pytest.mark.parametrize("content", BOMBS.values(), ids=BOMBS)
def test_a_file_that_would_grow_in_memory_is_refused(content, path):
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"the file is damaged or not written by isosne \([^\n]+\)"):
        read_archive(path, "model")
