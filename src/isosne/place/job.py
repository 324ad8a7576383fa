"""Place the rows of many files on a finished map, in one output file per input file.

A part is done if its result exists. A result is written under another name and renamed when it is
complete, so an interruption costs one part. The folder ``_isosne`` of the output, which readers of
Parquet data sets ignore, holds ``job.json``: model, settings, and size and modification time of
each file of the input.
"""

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from isosne._files import check_writable, encode_json, open_regular, whole_file, writing_to
from isosne._version import __version__
from isosne.errors import DataError, OutputError, ParameterError
from isosne.place.parts import Part, PartReader, list_parts
from isosne.place.placer import Placer
from isosne.rows.columns import check_missing
from isosne.rows.map_writer import AXES, SINKS, encode_provenance
from isosne.tsne.estimator import TSNE

FOLDER, JOB = "_isosne", "job.json"
WORDS = {
    "version": "the version of isosne",
    "model": "the model",
    "keep": "the list of columns to keep",
    "missing": "the treatment of missing values",
}
"""What must not change between the runs of a job, in words."""


@dataclass(frozen=True)
class PlacedFiles:
    """How far a job has come.

    Parameters
    ----------
    output : Path
        The output folder.
    n_parts : int
        Number of parts of the input.
    n_done : int
        Number of parts that are done, by any process.
    n_placed : int
        Number of parts that this call has placed.
    n_rows : int
        Number of rows that this call has placed.
    n_dropped : int
        Number of rows with missing values that this call has left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> from isosne import PlacedFiles
    >>> PlacedFiles(Path("placed"), n_parts=8, n_done=8, n_placed=3, n_rows=30_000).is_complete
    True
    """

    output: Path
    n_parts: int
    n_done: int
    n_placed: int
    n_rows: int
    n_dropped: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether all parts are done."""
        return self.n_done == self.n_parts


def place_files(
    model: str | Path,
    source: str | Path,
    output: str | Path,
    *,
    keep: Iterable[str] = (),
    missing: str = "refuse",
    share: str | None = None,
    n_jobs: int | None = None,
    callback: Callable[[PlacedFiles], Any] | None = None,
) -> PlacedFiles:
    """Place the rows of all files of a folder on the map of a model; resume if interrupted.

    Parameters
    ----------
    model : path
        Model file, written by ``TSNE.save`` or ``isosne embed --save-model``.
    source : path
        A folder of .parquet, .feather, .arrow, .csv or .npy files, which may be in subfolders, or
        one such file. Links to folders are followed. Names that start with "." or "_" are ignored.
    output : path
        Folder for the results: new, empty, or that of an earlier call with the same model and
        `keep`. Each file of the input gets a result of the same relative name and format.
    keep : list of str, default=()
        Columns to copy from the input, such as an identifier. They keep their types and precede
        the coordinates, which are named x, y and z.
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows that have missing or infinite values: raise an error, or leave them
        out of the result.
    share : str or None, default=None
        Which files this call places, if several processes share the work: "2/8" is the second of
        eight processes, which places every eighth file. None places all.
    n_jobs : int or None, default=None
        Number of threads. None uses all cores that are available.
    callback : callable or None, default=None
        Called with a `PlacedFiles` before the first part and after each part.

    Returns
    -------
    PlacedFiles
        How far the job has come. It is not complete if parts of other shares are missing.

    Raises
    ------
    OutputError
        If the output folder contains other files or belongs to a different job, or cannot be
        written.
    DataError
        If a file cannot be read or does not have the columns of the model, or if a file has
        changed since it was placed.

    Notes
    -----
    A result appears under its name when it is complete. If the call is interrupted at any moment,
    the same call places only the parts that are missing. The results are bit-identical to those of
    an uninterrupted call, and do not depend on how the work was shared. Files that were added to
    the input are placed by the next call.

    The memory in use does not depend on the number of rows, except that the kept columns of a CSV
    file are in memory. In CSV files, cells that a spreadsheet would take for formulas get an
    apostrophe in front.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from pathlib import Path
    >>> from isosne import TSNE, place_files
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     TSNE(random_state=0).fit(X).save(folder / "model.isosne")
    ...     (folder / "in").mkdir()
    ...     for k in range(3):
    ...         np.save(folder / "in" / f"part-{k}.npy", X[20 * k : 20 * k + 20])
    ...     done = place_files(folder / "model.isosne", folder / "in", folder / "out")
    ...     np.load(folder / "out" / "part-2.npy").shape
    (20, 2)
    >>> done.n_placed, done.n_rows, done.is_complete
    (3, 60, True)
    """
    source, output, kept = Path(source), Path(output), _check_keep(keep)
    check_missing(missing)
    first, n_shares = _check_share(share)
    _check_apart(source, output)
    placer = Placer(model, n_jobs=n_jobs)
    parts = list_parts(source)
    loaded = placer.load()
    _check_model(loaded, model, kept)
    about = {"version": __version__, "model": placer.sha256, "keep": list(kept), "missing": missing}
    _begin_job(output, about, parts)
    names = getattr(loaded, "feature_names_in_", None)
    reader = PartReader(None if names is None else tuple(names.tolist()), kept, missing)
    state = PlacedFiles(output, len(parts), _count_done(output, parts), 0, 0)
    tell = callback or (lambda state: None)
    tell(state)
    for part in parts[first::n_shares]:
        if not (output / part.name).is_file():
            line = encode_provenance(about | {"part": part.name})
            n_rows, n_dropped = _place_part(loaded, reader, part, output / part.name, line)
            state = replace(
                state,
                n_done=state.n_done + 1,
                n_placed=state.n_placed + 1,
                n_rows=state.n_rows + n_rows,
                n_dropped=state.n_dropped + n_dropped,
            )
            tell(state)
    return replace(state, n_done=_count_done(output, parts))


def _count_done(output: Path, parts: list[Part]) -> int:
    return sum((output / part.name).is_file() for part in parts)


def _place_part(
    model: TSNE, reader: PartReader, part: Part, path: Path, line: str
) -> tuple[int, int]:
    """Write the result of a part; return how many rows were placed, and how many dropped."""
    n_rows, n_dropped, n_components = 0, 0, model.embedding_.shape[1]
    with writing_to(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, force=True) as file:
        sink = SINKS[part.extension](file, line)
        try:
            for X, columns, n_incomplete in reader.blocks(part):
                Y = model.place(X) if X.shape[0] else np.empty((0, n_components), np.float32)
                if not np.isfinite(Y).all():
                    raise DataError(
                        f"Coordinates must be finite; those of {part.path} are not. "
                        "Check the values of this part for extremes."
                    )
                kept = dict(zip(reader.keep, columns, strict=True))
                sink.write(kept | dict(zip(AXES, Y.T, strict=False)))
                n_rows, n_dropped = n_rows + len(Y), n_dropped + n_incomplete
            sink.finish()
        except BaseException:
            sink.abandon()
            raise
    return n_rows, n_dropped


def _begin_job(output: Path, about: dict[str, Any], parts: list[Part]) -> None:
    """Create the folder of a job and its record, or check that the folder is of the same job.

    A part must not change, nor be removed, once it has a result.
    """
    path = output / FOLDER / JOB
    stamps = {part.name: list(part.files.stamps[part.path]) for part in parts}
    with writing_to(output):
        output.mkdir(parents=True, exist_ok=True)
        # Listed before the look at the job: what is here without a job is not from a job.
        others = sorted(entry.name for entry in output.iterdir() if entry.name != FOLDER)
        if others and not path.exists():
            raise OutputError(
                f"Cannot write to {output}: the folder contains other files, such as "
                f"{others[0]!r}. Choose an empty or new folder."
            )
        path.parent.mkdir(exist_ok=True)
    check_writable(path, force=True)
    if not path.exists():
        _write_json(path, about | {"input": stamps})
    before = _read_job(path)
    for key, what in WORDS.items():
        if before.get(key) != about[key]:
            raise OutputError(
                f"Cannot write to {output}: the folder belongs to a different job: {what} "
                f"was {_show(before.get(key))}, is now {_show(about[key])}. "
                "Choose another folder, or delete this one; nothing was changed."
            )
    for name, stamp in before["input"].items():
        if stamps.get(name) != stamp and (output / name).is_file():
            what = "has changed since it was placed" if name in stamps else "is no longer there"
            raise DataError(
                f"The input of a job must not change; {name!r} {what}. "
                f"Restore it, or choose another folder than {output}."
            )
    if stamps != before["input"]:
        _write_json(path, about | {"input": stamps})


def _read_job(path: Path) -> dict[str, Any]:
    """Return the record of a job; a damaged one is an error."""
    record: Any = None
    with suppress(ValueError, RecursionError, OSError), open_regular(path) as file:
        record = json.load(file)
    if not isinstance(record, dict) or not isinstance(record.get("input"), dict):
        raise DataError(f"Cannot read {path}: the file is damaged. Choose another output folder.")
    return record


def _write_json(path: Path, content: dict[str, Any]) -> None:
    with whole_file(path, force=True) as file:
        file.write(f"{encode_json(content, indent=1)}\n".encode())


def _show(value: Any) -> str:
    """Return a value in words; hashes are shortened."""
    if isinstance(value, list):
        return ", ".join(map(repr, value)) or "empty"
    return f"{value[:12]}..." if isinstance(value, str) and len(value) == 64 else str(value)


def _check_apart(source: Path, output: Path) -> None:
    """Raise an error if one of input and output is inside the other."""
    inner, outer = output.resolve(), source.resolve()
    if inner.is_relative_to(outer) or outer.is_relative_to(inner):
        rule = f"be a folder apart from the input, {source}"
        raise ParameterError("output", rule, str(output), "Choose another folder.")


def _check_share(share: str | None) -> tuple[int, int]:
    """Return the first part of a share, from 0, and the number of shares."""
    which, _, n_shares = "1/1".partition("/") if share is None else str(share).partition("/")
    if which.isdecimal() and n_shares.isdecimal() and 1 <= int(which) <= int(n_shares):
        return int(which) - 1, int(n_shares)
    raise ParameterError(
        "share", "be K/N with K from 1 to N", share, "The second of eight processes takes 2/8."
    )


def _check_keep(keep: Iterable[str]) -> tuple[str, ...]:
    is_list = isinstance(keep, Iterable) and not isinstance(keep, str)
    names = tuple(keep) if is_list else ()
    is_list = is_list and all(isinstance(name, str) for name in names)
    if not is_list or len(set(names)) < len(names):
        rule = "be a list of different column names"
        raise ParameterError("keep", rule, keep, "Name each column once.")
    return names


def _check_model(model: TSNE, path: str | Path, keep: tuple[str, ...]) -> None:
    """Raise an error if the model takes no files, or has coordinates of the same names."""
    if hasattr(model, "table_"):
        raise DataError(
            f"The model must be made of numeric columns; that of {path} takes mixed tables in "
            "memory. Read each file into a data frame, and pass it to TSNE.transform."
        )
    axes = AXES[: model.embedding_.shape[1]]
    for name in keep:
        if name in axes:
            rule = f"name other columns than {', '.join(axes)}, the coordinates"
            raise ParameterError("keep", rule, name, "Rename the column of the input.")
