"""Compile the loops for a family of CPUs and write them to a pack, which `make wheel` ships.

python packaging/pack.py FOLDER

Runs `isosne warm` twice, with an empty cache: the first run compiles for the CPU that
isosne._packs.TARGETS names, the second records what it loads. These are the functions that Python
calls; what they call is part of them. Packs of other sources are removed from the folder, those of
other versions of Python and Numba stay.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

RECORD = "--record"


def record(path: Path) -> None:
    """Run `isosne warm` from a full cache, and write what it loads to a pack."""
    import numba
    from numba.core.caching import Cache
    from numba.core.serialize import dumps

    from isosne import _packs
    from isosne.cli.app import app

    functions: dict[Any, bytes] = {}
    load = Cache._load_overload

    def load_and_record(cache: Any, signature: Any, context: Any) -> Any:
        key = _packs.key_of(cache._py_func, signature)
        stored = cache._cache_file.load(cache._index_key(signature, context.codegen()))
        assert stored is not None, f"{key} was not compiled by the first run"
        if key is not None:
            functions[key] = dumps(stored)
        return load(cache, signature, context)

    Cache._load_overload = load_and_record
    app(["warm"], standalone_mode=False)
    path.mkdir(parents=True, exist_ok=True)
    for other in path.glob("*.pack"):
        with other.open("rb") as file:
            if json.loads(file.readline())["sources"] != _packs.digest_of_sources():
                other.unlink()
    name = _packs.file_name(numba.__version__)
    part = path / f"{name}.part"  # another Python may be at work in the folder
    _packs.write(part, os.environ["NUMBA_CPU_FEATURES"], functions)
    part.replace(path / name)
    print(f"{path / name}: {len(functions)} functions, {(path / name).stat().st_size / 1e6:.1f} MB")


def main(folder: str) -> None:
    """Make the pack of this interpreter."""
    from isosne._packs import TARGETS

    cpu, features = TARGETS[platform.machine().lower()]
    with tempfile.TemporaryDirectory() as cache:
        settings = {"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": features}
        settings |= {"NUMBA_CACHE_DIR": cache, "NUMBA_NUM_THREADS": "2"}
        for command in (["-m", "isosne", "warm"], [__file__, RECORD, folder]):
            subprocess.run([sys.executable, *command], env=os.environ | settings, check=True)


if __name__ == "__main__":
    record(Path(sys.argv[2])) if sys.argv[1] == RECORD else main(sys.argv[1])
