"""The provenance of a result: how it was made, for its file and for --json."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from isosne._version import __version__
from isosne.cli.map_options import EmbeddingOptions, KernelOptions, LandmarkOptions
from isosne.cli.options import TableOptions


def describe_start(command: str, source: str, table: Any, options: TableOptions) -> dict[str, Any]:
    """Return what is known before the work: version, date, input, and how the input is read."""
    return {
        "version": __version__,
        "command": command,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "input": {
            "source": source,
            "shape": list(table.rows.shape),
            "fingerprint": table.rows.fingerprint(),
        },
        "table": options.given(),
    }


def describe_origin(
    line: list[str], table: Any, options: TableOptions, *others: Any
) -> dict[str, str]:
    """Return how to repeat a command, as text by name: its input, scaling and command line.

    ``line`` is the command, its input and its output, as they are typed.
    """
    from isosne.files.mixed_tables import COLUMNS

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
            option = name.replace("_", "-")
            if value == getattr(plain, name) or value == []:
                continue
            if isinstance(value, bool):
                yield f"--{option}" if value else f"--no-{option}"
                continue
            for entry in value if isinstance(value, list) else [value]:
                yield from (f"--{option}", str(entry))


def recorded_metric(provenance: dict[str, Any]) -> tuple[Any, Any]:
    """Return the metric that a map was made with, and its power p; defaults if it tells neither."""
    made_with = provenance.get("parameters")
    made_with = made_with if isinstance(made_with, dict) else {}
    return made_with.get("metric", "euclidean"), made_with.get("p", 2.0)


def measured_metric(table: Any, recorded: Any) -> Any:
    """Return the metric that maps of a table are measured by: of mixed columns, Gower's."""
    return getattr(table.rows, "metric", recorded)


def describe_options(
    kernel: KernelOptions, embedding: EmbeddingOptions, landmarks: LandmarkOptions, *others: Any
) -> dict[str, Any]:
    """Return the parameters of a map by the names of their options, without those not given."""
    options = {**asdict(kernel), "kernel": kernel.kernel_name}
    for group in (embedding, landmarks, *others):
        options |= asdict(group)
    return {name: value for name, value in options.items() if value is not None}


def describe_fit(model: Any, seconds: float) -> dict[str, Any]:
    """Return the plan of a finished fit, and its results."""
    return {
        "plan": model.plan_.as_dict(),
        "n_iter": int(model.n_iter_),
        "kl_divergence": float(model.kl_divergence_),
        "n_isolated": len(model.isolated_),
        "seconds": round(seconds, 3),
    }


def titles_of(maps: Sequence[str]) -> list[str]:
    """Return the names of files, or their paths if names are repeated."""
    names = [Path(path).name for path in maps]
    return names if len(set(names)) == len(names) else list(maps)
