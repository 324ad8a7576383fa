"""Several writers of one file, writers that were killed, and names that cannot be written."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from isosne._files import AtomicFile, check_writable, whole_file
from isosne.errors import OutputError
from tests.conftest import refuses

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks and signals of POSIX")


def there(folder):
    return sorted(path.name for path in folder.iterdir())


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


def test_the_last_of_two_writers_wins(tmp_path):
    path = tmp_path / "model.isosne"
    first, second = AtomicFile(path, force=True), AtomicFile(path, force=True)
    first.file.write(b"first")
    second.file.write(b"second")
    assert len(there(tmp_path)) == 2
    second.commit()
    second.discard()
    first.commit()
    first.discard()
    assert path.read_bytes() == b"first"
    assert there(tmp_path) == ["model.isosne"]


def test_of_two_writers_without_force_the_first_wins(tmp_path, monkeypatch):
    path = tmp_path / "map.csv"
    first, second = AtomicFile(path), AtomicFile(path)
    first.file.write(b"first")
    monkeypatch.setattr(AtomicFile, "_check_free", lambda self: None)  # both find the name free
    first.commit()
    sentence = (
        f"Cannot write {path}: the file already exists. "
        "Choose another name, or pass force=True to replace it."
    )
    with refuses(OutputError, sentence):
        second.commit()
    second.discard()
    assert path.read_bytes() == b"first"
    assert there(tmp_path) == ["map.csv"]


def test_a_file_system_without_hard_links_is_written(tmp_path, monkeypatch):
    def refuse(*names):
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    with whole_file(tmp_path / "x") as file:
        file.write(b"whole")
    assert (tmp_path / "x").read_bytes() == b"whole"
    assert there(tmp_path) == ["x"]


KILLED = """
import os, signal, sys
from pathlib import Path
from isosne._files import AtomicFile
targets = [AtomicFile(Path(path)) for path in sys.argv[1:]]
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_left_is_removed_by_the_next_and_nothing_else(tmp_path):
    path, other = tmp_path / "map [1].csv", tmp_path / "map 1.csv"
    done = subprocess.run([sys.executable, "-c", KILLED, path, path, other], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(there(tmp_path)) == 3
    own = tmp_path / ".map [1].csv.part"
    own.write_text("of the user")
    alive = AtomicFile(path)
    check_writable(path)
    left = {name for name in there(tmp_path) if not name.startswith(".map 1.csv.")}
    assert left == {own.name, alive.part.name}
    assert len(there(tmp_path)) == 3  # what belongs to another file stays
    alive.discard()


def test_the_exit_of_a_fork_leaves_the_file_of_its_parent(tmp_path):
    target = AtomicFile(tmp_path / "x")
    target._owner = os.getppid()
    target.discard()
    assert there(tmp_path) == [target.part.name]


def test_a_long_name_is_written(tmp_path):
    path = tmp_path / ("ü" * 120 + ".csv")
    with whole_file(path) as file:
        file.write(b"whole")
    assert there(tmp_path) == [path.name]


def loop(folder):
    (folder / "loop").symlink_to(folder / "loop")
    return folder / "loop"


def fifo(folder):
    os.mkfifo(folder / "fifo")
    return folder / "fifo"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda folder: folder / ("n" * 300), "file name too long. Choose a shorter name."),
        (
            loop,
            "too many levels of symbolic links. Choose another name, or remove the symbolic link.",
        ),
        (fifo, "it is not a regular file. Choose another name."),
        (lambda folder: folder, "it is a folder. Name a file in it."),
    ],
    ids=["long", "loop", "fifo", "folder"],
)
def test_a_name_that_cannot_be_written_is_refused_before_the_work(make, reason, tmp_path):
    path = make(tmp_path)
    before = there(tmp_path)
    with refuses(OutputError, f"Cannot write {path}: {reason}"):
        check_writable(path, force=True)
    assert there(tmp_path) == before


def test_a_device_is_not_replaced():
    with refuses(
        OutputError, "Cannot write /dev/null: it is not a regular file. Choose another name."
    ):
        check_writable(Path("/dev/null"), force=True)
    assert not Path("/dev/null").is_file()


def test_a_null_character_is_refused(tmp_path):
    path = tmp_path / "a\0b"
    sentence = (
        f"Cannot write {str(path)!r}: a file name cannot have a null character. "
        "Choose another name."
    )
    with refuses(OutputError, sentence):
        check_writable(path)


def test_a_link_to_nowhere_is_replaced_only_by_force(tmp_path):
    path = tmp_path / "x"
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutputError, match="the file already exists"):
        check_writable(path)
    with whole_file(path, force=True) as file:
        file.write(b"whole")
    assert path.read_bytes() == b"whole"
    assert there(tmp_path) == ["x"]


def test_a_folder_that_cannot_be_synced_does_not_fail_a_written_file(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise PermissionError

    monkeypatch.setattr(os, "open", refuse)
    with whole_file(tmp_path / "x") as file:
        file.write(b"whole")
    assert (tmp_path / "x").read_bytes() == b"whole"


def test_a_refused_writer_removes_what_a_killed_one_left(tmp_path):
    path = tmp_path / "map.csv"
    subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    (part,) = tmp_path.iterdir()
    os.link(part, path)  # killed after the link, before the temporary name was removed
    with pytest.raises(OutputError, match="the file already exists"):
        check_writable(path)
    assert there(tmp_path) == ["map.csv"]
