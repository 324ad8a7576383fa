"""Read a table or a map from standard input, by way of a temporary file."""

import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from isosne._extras import require
from isosne._files import DISK_FULL, writing_to
from isosne.errors import DataError
from isosne.rows.formats import OpenOptions, open_path
from isosne.rows.rows import Rows
from isosne.rows.source_files import first_line

# First bytes of the formats, from the specifications of Arrow ("Encapsulated message format" and
# "IPC File Format") and of Parquet.
ARROW_STREAM = b"\xff\xff\xff\xff"
ARROW_FILE = b"ARROW1"
PARQUET = b"PAR1"


def open_piped(options: OpenOptions) -> Rows:
    """Open standard input: text, Arrow or Parquet.

    The temporary file is removed when the rows are no longer in use.
    """
    with writing_to("a temporary file"):
        folder = Path(tempfile.mkdtemp(prefix="isosne-"))
    try:
        rows = open_path(_save_stream(_stdin(), folder), options)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(rows, shutil.rmtree, folder, ignore_errors=True)
    return rows


@contextmanager
def piped_file() -> Iterator[Path]:
    """Save standard input to a temporary file, which is removed at the end of the block."""
    with tempfile.TemporaryDirectory(prefix="isosne-") as folder:
        yield _save_stream(_stdin(), Path(folder))


def _stdin() -> BinaryIO:
    if sys.stdin is None:
        raise DataError("Cannot read standard input: it is closed. Pipe a table into it.")
    return sys.stdin.buffer


def _save_stream(stream: BinaryIO, folder: Path) -> Path:
    """Write a stream to a file with the extension of its format."""
    with writing_to(folder):
        return _save_to(stream, folder)


def _save_to(stream: BinaryIO, folder: Path) -> Path:
    start = stream.read(len(ARROW_FILE))
    if not start:
        raise DataError(
            "Cannot read standard input: it is empty. "
            "Pipe a table in CSV, Arrow or Parquet into it."
        )
    extension = ".csv"
    if start.startswith(ARROW_STREAM):
        extension = ".stream"
    elif start == ARROW_FILE:
        extension = ".arrow"
    elif start.startswith(PARQUET):
        extension = ".parquet"
    path = folder / f"stdin{extension}"
    with path.open("wb") as file:
        file.write(start)
        shutil.copyfileobj(stream, file)
    return _convert_stream(path) if extension == ".stream" else path


def _convert_stream(path: Path) -> Path:
    """Convert an Arrow stream to an Arrow file, one record batch at a time."""
    ipc: Any = require("pyarrow.ipc", "files", "Reading an Arrow stream")
    target = path.with_suffix(".arrow")
    try:
        with (
            path.open("rb") as file,
            ipc.open_stream(file) as batches,
            ipc.new_file(str(target), batches.schema) as writer,
        ):
            for batch in batches:
                batch.validate(full=True)
                writer.write_batch(batch)
    except Exception as error:  # pyarrow raises almost anything for damaged streams
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            raise
        raise DataError(
            "Cannot read standard input: the Arrow stream is damaged or incomplete "
            f"({first_line(error)}). "
            "Check that the program that writes to the pipe ends without an error."
        ) from error
    path.unlink()
    return target
