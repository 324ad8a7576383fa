"""The paths of a command: no output may be an input or another output, however it is spelled."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from isosne.errors import ParameterError, keyword

PIPE = "-"
"""Standard input or standard output."""


def check_distinct(
    inputs: Mapping[str, str | Path | None], outputs: Mapping[str, str | Path | None]
) -> None:
    """Refuse an output that is also an input or another output, before the work begins.

    Both map names of parameters to paths. Links to the same file count as this file.
    """
    read = {name: str(path) for name, path in inputs.items() if path is not None}
    written = {name: str(path) for name, path in outputs.items() if path is not None}
    for position, (name, path) in enumerate(written.items()):
        for other, source in read.items():
            if _is_same(_stat(source, sys.stdin), _stat(path, sys.stdout)):
                raise _refuse(name, path, other, source)
            if _is_part(Path(path), Path(source)):
                rule = f"be outside {keyword(other, source)}, whose files are read"
                raise ParameterError(name, rule, path, "Choose another folder.")
        for other, target in list(written.items())[:position]:
            if PIPE not in (path, target) and _will_be_same(Path(path), Path(target)):
                raise _refuse(name, path, other, target)


def _refuse(name: str, path: str, other: str, target: str) -> ParameterError:
    rule = f"be another file than {keyword(other, target)}"
    return ParameterError(name, rule, path, "Choose another name.")


def _stat(path: str, pipe: object) -> os.stat_result | None:
    """Return what identifies a file, or the file that a pipe is redirected to; None if absent."""
    with suppress(OSError, ValueError, AttributeError):
        return os.fstat(pipe.fileno()) if path == PIPE else Path(path).stat()  # type: ignore[attr-defined]  # suppressed
    return None


def _is_same(one: os.stat_result | None, other: os.stat_result | None) -> bool:
    return one is not None and other is not None and os.path.samestat(one, other)


def _will_be_same(path: Path, other: Path) -> bool:
    """Return whether two outputs, which need not exist yet, would be one file."""
    if _is_same(_stat(str(path), None), _stat(str(other), None)):
        return True
    # Some file systems ignore the case of names; no one means two files that differ only in it.
    has_same_name = path.name.casefold() == other.name.casefold()
    folders = (_stat(str(part.parent), None) for part in (path, other))
    return has_same_name and _is_same(*folders)


def _is_part(path: Path, source: Path) -> bool:
    """Return whether an output would be among the files of a folder that is read."""
    from isosne.sources.chunked import is_zarr

    with suppress(OSError, ValueError):  # names that no file can have are refused later
        folders = [path.parent, *path.parent.resolve().parents]
        if not source.is_dir() or not any(folder.samefile(source) for folder in folders):
            return False
        return is_zarr(source) or path.suffix.lower() == ".parquet"
    return False
