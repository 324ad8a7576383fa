"""The parts of an input: the tables of a folder and of its subfolders, or a single table."""

from pathlib import Path
from typing import NamedTuple

from isosne.errors import DataError, ParameterError
from isosne.sources.source_files import Stamp, stat_path

NAMED = (".parquet", ".feather", ".arrow", ".csv")
"""Extensions of parts whose columns have names."""
PARTS = (*NAMED, ".npy")
"""Extensions of parts: formats that are both read and written."""
OTHER_TABLES = (".tsv", ".npz", ".h5ad", ".zarr")
"""Extensions of tables that would be left out silently if they were not refused."""
HIDDEN = (".", "_")
"""First characters of names that are no data, as for Spark and Arrow: _SUCCESS, .part-0.crc."""


class Part(NamedTuple):
    """A table of the input."""

    name: str
    """Path relative to the input, with slashes; that of the result relative to the output."""
    path: Path
    stamp: Stamp


def list_parts(source: Path) -> list[Part]:
    """Return the parts of a file or folder, sorted by name."""
    if not source.is_dir():
        stat_path(source)
        _check_extension(source)
        return [_part(source, source.parent)]
    found = []
    for path in sorted(source.rglob("*")):
        names = path.relative_to(source).parts
        if any(name.startswith(HIDDEN) for name in names):
            continue
        if path.suffix.lower() in OTHER_TABLES:
            _check_extension(path)
        if path.suffix.lower() in PARTS and path.is_file():
            found.append(_part(path, source))
    if not found:
        raise DataError(
            f"The input must contain files that end in one of {', '.join(PARTS)}; {source} has "
            "none. Name the folder that contains them."
        )
    return found


def _part(path: Path, folder: Path) -> Part:
    status = stat_path(path)
    stamp = Stamp(status.st_size, status.st_mtime_ns)
    return Part(path.relative_to(folder).as_posix(), path, stamp)


def _check_extension(path: Path) -> None:
    if path.suffix.lower() not in PARTS:
        raise ParameterError(
            "source",
            f"be a folder of files that end in one of {', '.join(PARTS)}, or one such file",
            str(path),
            "Convert the file, or use TSNE.place.",
        )
