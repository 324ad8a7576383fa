"""Compiled functions work where their cache on disk cannot be written."""

import importlib.util
import sys

import pytest
from numba import config

from isosne._numba import kernel

SOURCE = "def add_one(x):\n    return x + 1\n"


@pytest.fixture
def add_one(tmp_path, monkeypatch):
    """A function in a file of its own, a module that what is stored can import."""
    path = tmp_path / "added.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("added", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "added", module)
    return module.add_one


def test_without_any_folder_for_the_cache():
    names = {}
    exec(compile(SOURCE, "<nowhere>", "exec"), names)  # Numba stores nothing without a file
    assert kernel(names["add_one"])(1) == 2


def test_a_cache_that_can_no_longer_be_written(add_one, tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setattr(config, "CACHE_DIR", str(folder))
    compiled = kernel(add_one)
    (inner,) = folder.iterdir()
    inner.rmdir()
    inner.write_text("a file in place of the folder")
    assert compiled(1) == 2
    assert inner.is_file()


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("keep", [0, 40])
def test_damaged_files_are_compiled_and_stored_again(add_one, tmp_path, monkeypatch, ending, keep):
    folder = tmp_path / "cache"
    monkeypatch.setattr(config, "CACHE_DIR", str(folder))
    kernel(add_one)(1)
    (path,) = folder.rglob(f"*.{ending}")
    whole = path.read_bytes()
    path.write_bytes(whole[:keep])  # as a power failure may leave it
    assert kernel(add_one)(1) == 2
    # Not equal: Numba numbers the functions of a process, and numbers grow longer.
    assert len(path.read_bytes()) >= len(whole)
    again = kernel(add_one)
    assert again(1) == 2
    assert again.stats.cache_hits


def test_what_another_version_of_isosne_stored_is_not_used(add_one, tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    kernel(add_one)(1)
    monkeypatch.setattr("isosne._numba.__version__", "another")
    other = kernel(add_one)
    assert other(1) == 2
    assert not other.stats.cache_hits
