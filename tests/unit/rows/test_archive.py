"""Files of models and checkpoints: round trips, and errors for other files."""

import json
import time
import zipfile

import numpy as np
import pytest

from isosne._archive import read_archive, write_archive
from isosne._files import check_writable, encode_json, whole_file
from isosne.errors import DataError, OutputError
from tests.conftest import refuses

ARRAYS = {"a": np.arange(6).reshape(2, 3), "b": np.array([0.5, np.nan])}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.isosne"
    write_archive(path, "model", {"psi": np.int64(16)}, ARRAYS)
    return path


def write_header(path, header):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(header))


def test_header_and_arrays_come_back(path):
    found = read_archive(path, "model")
    assert found.header["psi"] == 16
    assert list(found.arrays) == ["a", "b"]
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found.arrays[name], array)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_another_kind_of_file_is_refused(path):
    rest = "Choose another file; this one was not modified."
    sentence = f"{path} must contain a checkpoint of isosne; it contains a model of isosne. {rest}"
    with refuses(DataError, sentence):
        read_archive(path, "checkpoint")
    write_header(path, {"a": 1})
    sentence = f"{path} must contain a model of isosne; it contains something else. {rest}"
    with refuses(DataError, sentence):
        read_archive(path, "model")


def test_a_later_format_is_refused(path):
    write_header(path, {"isosne": "model", "form": 2, "version": "7.0", "arrays": []})
    sentence = (
        f"{path} uses file format 2, written by isosne 7.0; this version reads formats up to 1. "
        "Update isosne to read it."
    )
    with refuses(DataError, sentence):
        read_archive(path, "model")


def test_a_damaged_file_is_refused_and_not_changed(path):
    path.write_bytes(b"PK\x03\x04")
    sentence = (
        f"Cannot read the model {path}: the file is damaged or not written by isosne (File is not "
        "a zip file). Choose another file; this one was not modified."
    )
    with refuses(DataError, sentence):
        read_archive(path, "model")
    assert path.read_bytes() == b"PK\x03\x04"


def test_a_file_that_cannot_be_opened_is_refused(path):
    path.unlink()
    sentence = f"Cannot read the model {path}: no such file. Check the name."
    with refuses(DataError, sentence):
        read_archive(path, "model")
    sentence = (
        f"Cannot read the model {path.parent}: is a directory. "
        "Choose another file, or check its permissions."
    )
    with refuses(DataError, sentence):
        read_archive(path.parent, "model")


def test_a_file_appears_when_it_is_complete_and_not_after_an_error(tmp_path):
    path = tmp_path / "x.txt"

    def fail():
        with whole_file(path) as file:
            file.write(b"half")
            assert not path.exists()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []
    with whole_file(path) as file:
        file.write(b"whole")
    assert path.read_bytes() == b"whole"


def test_a_check_leaves_no_file_and_an_existing_one_unchanged(tmp_path):
    path = tmp_path / "x.txt"
    check_writable(path)
    assert list(tmp_path.iterdir()) == []
    path.write_text("precious")
    check_writable(path, force=True)
    assert path.read_text() == "precious"
    sentence = (
        f"Cannot write {path}: the file already exists. "
        "Choose another name, or pass force=True to replace it."
    )
    with refuses(OutputError, sentence):
        check_writable(path)


def test_a_path_through_a_file_cannot_be_written(path):
    target = path / "x.txt"
    sentence = f"Cannot write {target}: the folder {path} does not exist. Create the folder first."
    with refuses(OutputError, sentence):
        check_writable(target)


def test_numbers_arrays_and_paths_become_json(tmp_path):
    value = {"n": np.int64(3), "x": np.array([0.5, 1]), "path": tmp_path, "text": "ü"}
    assert json.loads(encode_json(value)) == {
        "n": 3,
        "x": [0.5, 1.0],
        "path": str(tmp_path),
        "text": "ü",
    }
    with pytest.raises(TypeError, match=r"\Aset cannot be encoded as JSON\Z"):
        encode_json({"a": {1}})


def test_the_same_content_is_the_same_bytes_at_any_time(path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr(time, "localtime", lambda *_: (2031, 5, 4, 3, 2, 1, 0, 124, 0))
    write_archive(path, "model", {"psi": np.int64(16)}, ARRAYS)
    assert path.read_bytes() == before
