"""Write a map block by block; it takes its name when it is complete."""

import sys
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from isosne._checks import check_count
from isosne._files import AtomicFile, writing_to
from isosne._types import Array
from isosne.errors import DataError, ParameterError
from isosne.files.provenance import as_line
from isosne.files.sinks import AXES, SINKS, Block, CSVSink, Layout, Sink

STDOUT = "-"


class MapWriter:
    """Write the rows of a map in order, to a file or to standard output.

    Parameters
    ----------
    path : path or "-"
        Where the map goes; .parquet, .csv, .npz, .feather, .arrow, or .npy, which holds
        coordinates alone. "-" is standard output, as CSV.
    ids : array of int or str, or None
        What each row is called; None: its number.
    n_components : int
        Dimensions of the map, 1 to 3.
    provenance : dict
        How the map was made: text, numbers, lists and dictionaries.
    labels : array of int or str, or None, default=None
        Class of each row.
    force : bool, default=False
        Whether to replace a file of that name.

    Raises
    ------
    OutputError
        If the output exists, cannot be written, or the disk is full.

    Notes
    -----
    Blocks go to a temporary file in the same folder. It gets its name at `close`, after its
    content has reached the disk; an error or an interrupt inside ``with`` removes it. Memory:
    the blocks, not the map.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from isosne.files import MapWriter, read_map
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with MapWriter(f"{folder}/map.csv", ["a", "b"], 2, {"seed": 0}) as writer:
    ...         writer.write(np.array([[0.5, 1.0], [2.0, 3.0]]))
    ...     read_map(f"{folder}/map.csv").embedding.tolist()
    [[0.5, 1.0], [2.0, 3.0]]
    """

    def __init__(
        self,
        path: str | Path,
        ids: Any,
        n_components: int,
        provenance: Mapping[str, Any],
        *,
        labels: Any = None,
        force: bool = False,
    ) -> None:
        hint = "Maps have one, two or three dimensions."
        check_count(n_components, "n_components", low=1, high=3, hint=hint)
        self._ids = None if ids is None else _as_column(ids, "ids")
        self._labels = None if labels is None else _as_column(labels, "labels")
        given = [len(c) for c in (self._ids, self._labels) if c is not None]
        self._n_expected = given[0] if given else None
        if len(set(given)) > 1:
            raise ParameterError(
                "ids and labels must have a value for each row; "
                f"got {given[0]} ids and {given[1]} labels. Pass those of the same table."
            )
        self.n_rows = 0
        self._is_closed = False
        layout = Layout(AXES[:n_components], labels is not None, as_line(provenance))
        self._target: AtomicFile | None = None
        if str(path) == STDOUT:
            with writing_to("standard output"):
                self._sink: Sink = CSVSink(sys.stdout.buffer, layout)
            return
        make_sink = SINKS.get(Path(path).suffix.lower())
        if make_sink is None:
            raise ParameterError(
                f"A map must be a file that ends in one of {', '.join(SINKS)}, or '-'; "
                f"got {str(path)!r}. Choose one of these endings."
            )
        self._target = AtomicFile(Path(path), force=force)
        try:
            with writing_to(self._target.path):
                self._sink = make_sink(self._target.file, layout)
        except BaseException:
            self._target.discard()
            raise
        weakref.finalize(self, _discard, self._sink, self._target)

    def write(self, Y: Any) -> None:
        """Write the next rows.

        Parameters
        ----------
        Y : array of shape (n, n_components)
            Their coordinates, which are kept as float32.
        """
        Y = np.asarray(Y, dtype=np.float32)
        n_components = len(self._sink.layout.axes)
        if Y.ndim != 2 or Y.shape[1] != n_components:
            raise ParameterError(
                f"A block of the map must have {n_components} column(s); got shape {Y.shape}. "
                "Pass rows of coordinates."
            )
        if not np.isfinite(Y).all():
            raise DataError(
                f"Coordinates must be finite; rows {self.n_rows} to {self.n_rows + len(Y) - 1} "
                "hold others. Look at the points that these rows are of."
            )
        part = slice(self.n_rows, self.n_rows + len(Y))
        if self._n_expected is not None and part.stop > self._n_expected:
            raise self._wrong_count(part.stop)
        ids = np.arange(part.start, part.stop) if self._ids is None else self._ids[part]
        labels = None if self._labels is None else self._labels[part]
        with self._writing():
            self._sink.write(Block(ids, labels, Y))
        self.n_rows = part.stop

    def close(self) -> None:
        """Complete the map and give it its name; nothing happens the second time."""
        if self._is_closed:
            return
        if self.n_rows == 0 or self._n_expected not in (None, self.n_rows):
            self.discard()
            raise self._wrong_count(self.n_rows)
        with self._writing():
            self._sink.finish()
            if self._target is not None:
                self._target.commit()
        self._is_closed = True

    def discard(self) -> None:
        """Remove what was written so far."""
        _discard(self._sink, self._target)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with writing_to("standard output" if self._target is None else self._target.path):
                yield
        except BaseException:
            self.discard()
            raise

    def _wrong_count(self, n_rows: int) -> ParameterError:
        expected = "at least one row" if self._n_expected is None else f"{self._n_expected} rows"
        return ParameterError(
            f"The map must have {expected}, as there are ids or labels; got {n_rows}. "
            "Write each row once, in order."
        )


def _discard(sink: Sink, target: AtomicFile | None) -> None:
    sink.abandon()
    if target is not None:
        target.discard()


def _as_column(values: Any, name: str) -> Array:
    column = np.asarray(values)
    if column.ndim != 1 or column.dtype.kind not in "uiU":
        raise ParameterError(
            f"{name} must be a list of integers or of text; got {column.dtype} of shape "
            f"{column.shape}. Convert it with astype(int) or astype(str)."
        )
    return column
