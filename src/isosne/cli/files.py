"""The files of a command: outputs that are checked before the work begins, and maps.

An output must be writable, and neither an input nor another output, however it is spelled.
"""

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from isosne._version import __version__
from isosne.cli.messages import note
from isosne.cli.options import Args, Options, TableOptions
from isosne.errors import ParameterError, keyword

PIPE = "-"
"""Standard input or standard output."""
PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html", ".htm")
"""Endings of pictures and of pages."""

Paths = Mapping[str, str | Path | None]
"""Paths by the names of their parameters."""


def check_output(path: str | Path, endings: Iterable[str], *, force: bool) -> None:
    """Refuse an output that could not be written later: wrong ending, exists, no permission."""
    from isosne._files import check_writable

    endings = tuple(endings)
    if str(path) == PIPE and PIPE in endings:
        return
    if endings and Path(path).suffix.lower() not in endings:
        *others, last = (ending for ending in endings if ending != PIPE)
        known = f"{', '.join(others)} or {last}" if others else last
        hint = "The file type is chosen by the ending."
        raise ParameterError("output", f"end in {known}", str(path), hint)
    check_writable(Path(path), force=force)


def check_map_output(args: Args, *inputs: str) -> None:
    """Refuse a map that could not be written later, or a checkpoint or a model beside it.

    ``inputs``: names of the parameters that are read. A CSV file has its provenance in a second
    file, which is checked too.
    """
    from isosne.rows.map_writer import SINKS, check_sidecar, sidecar_path

    output, others = args.output, args.pick("checkpoint", "model_output")
    if output == PIPE and args.json:
        json = keyword("json", True)
        rule = f"be a file if {json} prints to standard output"
        raise ParameterError("output", rule, PIPE, f"Write the map to a file, or leave out {json}.")
    check_one_stdin(**args.pick(*inputs))
    check_distinct(args.pick(*inputs), {"output": output, **others})
    if output is not None:
        check_output(output, (*SINKS, PIPE), force=args.force)
        if Path(output).suffix.lower() == ".csv":
            check_distinct(args.pick(*inputs), {"output": sidecar_path(Path(output)), **others})
            check_sidecar(Path(output), force=args.force)
    for name, path in others.items():
        if path is not None:
            check_output(path, (), force=args.force or name == "checkpoint")


def check_one_stdin(**sources: str | Path | None) -> None:
    """Refuse more than one source, by the name of its parameter, from standard input."""
    piped = [name for name, source in sources.items() if source == PIPE]
    if len(piped) > 1:
        rule = f"be a file if {keyword(piped[0])} is read from standard input"
        raise ParameterError(piped[1], rule, PIPE, "Save one of them to a file.")


def check_distinct(inputs: Paths, outputs: Paths) -> None:
    """Refuse an output that is also an input or another output.

    Links to the same file count as this file.
    """
    known = {name: path for name, path in inputs.items() if path not in (None, PIPE)}
    for name, path in outputs.items():
        if path in (None, PIPE):
            continue
        for other, target in known.items():
            if _is_same(Path(str(path)), Path(str(target))):
                rule = f"be another file than {keyword(other, str(target))}"
                raise ParameterError(name, rule, str(path), "Choose another name.")
            if other in inputs and _is_part(Path(str(path)), Path(str(target))):
                rule = f"be outside {keyword(other, str(target))}, whose files are read"
                raise ParameterError(name, rule, str(path), "Choose another folder.")
        known[name] = path


def _is_same(path: Path, other: Path) -> bool:
    """Return whether two paths, which need not exist yet, are one file."""
    try:
        return path.samefile(other)
    except (OSError, ValueError):  # one does not exist, or no file can have its name
        return os.path.realpath(path) == os.path.realpath(other)


def _is_part(path: Path, source: Path) -> bool:
    """Return whether an output would be among the files of a folder that is read."""
    from isosne.rows.arrays import is_zarr

    if not source.is_dir() or not path.resolve().is_relative_to(source.resolve()):
        return False
    return is_zarr(source) or path.suffix.lower() == ".parquet"


def read_map_file(path: str, parameter: str) -> Any:
    """Read a map and print the notes on it.

    An error names the parameter of the command that the path was given for.
    """
    from isosne.rows import read_map

    try:
        drawn = read_map(path)
    except ParameterError as error:
        if error.parameter != "path":
            raise
        raise ParameterError(parameter, error.rule, error.value, error.hint) from None
    note(*drawn.notes)
    return drawn


def note_origin(source: str, drawn: Any) -> None:
    """Print a note if a map does not tell how it was made, so that options say how to read rows."""
    is_csv = source == PIPE or source.lower().endswith(".csv")
    if (is_csv or drawn.notes) and not drawn.provenance:
        what = "The map from standard input" if source == PIPE else source
        note(
            f"{what} does not tell how it was made. Pass the options with which its table was "
            "read, such as --id and --scale, if there were any."
        )


def name_target(output: str) -> str:
    """Return the name of an output in messages."""
    return "the map to standard output" if output == PIPE else output


def describe_start(
    command: str, source: str, unscaled: Any, options: TableOptions
) -> dict[str, Any]:
    """Return what is known before the work: version, date, input, and how the input is read."""
    rows = unscaled.rows
    shape, fingerprint = list(rows.shape), rows.fingerprint()
    return {
        "version": __version__,
        "command": command,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "input": {"source": source, "shape": shape, "fingerprint": fingerprint},
        "table": options.given(),
    }


def describe_origin(
    line: list[str], table: Any, options: TableOptions, *others: Options
) -> dict[str, str]:
    """Return how to repeat a command, as text by name: its input, scaling and command line.

    ``line`` is the command, its input and its output, as they are typed.
    """
    from isosne.tables.mixed import COLUMNS

    n_rows, n_columns = table.rows.shape
    treated = [sentence.removeprefix(COLUMNS) for sentence in table.notes if COLUMNS in sentence]
    words = [word for group in (options, *others) for word in group.words()]
    return {
        **({"columns": treated[0], "measured by": "Gower's distance"} if treated else {}),
        "input": f"{line[1]}, {n_rows:,} rows, {n_columns:,} columns",
        "fingerprint": table.rows.fingerprint(),
        "scaling": options.scale or "none",
        "command": shlex.join(["isosne", *line, *words]),
    }


def recorded_metric(drawn: Any, table: Any) -> str:
    """Return the metric by which a map is measured: of mixed columns Gower's, else its own."""
    made_with = drawn.provenance.get("parameters")
    made_with = made_with if isinstance(made_with, dict) else {}
    return str(getattr(table.rows, "metric", made_with.get("metric", "euclidean")))


def titles_of(maps: Sequence[str]) -> list[str]:
    """Return the names of files, or their paths if names are repeated."""
    names = [Path(path).name for path in maps]
    return names if len(set(names)) == len(names) else list(maps)
