"""Map files of a command, and what they tell of how a map was made."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from isosne._version import __version__
from isosne.cli.files import PIPE
from isosne.cli.messages import note
from isosne.cli.options import TableOptions
from isosne.errors import ParameterError

H5AD = ".h5ad"


def read_map_file(path: str, parameter: str, *, quiet: bool) -> Any:
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
    if not quiet:
        for sentence in drawn.notes:
            note(sentence)
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


def refuse_map(path: Path, parameter: str, what: str, hint: str) -> None:
    """Raise an error if a file that must be something else is a map that isosne wrote."""
    from isosne.rows.maps import find_provenance

    if find_provenance(path):
        raise ParameterError(parameter, f"be {what}, not a map", str(path), hint)


def name_target(output: str) -> str:
    """Return the name of an output in messages."""
    return "the map to standard output" if output == PIPE else output


def note_bare(output: str) -> None:
    """Print a note if the output lacks what other commands need."""
    if output.lower().endswith(".npy"):
        note(
            f"{output} holds only coordinates, in the order of the rows. "
            "Use .parquet, .csv or .npz to keep identifiers, labels and provenance."
        )


def kept_obs(output: str, source: str, table: Any) -> Any:
    """Return the columns of obs that an .h5ad map keeps of its .h5ad table; None for others."""
    if not (output.lower().endswith(H5AD) and source.lower().endswith(H5AD)):
        return None
    from isosne.rows.archives import read_obs

    obs, kept = read_obs(source), getattr(table.rows, "kept", None)
    return obs if kept is None else obs.iloc[kept]


def describe_start(
    command: str, source: str, unscaled: Any, options: TableOptions
) -> dict[str, Any]:
    """Return what is known before the work: version, date, input, and how the input is read."""
    return {
        "version": __version__,
        "command": command,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "input": {
            "source": source,
            "shape": list(unscaled.rows.shape),
            "fingerprint": unscaled.rows.fingerprint(),
        },
        "table": options.given(),
    }


def describe_fit(model: Any, seconds: float) -> dict[str, Any]:
    """Return the plan of a finished fit, and its results."""
    about = {
        "plan": model.plan_.as_dict(),
        "n_iter": int(model.n_iter_),
        "kl_divergence": float(model.kl_divergence_),
        "n_isolated": len(model.isolated_),
        "seconds": round(seconds, 3),
    }
    if hasattr(model, "alignment_"):
        anchors = model.alignment_
        about["alignment"] = {
            "n_matched": len(anchors.rows),
            "strength": float(anchors.strength),
            "scale": float(anchors.scale),
            "mean_displacement": float(model.displacement_.mean()),
        }
    return about


def describe_origin(
    line: list[str], table: Any, options: TableOptions, *others: Any
) -> dict[str, str]:
    """Return how to repeat a command, as text by name: its input, scaling and command line.

    ``line`` is the command, its input and its output, as they are typed.
    """
    from isosne.tables.mixed import COLUMNS

    n_rows, n_columns = table.rows.shape
    treated = [sentence.removeprefix(COLUMNS) for sentence in table.notes if COLUMNS in sentence]
    return {
        **({"columns": treated[0], "measured by": "Gower's distance"} if treated else {}),
        "input": f"{line[1]}, {n_rows:,} rows, {n_columns:,} columns",
        "fingerprint": table.rows.fingerprint(),
        "scaling": options.scale or "none",
        "command": shlex.join(["isosne", *line, *words_of(options, *others)]),
    }


def words_of(*groups: Any) -> Iterator[str]:
    """Yield the options of some groups that differ from their defaults, as they are typed."""
    for group in groups:
        plain = type(group)()
        for name, value in asdict(group).items():
            flag = f"--{name.replace('_', '-')}"
            if value == getattr(plain, name) or value == []:
                continue
            if isinstance(value, bool):
                yield flag
                continue
            for entry in value if isinstance(value, list) else [value]:
                yield from (flag, str(entry))


def recorded_metric(drawn: Any, table: Any) -> dict[str, Any]:
    """Return the metric by which a map is measured: of mixed columns Gower's, else its own."""
    made_with = drawn.provenance.get("parameters")
    made_with = made_with if isinstance(made_with, dict) else {}
    metric = getattr(table.rows, "metric", made_with.get("metric", "euclidean"))
    return {"metric": metric, "p": made_with.get("p", 2.0)}


def titles_of(maps: Sequence[str]) -> list[str]:
    """Return the names of files, or their paths if names are repeated."""
    names = [Path(path).name for path in maps]
    return names if len(set(names)) == len(names) else list(maps)
