"""The parts of a job: the tables of a folder and its subfolders, one table, or rows by name."""

import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from isosne._files import describe_os_error
from isosne.errors import DataError, ParameterError
from isosne.rows.rows import Rows, stat_path

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
    source: Path | Rows
    stamp: dict[str, Any]
    """From which a change of the part is noticed."""

    @property
    def extension(self) -> str:
        """The extension of the part and of its result."""
        return PurePosixPath(self.name).suffix.lower()

    def check_unchanged(self) -> None:
        """Raise an error if the file has changed since it was listed."""
        if isinstance(self.source, Path) and _stamp(self.source) != self.stamp:
            raise DataError(
                f"{self} must not change while it is read; it was written again. "
                "Wait until the file is complete, then start again."
            )

    def __str__(self) -> str:
        return str(self.source) if isinstance(self.source, Path) else repr(self.name)


def list_parts(source: Path | Mapping[str, Any]) -> list[Part]:
    """Return the parts of a file, a folder or a dict of rows, sorted by name."""
    if isinstance(source, Mapping):
        return _list_rows(source)
    if not source.is_dir():
        stat_path(source)
        _check_extension(source)
        return [Part(source.name, source, _stamp(source))]
    paths = sorted(_list_files(source, set()))
    if not paths:
        raise DataError(
            f"The input must contain files that end in one of {', '.join(PARTS)}; {source} has "
            "none. Name the folder that contains them."
        )
    return [Part(path.relative_to(source).as_posix(), path, _stamp(path)) for path in paths]


def _list_files(folder: Path, entered: set[Path]) -> Iterator[Path]:
    """Yield the tables of a folder and its subfolders; what cannot be read is an error.

    Links to folders are followed. `entered` has the folders so far, without links: a folder that is
    entered twice would be placed twice, or without end.
    """
    real = folder.resolve()
    if real in entered:
        raise DataError(
            f"Each folder must be in the input once; {folder} is {real}, which is in the input "
            "under another name. Remove the link, or begin its name with '_' to leave it out."
        )
    entered.add(real)
    for path in _list_entries(folder):
        mode = stat_path(path).st_mode
        if path.suffix.lower() in OTHER_TABLES:
            _check_extension(path)
        if stat.S_ISDIR(mode):
            yield from _list_files(path, entered)
        elif not stat.S_ISREG(mode):
            raise DataError(
                f"The input must contain regular files; {path} is a pipe or a device. "
                "Remove it, or begin its name with '_' to leave it out."
            )
        elif path.suffix.lower() in PARTS:
            yield path


def _list_entries(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if not path.name.startswith(HIDDEN)]
    except OSError as error:
        raise DataError(
            f"Cannot read {folder}: {describe_os_error(error)}. Change its permissions."
        ) from error


def _stamp(path: Path) -> dict[str, Any]:
    status = stat_path(path)
    return {"n_bytes": status.st_size, "modified_ns": status.st_mtime_ns}


def _list_rows(source: Mapping[str, Any]) -> list[Part]:
    parts = []
    for name in sorted(source):
        rows, path = source[name], PurePosixPath(name)
        is_inside = not path.is_absolute() and not any(n.startswith(HIDDEN) for n in path.parts)
        if not (isinstance(rows, Rows) and is_inside and path.suffix.lower() in PARTS):
            raise ParameterError(
                "source",
                "have results of isosne.rows.open_rows as values, by the names of output files "
                f"that end in one of {', '.join(PARTS)}",
                {name: rows},
                "Write for example {'part-0.parquet': open_rows(X)}.",
            )
        parts.append(Part(path.as_posix(), rows, {"fingerprint": rows.fingerprint()}))
    if not parts:
        raise DataError("The input must have at least one part; got none. Pass rows by name.")
    return parts


def _check_extension(path: Path) -> None:
    if path.suffix.lower() not in PARTS:
        raise ParameterError(
            "source",
            f"be a folder of files that end in one of {', '.join(PARTS)}, or one such file",
            str(path),
            "Convert the file, or use TSNE.place.",
        )
