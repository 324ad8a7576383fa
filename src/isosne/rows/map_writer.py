"""Write a map in blocks to a file that appears under its name only when it is complete."""

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
from isosne.rows.columns import is_text
from isosne.rows.maps import COLUMNS
from isosne.rows.provenance import KEY, Sidecar, encode_provenance
from isosne.rows.sinks import AXES, SINKS, Block, CSVSink, Layout, Sink

STDOUT = "-"
RESERVED = ("id", "ids", "label", "labels", "embedding", KEY, *AXES)
"""Names of columns and arrays that every map may have."""


class MapWriter:
    """Write the rows of a map in order, to a file or to standard output.

    Parameters
    ----------
    path : path or "-"
        File to write, which ends in .parquet, .csv, .npz, .feather, .arrow, .h5ad, or in .npy for
        coordinates without ids, labels and provenance. "-" writes CSV to standard output, without
        provenance.
    ids : array of int or str, shape (n_samples,), or None
        Unique identifier of each row. None uses the index of the row.
    n_components : int
        Number of dimensions of the map, from 1 to 3.
    provenance : dict
        How the map was made: strings, numbers, lists and dictionaries.
    labels : array of int or str, shape (n_samples,), or None, default=None
        Class of each row.
    columns : mapping from str to array, or None, default=None
        Further columns of finite numbers, one value per row, such as clusters. An .npy file leaves
        them out.
    obs : pandas.DataFrame or None, default=None
        Columns about the rows, which an .h5ad file keeps; other formats leave them out.
    force : bool, default=False
        Whether to replace an existing file.

    Raises
    ------
    OutputError
        If the file exists, cannot be written, or the disk is full.
    ParameterError
        If a parameter is not valid.

    Notes
    -----
    Blocks are written to a temporary file in the same folder, which is renamed by `close` once its
    content is on the disk. An error or an interrupt inside ``with`` removes it. Only blocks are
    kept in memory, not the map.

    A CSV file is a plain table; its provenance is in a second file, ``map.csv.json``. Ids and
    labels that a spreadsheet would take for formulas, such as ``=A1``, get an apostrophe in front,
    which `read_map` removes.

    An .h5ad file has the map in ``obsm["X_isosne"]``, and the ids as the index of obs. Its columns
    are those of ``obs``, or the labels. It is written as a whole, from memory.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from isosne.rows import MapWriter, read_map
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
        columns: Mapping[str, Any] | None = None,
        obs: Any = None,
        force: bool = False,
    ) -> None:
        hint = "A map has one, two or three dimensions."
        check_count(n_components, "n_components", low=1, high=3, hint=hint)
        self._ids = None if ids is None else _check_column(ids, "ids")
        self._labels = None if labels is None else _check_column(labels, "labels")
        trailing = {name: _check_numbers(v, name) for name, v in (columns or {}).items()}
        self._trailing = tuple(trailing.values())
        lengths = [len(c) for c in (self._ids, self._labels) if c is not None]
        self._n_expected = lengths[0] if lengths else None
        if len(set(lengths)) > 1:
            raise ParameterError(
                "labels",
                f"have one value per id; got {lengths[1]} labels and {lengths[0]} ids",
                hint="Pass the ids and the labels of the same table.",
            )
        for name, column in trailing.items():
            self._n_expected = len(column) if self._n_expected is None else self._n_expected
            if len(column) != self._n_expected:
                rule = f"have {self._n_expected} values, one per row; got {len(column)} in {name!r}"
                raise ParameterError("columns", rule, hint="Pass columns of the same table.")
        self.n_rows = 0
        self._is_closed = False
        leading = ("id",) if labels is None else ("id", "label")
        if trailing:
            provenance = {**provenance, COLUMNS: list(trailing)}
        line = encode_provenance(provenance)
        layout = Layout(leading, AXES[:n_components], line, obs, tuple(trailing))
        self._target: AtomicFile | None = None
        self._sidecar: Sidecar | None = None
        if str(path) == STDOUT:
            with writing_to("standard output"):
                self._sink: Sink = CSVSink(sys.stdout.buffer, layout)
            return
        make_sink = SINKS.get(Path(path).suffix.lower())
        if make_sink is None:
            rule = f"be '-' or a file that ends in one of {', '.join(SINKS)}"
            raise ParameterError("path", rule, str(path), "Choose one of these extensions.")
        self._target = AtomicFile(Path(path), force=force)
        try:
            with writing_to(self._target.path):
                self._sink = make_sink(self._target.file, layout)
            if make_sink is CSVSink:
                self._sidecar = Sidecar(self._target.path, force=force)
        except BaseException:
            self._target.discard()
            raise
        weakref.finalize(self, _discard, self._sink, self._target, self._sidecar)

    def write(self, Y: Any) -> None:
        """Write the next rows.

        Parameters
        ----------
        Y : array of shape (n_rows, n_components)
            Coordinates, which are stored as float32.
        """
        Y = np.asarray(Y, dtype=np.float32)
        n_components = len(self._sink.layout.axes)
        if Y.ndim != 2 or Y.shape[1] != n_components:
            raise ParameterError(
                "Y",
                f"have {n_components} column(s); got shape {Y.shape}",
                hint="Pass one row of coordinates per point.",
            )
        if not np.isfinite(Y).all():
            raise DataError(
                f"Coordinates must be finite; rows {self.n_rows} to {self.n_rows + len(Y) - 1} "
                "have NaN or infinite values. Check the points of these rows."
            )
        part = slice(self.n_rows, self.n_rows + len(Y))
        if self._n_expected is not None and part.stop > self._n_expected:
            raise self._wrong_count(part.stop)
        ids = np.arange(part.start, part.stop) if self._ids is None else self._ids[part]
        leading = (ids,) if self._labels is None else (ids, self._labels[part])
        with self._writing():
            trailing = tuple(column[part] for column in self._trailing)
            self._sink.write(Block(leading, Y, trailing))
        self.n_rows = part.stop

    def close(self) -> None:
        """Complete the file and rename it; do nothing if it is closed already."""
        if self._is_closed:
            return
        if self.n_rows == 0 or self._n_expected not in (None, self.n_rows):
            self.discard()
            raise self._wrong_count(self.n_rows)
        with self._writing():
            self._sink.finish()
            if self._sidecar is not None and isinstance(self._sink, CSVSink):
                self._sidecar.write(self._sink.layout.line, self._sink.digest.hexdigest())
            if self._target is not None:
                self._target.commit()
            if self._sidecar is not None:
                self._sidecar.commit()
        self._is_closed = True

    def discard(self) -> None:
        """Remove the incomplete file."""
        _discard(self._sink, self._target, self._sidecar)

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
        rule = "have at least one row in all"
        if self._n_expected is not None:
            rule = f"have {self._n_expected} rows in all, one per id or label"
        hint = "Write each row once, in order."
        return ParameterError("Y", f"{rule}; got {n_rows}", hint=hint)


def _discard(sink: Sink, *targets: AtomicFile | Sidecar | None) -> None:
    sink.abandon()
    for target in targets:
        if target is not None:
            target.discard()


def _check_column(values: Any, name: str) -> Array:
    column = np.asarray(values)
    if column.dtype.kind == "U":
        column = column.astype(object)
    is_known = column.dtype.kind in "uiO" and column.ndim == 1
    if not is_known or (is_text(column) and not all(isinstance(v, str) for v in column)):
        raise ParameterError(
            name,
            f"be a list of integers or strings; got {column.dtype} of shape {column.shape}",
            hint="Convert it with astype(int) or astype(str).",
        )
    return column


def _check_numbers(values: Any, name: str) -> Array:
    column = np.asarray(values)
    if name in RESERVED:
        rule = f"have names other than {', '.join(RESERVED)}"
        raise ParameterError("columns", rule, name, "Rename the column.")
    if column.ndim != 1 or column.dtype.kind not in "uif" or not np.isfinite(column).all():
        raise ParameterError(
            "columns",
            f"be finite numbers; got {column.dtype} of shape {column.shape} in {name!r}",
            hint="Pass one number per row.",
        )
    return column
