"""The parts of a job: the tables of a folder and its subfolders, or one table, read in blocks."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isosne._extras import require
from isosne._files import describe_os_error
from isosne._types import Points
from isosne.errors import DataError, ParameterError
from isosne.rows import Rows, blocks, open_rows
from isosne.rows.arrow import ArrowRows
from isosne.rows.columns import check_column
from isosne.rows.rows import SourceFiles, find_not_finite, stat_path
from isosne.rows.text import COMPRESSED, is_text_file

ARROW = {".parquet": "parquet", ".feather": "feather", ".arrow": "feather"}
"""Formats whose columns have types, as pyarrow.dataset names them, by extension."""
NAMED = (*ARROW, ".csv")
"""Extensions of parts whose columns have names."""
PARTS = (*NAMED, ".npy")
"""Extensions of parts: formats that are both read and written."""
OTHER_TABLES = (".tsv", ".npz", ".h5ad", ".zarr")
"""Extensions of tables that would be left out silently if they were not refused."""
HIDDEN = (".", "_")
"""First characters of names that are no data, as for Spark and Arrow: _SUCCESS, .part-0.crc."""
BLOCK_BYTES = 2**26
"""Approximate size of a block of rows: 64 MB, as in `TSNE.place`."""


class Part(NamedTuple):
    """A table of the input; `name` is relative to the input, with slashes, as that of its result.

    The files know whether the table has changed since it was listed.
    """

    name: str
    files: SourceFiles

    @property
    def path(self) -> Path:
        """The file."""
        return self.files.paths[0]

    @property
    def extension(self) -> str:
        """The extension of the part and of its result."""
        return self.path.suffix.lower()


def list_parts(source: Path) -> list[Part]:
    """Return the parts of a file or a folder, sorted by name."""
    if not source.is_dir():
        stat_path(source)
        _check_extension(source)
        return [Part(source.name, SourceFiles(str(source), source))]
    paths = sorted(_list_files(source))
    if not paths:
        raise DataError(
            f"The input must contain files that end in one of {', '.join(PARTS)}; {source} has "
            "none. Name the folder that contains them."
        )
    return [Part(p.relative_to(source).as_posix(), SourceFiles(str(p), p)) for p in paths]


def _list_files(source: Path) -> Iterator[Path]:
    """Yield the tables of a folder and its subfolders; what cannot be read is an error."""
    for folder, subfolders, names in os.walk(source, onerror=_refuse_folder, followlinks=True):
        subfolders[:] = [name for name in subfolders if not name.startswith(HIDDEN)]
        for path in (Path(folder, name) for name in (*names, *subfolders)):
            if path.name.startswith(HIDDEN):
                continue
            stat_path(path)  # a link to nowhere, or to a folder above it, is an error
            is_packed = path.suffix.lower() in COMPRESSED and is_text_file(path)
            if is_packed or path.suffix.lower() in OTHER_TABLES:  # also folders: .zarr
                _check_extension(path)
            if path.suffix.lower() in PARTS and path.name in names:
                yield path


def _refuse_folder(error: OSError) -> None:
    raise DataError(
        f"Cannot read {error.filename}: {describe_os_error(error)}. Change its permissions."
    ) from error


def _check_extension(path: Path) -> None:
    if path.suffix.lower() not in PARTS:
        rule = f"be a folder of files that end in one of {', '.join(PARTS)}, or one such file"
        raise ParameterError("source", rule, str(path), "Convert the file, or use TSNE.place.")


class Block(NamedTuple):
    """Consecutive rows without missing values: features, other columns, and how many were dropped.

    Columns are arrays of NumPy, or of Arrow if the file has types.
    """

    X: Points
    columns: tuple[Any, ...]
    n_dropped: int


class PartReader(NamedTuple):
    """Reads parts.

    ``features`` are the names of the features; None: all columns except for those of ``keep``.
    ``missing`` is the treatment of rows with missing values: "refuse" or "drop".
    """

    features: tuple[str, ...] | None
    keep: tuple[str, ...] = ()
    missing: str = "refuse"

    def blocks(self, part: Part) -> Iterator[Block]:
        """Yield the rows of a part in order; at least one block, which may be empty."""
        if part.extension in ARROW and (empty := _empty_table(part)) is not None:
            yield Block(np.empty((0, 0)), tuple(empty[name] for name in self.keep), 0)
            return
        rows, first = self._open(part), 0
        is_typed = part.extension in ARROW and isinstance(rows, ArrowRows)
        for X, columns in self._read_batches(rows) if is_typed else self._read_blocks(rows):
            before, first = first, first + X.shape[0]
            incomplete = np.unique(find_not_finite(X)[0])
            if len(incomplete) and self.missing == "refuse":
                rows._check_finite(X, range(before, first))  # an error that tells where
            if len(incomplete):
                kept = np.delete(np.arange(X.shape[0]), incomplete)
                X, columns = X[kept], tuple(column.take(kept) for column in columns)
            yield Block(X, columns, len(incomplete))
        part.files.check_unchanged()

    def _open(self, part: Part) -> Rows:
        """Open the features of a part, by their names at fit if possible."""
        by_name = self.features is not None and part.extension in NAMED
        features = list(self.features or ()) if by_name else None
        others = [name for name in self.keep if name not in (features or ())]
        try:
            rows = open_rows(part.path, columns=features, exclude=others)
        except ParameterError as error:
            name = error.value[0] if isinstance(error.value, list) else error.value
            if error.parameter == "columns":
                raise DataError(
                    f"Every part must have all columns of the model; {part.path} has no {name!r}. "
                    f"{error.hint}"
                ) from None
            if error.parameter == "exclude":
                rule = f"name a column of {part.path}"
                raise ParameterError("keep", rule, name, error.hint) from None
            raise
        for name in self.keep:
            check_column(name, [*(rows.column_names or ()), *rows.side], "keep", str(part.path))
        return rows

    def _read_blocks(self, rows: Rows) -> Iterator[tuple[Points, tuple[Any, ...]]]:
        """Yield features, which may have missing values, and columns."""
        names = rows.column_names or ()
        side = {name: rows.side[name]() for name in self.keep if name in rows.side}
        for block in blocks(rows, BLOCK_BYTES):
            X = rows.take(np.arange(block.start, block.stop), allow_missing=True)
            columns = (
                side[name][block] if name in side else X[:, names.index(name)] for name in self.keep
            )
            yield X, tuple(columns)

    def _read_batches(self, rows: Any) -> Iterator[tuple[Points, tuple[Any, ...]]]:
        """Yield features and columns of batches, which are decoded once."""
        names = tuple(dict.fromkeys((*rows.column_names, *self.keep)))
        size = max(1, BLOCK_BYTES // rows.row_bytes)
        for batch in rows.batches(names):
            for start in range(0, batch.num_rows, size):
                block = batch.slice(start, size)
                X = open_rows(block, columns=rows.column_names)
                columns = tuple(block[name] for name in self.keep)
                yield X.take(np.arange(block.num_rows), allow_missing=True), columns


def _empty_table(part: Part) -> Any:
    """Return the table of a part that has no rows, which cannot be opened as rows; else None."""
    dataset = require("pyarrow.dataset", "files", f"Reading {part.path}")
    with part.files.reading():
        file = dataset.dataset(part.path, format=ARROW[part.extension])
        return None if file.count_rows() else file.schema.empty_table()
