"""Files appear when they are complete: several writers, names that are refused."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

from isosne._files import check_writable, encode_json, only_user, whole_file
from isosne.errors import OutputError
from tests.conftest import refuses

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks and signals of POSIX")


def there(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_it_is_complete_and_not_after_an_error(tmp_path):
    path = tmp_path / "x.txt"

    def fail():
        with whole_file(path) as file:
            file.write(b"half")
            assert not path.exists()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert there(tmp_path) == []
    with whole_file(path) as file:
        file.write(b"whole")
    assert path.read_bytes() == b"whole"


def test_a_private_file_stays_private_when_it_is_replaced(tmp_path):
    path = tmp_path / "x"
    path.touch(mode=0o600)
    with whole_file(path, force=True) as file:
        file.write(b"whole")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_check_leaves_no_file_and_an_existing_one_unchanged(tmp_path):
    path = tmp_path / "x.txt"
    check_writable(path)
    assert there(tmp_path) == []
    path.write_text("precious")
    check_writable(path, force=True)
    assert path.read_text() == "precious"
    sentence = (
        f"Cannot write {path}: the file already exists. "
        "Choose another name, or pass force=True to replace it."
    )
    with refuses(OutputError, sentence):
        check_writable(path)


def test_writers_in_threads_do_not_meet(tmp_path):
    path, n_writers = tmp_path / "map.csv", 6
    together = Barrier(n_writers)
    contents = [bytes([65 + w]) * 50_000 for w in range(n_writers)]

    def write(content):
        for _ in range(5):
            together.wait()
            with whole_file(path, force=True) as file:
                file.write(content[:25_000])
                file.write(content[25_000:])
            assert path.read_bytes() in contents

    with ThreadPoolExecutor(n_writers) as pool:
        list(pool.map(write, contents))
    assert there(tmp_path) == ["map.csv"]


def test_a_file_has_one_user(tmp_path):
    path = tmp_path / "run.isosne"
    sentence = (
        f"Cannot write {path}: another run uses it. "
        "Wait until that run ends, or choose another name."
    )
    with only_user(path), refuses(OutputError, sentence), only_user(path):
        pass
    with only_user(path):
        pass
    assert there(tmp_path) == []


def test_a_long_name_is_written(tmp_path):
    path = tmp_path / ("ü" * 120 + ".csv")
    with whole_file(path) as file:
        file.write(b"whole")
    assert there(tmp_path) == [path.name]


def fifo(folder):
    os.mkfifo(folder / "fifo")
    return folder / "fifo"


def in_a_file(folder):
    (folder / "x").touch()
    return folder / "x" / "y"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda folder: folder / ("n" * 300), "file name too long. Choose a shorter name."),
        (fifo, "it is not a regular file. Choose another name."),
        (lambda _: Path("/dev/null"), "it is not a regular file. Choose another name."),
        (lambda folder: folder, "it is a folder. Name a file in it."),
        (in_a_file, "the folder {path.parent} does not exist. Create the folder first."),
    ],
    ids=["long", "fifo", "device", "folder", "in a file"],
)
def test_a_name_that_cannot_be_written_is_refused_before_the_work(make, reason, tmp_path):
    path = make(tmp_path)
    before = there(tmp_path)
    with refuses(OutputError, f"Cannot write {path}: {reason.format(path=path)}"):
        check_writable(path, force=True)
    assert there(tmp_path) == before


@pytest.mark.parametrize("is_there", [False, True])
def test_a_link_stays_and_its_target_is_written_by_force(is_there, tmp_path):
    path, target = tmp_path / "x", tmp_path / "elsewhere" / "y"
    target.parent.mkdir()
    path.symlink_to(target)
    if is_there:
        target.touch(mode=0o600)
    with pytest.raises(OutputError, match="the file already exists"):
        check_writable(path)
    with whole_file(path, force=True) as file:
        (part,) = set(target.parent.iterdir()) - {target}
        assert not is_there or part.stat().st_mode & 0o777 == 0o600  # also while it is written
        file.write(b"whole")
    assert path.is_symlink()
    assert target.read_bytes() == b"whole"
    assert there(target.parent) == ["y"]


def test_numbers_arrays_and_paths_become_json(tmp_path):
    value = {"n": np.int64(3), "x": np.array([0.5, 1]), "path": tmp_path, "text": "ü"}
    plain = {"n": 3, "x": [0.5, 1.0], "path": str(tmp_path), "text": "ü"}
    assert json.loads(encode_json(value)) == plain
    with pytest.raises(TypeError, match=r"\Aset cannot be encoded as JSON\Z"):
        encode_json({"a": {1}})
