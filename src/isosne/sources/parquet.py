"""Rows of a Parquet file, or of a folder of Parquet files."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from isosne._extras import require
from isosne.errors import DataError
from isosne.sources.arrow import ArrowRows
from isosne.sources.column_selection import ColumnRequest
from isosne.sources.source_files import SourceFiles

BUFFER_BYTES = 262_144
"""Bytes of a column that are read at a time, so that a large row group is not in memory at once.
Chosen, not measured."""


class ParquetRows(ArrowRows):
    """Rows of Parquet files with the same columns, one file after the other."""

    def __init__(self, name: str, paths: list[Path], request: ColumnRequest) -> None:
        self._parquet = require("pyarrow.parquet", "files", f"Reading {name}")
        files = SourceFiles(name, *paths)
        self._groups: list[tuple[Path, int]] = []
        group_rows: list[int] = []
        schema = None
        with files.reading():
            for path in paths:
                with self._parquet.ParquetFile(path) as file:
                    schema = schema or file.schema_arrow
                    _check_schema(schema, file.schema_arrow, paths[0], path)
                    for g in range(file.num_row_groups):
                        self._groups.append((path, g))
                        group_rows.append(file.metadata.row_group(g).num_rows)
            super().__init__(files, schema, group_rows, request)
        self._open_path: Path | None = None
        self._open_file: Any = None

    def _batches(self, group: int, names: tuple[str, ...]) -> Iterator[Any]:
        path, number = self._groups[group]
        if path != self._open_path:
            self._open_file = self._parquet.ParquetFile(
                path, buffer_size=BUFFER_BYTES, pre_buffer=False
            )
            self._open_path = path
        batch_rows = self._batch_rows * max(1, self.shape[1]) // len(names)
        batches = self._open_file.iter_batches(batch_rows, row_groups=[number], columns=list(names))
        for batch in batches:
            yield batch.select(list(names))


def open_parquet(path: Path, request: ColumnRequest) -> ParquetRows:
    """Return the rows of a file, or of all files of a folder and its subfolders, sorted by name.

    Numbers in names are compared as numbers: part.2 comes before part.10. Names that start with
    "." or "_" are no data, as for Spark and Arrow.
    """
    paths = [path]
    if path.is_dir():
        names = [p.relative_to(path) for p in path.rglob("*.parquet") if not p.is_dir()]
        found = [n for n in names if not any(part.startswith((".", "_")) for part in n.parts)]
        paths = [path / name for name in sorted(found, key=_natural_key)]
        if not paths:
            raise DataError(
                f"A folder must contain files that end in .parquet; {path} has none. "
                "Name the folder that contains them."
            )
    return ParquetRows(str(path), paths, request)


def _natural_key(path: Path) -> list[Any]:
    parts = re.split(r"(\d+)", path.as_posix())
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def _check_schema(schema: Any, other: Any, first: Path, path: Path) -> None:
    if schema.equals(other, check_metadata=False):
        return
    before = dict(zip(schema.names, schema.types, strict=True))
    now = dict(zip(other.names, other.types, strict=True))
    names = [*before, *now]
    name = next((n for n in names if before.get(n) != now.get(n)), names[0])
    raise DataError(
        "All files of a folder must have the same columns in the same order; "
        f"column {name!r} is {now.get(name, 'absent')} in {path.name} and "
        f"{before.get(name, 'absent')} in {first.name}. Write the files again with one schema."
    )
