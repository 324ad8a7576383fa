"""Write the result of a part: kept columns, then coordinates, in the format of the part."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from isosne._files import HASHED_BYTES, AtomicFile, writing_to
from isosne._types import Array
from isosne.errors import DataError
from isosne.files.sinks import SINKS, Block, CSVSink, Layout
from isosne.jobs.part_columns import Columns
from isosne.jobs.parts import Result


class ExactCSVSink(CSVSink):
    """A CSV file whose kept columns are exactly those of the part, also if they are formulas."""

    def as_text(self, column: Array) -> Array:
        """Return a kept column unchanged."""
        return column


class PartWriter:
    """Writes a result, which appears under its name when it is complete."""

    def __init__(self, path: Path, layout: Layout) -> None:
        with writing_to(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        self._target = AtomicFile(path, force=True)
        extension = path.suffix.lower()
        make_sink = ExactCSVSink if extension == ".csv" else SINKS[extension]
        try:
            with writing_to(path):
                self._sink = make_sink(self._target.file, layout)
        except BaseException:
            self._target.discard()
            raise
        self._n_rows = 0

    def write(self, kept: Columns, Y: Array) -> None:
        """Write the next rows."""
        if not np.isfinite(Y).all():
            raise DataError(
                f"Coordinates must be finite; those of {self._target.path.name} are not. "
                "Check the values of this part for extremes."
            )
        with writing_to(self._target.path):
            self._sink.write(Block(kept, Y))
        self._n_rows += len(Y)

    def finish(self, notes: dict[str, Any]) -> Result:
        """Complete the file and rename it."""
        file, digest = self._target.file, sha256()
        with writing_to(self._target.path):
            self._sink.finish()
            file.flush()
            file.seek(0)
            while block := file.read(HASHED_BYTES):
                digest.update(block)
            n_bytes = file.tell()
            self._target.commit()
        return Result(self._n_rows, n_bytes, digest.hexdigest(), notes)

    def discard(self) -> None:
        """Remove an incomplete file; do nothing after `finish`."""
        self._sink.abandon()
        self._target.discard()
