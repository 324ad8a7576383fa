"""The parts of an input: the tables of a folder and its subfolders, one table, or rows by name."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from isosne.errors import DataError, ParameterError
from isosne.sources.row_source import RowSource
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
    source: Path | RowSource
    stamp: dict[str, Any]
    """From which a change of the part is noticed."""

    @property
    def extension(self) -> str:
        """The extension of the part and of its result."""
        return PurePosixPath(self.name).suffix.lower()

    def __str__(self) -> str:
        return str(self.source) if isinstance(self.source, Path) else repr(self.name)


class Result(NamedTuple):
    """A finished file, and what else its record tells."""

    n_rows: int
    n_bytes: int
    sha256: str
    notes: dict[str, Any] = {}  # noqa: RUF012  never changed


def list_parts(source: Path | Mapping[str, Any]) -> list[Part]:
    """Return the parts of a file, a folder or a dict of rows, sorted by name."""
    if isinstance(source, Mapping):
        return _list_rows(source)
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
    return Part(path.relative_to(folder).as_posix(), path, stamp._asdict())


def _list_rows(source: Mapping[str, Any]) -> list[Part]:
    found = []
    for name in sorted(source):
        rows, path = source[name], PurePosixPath(name)
        is_inside = not path.is_absolute() and not any(n.startswith(HIDDEN) for n in path.parts)
        if not (isinstance(rows, RowSource) and is_inside and path.suffix.lower() in PARTS):
            raise ParameterError(
                "source",
                "have results of isosne.sources.open_rows or MixtureRows as values, by the names "
                f"of output files that end in one of {', '.join(PARTS)}",
                {name: rows},
                "Write for example {'part-0.parquet': open_rows(X)}.",
            )
        found.append(Part(path.as_posix(), rows, {"fingerprint": rows.fingerprint()}))
    if not found:
        raise DataError("The input must have at least one part; got none. Pass rows by name.")
    return found


def _check_extension(path: Path) -> None:
    if path.suffix.lower() not in PARTS:
        raise ParameterError(
            "source",
            f"be a folder of files that end in one of {', '.join(PARTS)}, or one such file",
            str(path),
            "Convert the file, or use TSNE.place.",
        )
