"""The files of a command: outputs that are checked before the work begins, and maps.

An output must be writable, and neither an input nor another output, however it is spelled.
"""

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from isosne._version import __version__
from isosne.cli.messages import note
from isosne.cli.options import Args, check_recorded
from isosne.errors import ParameterError, keyword

PIPE = "-"  # standard input or standard output
PICTURES, PAGES = (".png", ".svg", ".pdf"), (".html", ".htm")  # endings

Paths = Mapping[str, str | Path | None]  # paths by the names of their parameters


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

    ``inputs``: parameters that are read. The provenance of a CSV file is a second file.
    """
    from isosne.rows.map_writer import SINKS, check_sidecar, sidecar_path

    output, others = args.output, args.pick("checkpoint", "model_output")
    if output is None and others["model_output"] is None:
        rule = f"be given, unless {keyword('plan')} or {keyword('model_output')} is used"
        hint = f"Add for example {keyword('output')} map.parquet."
        raise ParameterError("output", rule, hint=hint)
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
    """Refuse an output that is an input, in a folder that is read, or another output."""
    known: dict[str, Any] = {}
    for name, path in (*inputs.items(), *outputs.items()):
        if path in (None, PIPE):
            continue
        for other, target in known.items() if name in outputs else ():
            place, taken = (Path(os.path.realpath(each)) for each in (str(path), target))
            if place.is_relative_to(taken):
                word = "another file than" if place == taken else "outside"
                rule = f"be {word} {keyword(other, target)}"
                raise ParameterError(name, rule, str(path), "Choose another name.")
        known[name] = str(path)


def read_map_file(path: str, parameter: str) -> Any:
    """Read a map and print the notes on it; an error names the parameter of the path."""
    from isosne.rows import read_map

    try:
        drawn = read_map(path)
    except ParameterError as error:
        if error.parameter != "path":
            raise
        raise ParameterError(parameter, error.rule, error.value, error.hint) from None
    note(*drawn.notes)
    return drawn


def recorded_options(drawn: Any, source: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that read the table of a map: those that are given or recorded.

    Prints a note if the map does not tell how it was made.
    """
    is_csv = source == PIPE or source.lower().endswith(".csv")
    if (is_csv or drawn.notes) and not drawn.provenance:
        what = "The map from standard input" if source == PIPE else source
        note(
            f"{what} does not tell how it was made. Pass the options with which its table was "
            "read, such as --id and --scale, if there were any."
        )
    return check_recorded(drawn.provenance.get("table", {}), source) | options


def recorded_metric(drawn: Any, table: Any) -> str:
    """Return the metric by which a map is measured: of mixed columns Gower's, else its own."""
    made_with = drawn.recorded("parameters").get("metric", "euclidean")
    return str(getattr(table.rows, "metric", made_with))


def describe_start(
    command: str, source: str, unscaled: Any, options: dict[str, Any]
) -> dict[str, Any]:
    """Return what is known before the work: version, date, input, and how the input is read."""
    shape, fingerprint = list(unscaled.rows.shape), unscaled.rows.fingerprint()
    return {
        "version": __version__,
        "command": command,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "input": {"source": source, "shape": shape, "fingerprint": fingerprint},
        "table": options,
    }


def describe_origin(args: Args, table: Any, options: dict[str, Any]) -> dict[str, str]:
    """Return how to repeat a command, as text by name: its input, scaling and command line."""
    from isosne.tables.mixed import COLUMNS

    n_rows, n_columns = table.rows.shape
    treated = [sentence.removeprefix(COLUMNS) for sentence in table.notes if COLUMNS in sentence]
    return {
        **({"columns": treated[0], "measured by": "Gower's distance"} if treated else {}),
        "input": f"{args.source}, {n_rows:,} rows, {n_columns:,} columns",
        "fingerprint": table.rows.fingerprint(),
        "scaling": options.get("scale", "none"),
        "command": args.line,
    }
