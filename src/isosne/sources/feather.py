"""Rows of an Arrow file, which is also the format of Feather version 2.

The file is mapped for one record batch at a time, so that its pages do not stay in memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from isosne._extras import require
from isosne.errors import DataError
from isosne.sources.arrow import ArrowRows
from isosne.sources.column_selection import ColumnRequest
from isosne.sources.source_files import SourceFiles

MAGIC = b"ARROW1"
"""First bytes of an Arrow file (Arrow columnar format, "IPC File Format")."""


class FeatherRows(ArrowRows):
    """Rows of an Arrow file; compressed batches are decompressed one at a time."""

    def __init__(self, path: Path, request: ColumnRequest) -> None:
        require("pyarrow", "files", f"Reading {path}")
        self._path = path
        files = SourceFiles(str(path), path)
        with files.reading():
            _check_magic(path)
            with _open_file(path, None) as reader:
                schema = reader.schema
            with _open_file(path, [0]) as reader:  # one column is enough to count the rows
                n_batches = reader.num_record_batches
                batches = (reader.get_batch(b) for b in range(n_batches))
                group_rows = [_count_rows(batch) for batch in batches]
            self._schema = schema
            super().__init__(files, schema, group_rows, request)

    def _batches(self, group: int, names: tuple[str, ...]) -> Iterator[Any]:
        columns = sorted(self._schema.get_field_index(name) for name in names)
        with _open_file(self._path, columns) as reader:
            batch = reader.get_batch(group).select(list(names))
            for start in range(0, batch.num_rows, self._batch_rows):
                yield batch.slice(start, self._batch_rows)


def _count_rows(batch: Any) -> int:
    batch.validate(full=True)
    return int(batch.num_rows)


@contextmanager
def _open_file(path: Path, columns: list[int] | None) -> Iterator[Any]:
    pa = require("pyarrow", "files", f"Reading {path}")
    ipc = require("pyarrow.ipc", "files", f"Reading {path}")
    options = ipc.IpcReadOptions(included_fields=columns)
    with pa.memory_map(str(path)) as file, ipc.open_file(file, options=options) as reader:
        yield reader


def _check_magic(path: Path) -> None:
    with path.open("rb") as file:
        found = file.read(len(MAGIC))
    if found != MAGIC:
        raise DataError(
            f"{path} must be an Arrow file (Feather version 2); its first bytes are not {MAGIC!r}. "
            "Write it again with pyarrow.feather.write_feather, or as Parquet."
        )
