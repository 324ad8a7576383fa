"""A table or a map from standard input, put into a file that goes when it is read."""

import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from isosne._extras import require
from isosne.errors import DataError
from isosne.sources import Rows
from isosne.sources.formats import Options, open_path

NAME = "standard input"
ARROW_STREAM = b"\xff\xff\xff\xff"
ARROW_FILE = b"ARROW1"
PARQUET = b"PAR1"


def open_piped(options: Options) -> Rows:
    """Write standard input to a temporary file and open it: text, Arrow, or Parquet."""
    folder = Path(tempfile.mkdtemp(prefix="isosne-"))
    try:
        rows = open_path(_keep(sys.stdin.buffer, folder), options)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(rows, shutil.rmtree, folder, ignore_errors=True)
    return rows


@contextmanager
def piped_file() -> Iterator[Path]:
    """Put standard input into a temporary file, which goes in the end."""
    with tempfile.TemporaryDirectory(prefix="isosne-") as folder:
        yield _keep(sys.stdin.buffer, Path(folder))


def _keep(stream: BinaryIO, folder: Path) -> Path:
    start = stream.read(len(ARROW_FILE))
    if not start:
        raise DataError(
            f"{NAME} must hold a table; it is empty. Pipe a CSV or an Arrow stream into it."
        )
    ending = ".csv"
    if start.startswith(ARROW_STREAM):
        ending = ".stream"
    elif start == ARROW_FILE:
        ending = ".arrow"
    elif start.startswith(PARQUET):
        ending = ".parquet"
    path = folder / f"stdin{ending}"
    with path.open("wb") as file:
        file.write(start)
        shutil.copyfileobj(stream, file)
    return _unroll(path) if ending == ".stream" else path


def _unroll(path: Path) -> Path:
    """Turn a stream of record batches into an Arrow file, one batch at a time."""
    ipc: Any = require("pyarrow.ipc", "files", NAME)
    pa: Any = require("pyarrow", "files", NAME)
    target = path.with_suffix(".arrow")
    try:
        with (
            path.open("rb") as file,
            ipc.open_stream(file) as batches,
            ipc.new_file(str(target), batches.schema) as writer,
        ):
            for batch in batches:
                writer.write_batch(batch)
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(
            f"{NAME} must be a complete Arrow stream; reading it failed with {error}. "
            "See that the program before the pipe ends well."
        ) from error
    path.unlink()
    return target
