"""Compiled functions that a wheel ships: what is loaded, and what is compiled instead."""

import importlib.util
import json
import sys

import pytest
from numba import config
from numba.core.registry import cpu_target
from numba.core.serialize import dumps

from isosne import _packs
from isosne._numba import compilation, kernel
from isosne._packs import Pack, key_of

FEATURES = "+sse2"
SOURCE = "import numpy as np\ndef add_one(x):\n    return x + 1\n"


@pytest.fixture
def add_one(tmp_path, monkeypatch):
    """A function in a file of its own, and no cache."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "added.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("added", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "added", module)
    return module.add_one


@pytest.fixture
def pack(add_one, tmp_path, monkeypatch):
    """The file of a pack with this function for an integer; the cache is empty again."""
    compiled = kernel(add_one)
    compiled(1)
    ((signature, result),) = compiled.overloads.items()
    path = tmp_path / "a.pack"
    _packs.write(path, FEATURES, {key_of(add_one, signature): dumps(result._reduce())})
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "empty"))
    monkeypatch.setattr(_packs, "installed", lambda version: Pack(path))
    return path


def is_compiled(function, argument=1):
    """Call a new kernel of a function; return whether it was compiled, and not loaded."""
    compiled = kernel(function)
    assert compiled(argument) == argument + 1
    return not compiled.stats.cache_hits


def test_a_function_is_loaded_from_a_pack_and_not_compiled(add_one, pack):
    assert not is_compiled(add_one)
    assert is_compiled(add_one, 1.5)  # of another type


def test_the_cache_of_the_user_comes_first(add_one, pack):
    compilation.is_wanted = True
    try:
        assert is_compiled(add_one)
    finally:
        compilation.is_wanted = False
    pack.write_bytes(b"")
    assert not is_compiled(add_one)


def test_a_pack_is_used_where_no_cache_can_be_written(add_one, pack, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in place of a folder")
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(config, "CACHE_LOCATOR_CLASSES", "UserProvidedCacheLocator")
    assert not is_compiled(add_one)


@pytest.mark.parametrize("features", ["", "+avx2", "-sse2,+avx2"])
def test_a_cpu_without_the_features_of_a_pack_compiles(add_one, pack, monkeypatch, features):
    codegen = type(cpu_target.target_context.codegen())
    other = "triple", "cpu", features
    monkeypatch.setattr(codegen, "magic_tuple", lambda self: other)
    assert is_compiled(add_one)


def test_a_pack_of_other_sources_is_ignored(add_one, pack, monkeypatch):
    monkeypatch.setattr(_packs, "digest_of_sources", lambda: "of an edited file")
    assert is_compiled(add_one)


def test_a_function_with_other_bytecode_is_compiled(add_one, pack):
    names = {"__name__": "added"}
    exec(
        compile("\ndef add_one(x):\n    return 1 + x\n", add_one.__code__.co_filename, "exec"),
        names,
    )
    assert is_compiled(names["add_one"])


def test_code_with_bounds_checked_is_compiled(add_one, pack, monkeypatch):
    monkeypatch.setattr(config, "BOUNDSCHECK", 1)
    assert is_compiled(add_one)


def damaged(whole):
    """Yield what may be left of a pack."""
    first = whole.index(b"\n") + 1
    yield b""
    yield whole[: first // 2]
    yield whole[:first]
    yield whole[:-20]
    yield whole[:first] + bytes(len(whole) - first)
    yield b"[]\n" + whole[first:]
    about = json.loads(whole[:first])
    beyond = about | {"places": dict.fromkeys(about["places"], (10**9, 9))}
    yield json.dumps(beyond).encode() + b"\n" + whole[first:]
    del about["features"]
    yield json.dumps(about).encode() + b"\n" + whole[first:]


def test_a_damaged_pack_is_ignored(add_one, pack, tmp_path, monkeypatch):
    for number, content in enumerate(damaged(pack.read_bytes())):
        monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / f"cache {number}"))
        pack.write_bytes(content)
        assert is_compiled(add_one), number


def test_a_closure_is_in_no_pack():
    one = 1
    assert key_of(lambda x: x + one, "(int64,)") is None


def test_packs_are_those_of_the_package_alone():
    assert _packs.installed("9.9")._path.parent == _packs.PACKAGE / "packs"


def test_an_edit_of_any_source_file_changes_the_digest(tmp_path, monkeypatch):
    monkeypatch.setattr(_packs, "PACKAGE", tmp_path)
    (tmp_path / "inner").mkdir()
    path = tmp_path / "inner" / "loops.py"
    digests = set()
    for text in ("", "N = 1\n", "N = 2\n"):
        path.write_text(text)
        digests.add(_packs.digest_of_sources())
    path.rename(tmp_path / "loops.py")
    digests.add(_packs.digest_of_sources())
    assert len(digests) == 4


def test_a_run_tells_once_that_it_compiles(add_one, tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    told = []
    with compilation.told(told.append):
        kernel(add_one)(1)
        kernel(add_one)(1.5)
    with compilation.told(told.append):
        kernel(add_one)(1)  # stored
    (sentence,) = told
    advice = "To compile everything in advance, run isosne warm."
    assert sentence == f"Compiling, which takes some seconds, once. {advice}"
