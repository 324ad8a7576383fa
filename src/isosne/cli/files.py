"""The paths of a command, checked before the work begins.

An output must be writable, and neither an input nor another output, however it is spelled.
"""

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from isosne.errors import ParameterError, keyword

PIPE = "-"
"""Standard input or standard output."""
PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html", ".htm")
"""Endings of pictures and of pages."""

Paths = Mapping[str, str | Path | None]
"""Paths by the names of their parameters."""


def check_output(path: str | Path, endings: Iterable[str], *, force: bool) -> None:
    """Refuse an output that could not be written later: wrong ending, exists, no permission."""
    from isosne._files import check_writable

    endings = tuple(endings)
    if str(path) == PIPE and PIPE in endings:
        return
    if endings and Path(path).suffix.lower() not in endings:
        *others, last = (ending for ending in endings if ending != PIPE)
        known = f"{', '.join(others)} or {last}" if others else last
        raise ParameterError(
            "output", f"end in {known}", str(path), "The file type is chosen by the ending."
        )
    check_writable(Path(path), force=force)


def check_map_output(output: str, inputs: Paths, others: Paths, *, force: bool) -> None:
    """Refuse a map, or another output of the same run, that could not be written later.

    A CSV file has its provenance in a second file, which is checked too.
    """
    from isosne.rows.map_writer import SINKS, check_sidecar, sidecar_path

    check_distinct(inputs, {"output": output, **others})
    check_output(output, (*SINKS, PIPE), force=force)
    if Path(output).suffix.lower() == ".csv":
        check_distinct(inputs, {"output": sidecar_path(Path(output)), **others})
        check_sidecar(Path(output), force=force)


def check_one_stdout(output: str, *, as_json: bool) -> None:
    """Refuse a map and a JSON object on the same standard output."""
    if output == PIPE and as_json:
        raise ParameterError(
            "output",
            f"be a file if {keyword('json', True)} prints to standard output",
            PIPE,
            f"Write the map to a file, or leave out {keyword('json', True)}.",
        )


def check_one_stdin(**sources: str | None) -> None:
    """Refuse more than one source, by the name of its parameter, from standard input."""
    piped = [name for name, source in sources.items() if source == PIPE]
    if len(piped) > 1:
        raise ParameterError(
            piped[1],
            f"be a file if {keyword(piped[0])} is read from standard input",
            PIPE,
            "Save one of them to a file.",
        )


def check_distinct(inputs: Paths, outputs: Paths) -> None:
    """Refuse an output that is also an input or another output.

    Links to the same file count as this file.
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
    from isosne.rows.arrays import is_zarr

    with suppress(OSError, ValueError):  # names that no file can have are refused later
        folders = [path.parent, *path.parent.resolve().parents]
        if not source.is_dir() or not any(folder.samefile(source) for folder in folders):
            return False
        return is_zarr(source) or path.suffix.lower() == ".parquet"
    return False
