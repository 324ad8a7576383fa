"""Packs: compiled functions that a wheel ships, so that a new installation need not compile.

A pack is a file in the folder ``packs`` of the package, for one version of Python and Numba and one
family of CPUs: a line of JSON, then a compressed pickle per function and types of its arguments.
`packaging/pack.py` writes it. A pack is code and has the trust of code: no other folder is searched
(docs/decisions/0025). It is ignored if any source file of the package has changed.
"""

import hashlib
import json
import pickle
import platform
import sys
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent
FOLDER = PACKAGE / "packs"
X86_64_V3 = (
    "+avx,+avx2,+bmi,+bmi2,+cmov,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,+sse,"
    "+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+xsave"
)
TARGETS = {
    **dict.fromkeys(("x86_64", "amd64"), ("x86-64-v3", X86_64_V3)),
    **dict.fromkeys(("aarch64", "arm64"), ("generic", "")),
}
"""By type of machine: the CPU that packs are compiled for, and the features that it must have. The
results do not depend on the CPU (docs/decisions/0010)."""
Key = tuple[str, str, int, str, str]
"""Module, name, line, types of the arguments and bytecode of a function."""


def file_name(numba_version: str) -> str:
    """Return the name of the pack of this interpreter."""
    python = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
    return f"{python}-numba-{numba_version}-{sys.platform}-{platform.machine().lower()}.pack"


def key_of(function: Callable[..., object], signature: object) -> Key | None:
    """Return what a function is found by; None if it has a closure, which no file tells."""
    code = function.__code__
    if function.__closure__ is not None:
        return None
    bytecode = hashlib.sha256(code.co_code).hexdigest()
    name = function.__qualname__
    return function.__module__, name, code.co_firstlineno, str(signature), bytecode


def digest_of_sources() -> str:
    """Return a digest of all source files: a function holds what it calls and global constants."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(PACKAGE).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def write(path: Path, features: str, functions: dict[Key, bytes]) -> None:
    """Write a pack of functions, given as pickles, that need some features of the CPU."""
    blobs = {json.dumps(key): zlib.compress(pickled, 9) for key, pickled in functions.items()}
    places, start = {}, 0
    for key, blob in blobs.items():
        places[key] = start, len(blob)
        start += len(blob)
    about = {"features": features, "sources": digest_of_sources(), "places": places}
    path.write_bytes(json.dumps(about).encode() + b"\n" + b"".join(blobs.values()))


class Pack:
    """The functions of a pack; those of a file that is damaged or of other sources are none."""

    def __init__(self, path: Path) -> None:
        self._path, self._features, self._places = path, "", {}
        try:
            with path.open("rb") as file:
                about = json.loads(file.readline())
                self._start = file.tell()
            if about["sources"] == digest_of_sources():
                self._features, self._places = about["features"], about["places"]
        except (OSError, ValueError, KeyError, TypeError):
            pass  # no pack, as in an installation from source

    def about(self, features: str) -> str:
        """Return what the pack has to offer to a CPU with these features."""
        if not self._places:
            return "none for these sources, Python and Numba"
        if missing := _split(self._features) - _split(features):
            return f"not used, as this CPU lacks {', '.join(sorted(missing))}"
        return f"{len(self._places)} functions"

    def load(self, key: Key | None, features: str) -> Any:
        """Return what was pickled, or None; features: those of this CPU, as Numba lists them.

        The file is opened for each function, as processes that were forked share their open files.
        """
        place = self._places.get(json.dumps(key))
        if place is None or not _split(self._features) <= _split(features):
            return None
        with self._path.open("rb") as file:
            file.seek(self._start + place[0])
            return pickle.loads(zlib.decompress(file.read(place[1])))  # which checks a sum


def _split(features: str) -> set[str]:
    return set(filter(None, features.split(",")))


@cache
def installed(numba_version: str) -> Pack:
    """Return the pack of this interpreter; the sources are read once."""
    return Pack(FOLDER / file_name(numba_version))
