"""Rows of an Arrow file, which is also what Feather writes.

A file is mapped anew for each record batch, so that pages do not stay in memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from isosne._extras import require
from isosne.errors import DataError
from isosne.sources.arrow import ArrowRows
from isosne.sources.columns import Wanted
from isosne.sources.watched import WatchedFiles

MAGIC = b"ARROW1"


class FeatherRows(ArrowRows):
    """Rows of an Arrow file; compressed batches are unpacked one at a time."""

    def __init__(self, path: Path, wanted: Wanted) -> None:
        require("pyarrow", "files", str(path))
        self._path = path
        watched = WatchedFiles(str(path), path)
        _check_magic(path)
        with watched.reading():
            with _opened(path, None) as reader:
                schema = reader.schema
            with _opened(path, [0]) as reader:  # one column says how many rows there are
                n_batches = reader.num_record_batches
                group_rows = [reader.get_batch(b).num_rows for b in range(n_batches)]
            self._schema = schema
            super().__init__(watched, schema, group_rows, wanted)

    def _batches(self, group: int, names: tuple[str, ...]) -> Iterator[Any]:
        places = sorted(self._schema.get_field_index(name) for name in names)
        with _opened(self._path, places) as reader:
            batch = reader.get_batch(group).select(list(names))
            for start in range(0, batch.num_rows, self._batch_rows):
                yield batch.slice(start, self._batch_rows)


@contextmanager
def _opened(path: Path, places: list[int] | None) -> Iterator[Any]:
    pa = require("pyarrow", "files", str(path))
    ipc = require("pyarrow.ipc", "files", str(path))
    options = ipc.IpcReadOptions(included_fields=places)
    with pa.memory_map(str(path)) as file, ipc.open_file(file, options=options) as reader:
        yield reader


def _check_magic(path: Path) -> None:
    with path.open("rb") as file:
        found = file.read(len(MAGIC))
    if found != MAGIC:
        raise DataError(
            f"{path} must be an Arrow file (Feather version 2); it does not begin as one. "
            "Write it again with pyarrow.feather.write_feather, or as Parquet."
        )


def open_feather(path: Path, wanted: Wanted) -> FeatherRows:
    """Return the rows of an Arrow file."""
    return FeatherRows(path, wanted)
