"""`isosne transform`: further rows on a map that is finished."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from isosne.cli.options import (
    Force,
    Output,
    ResourceOptions,
    Source,
    TableOptions,
    TalkOptions,
)
from isosne.cli.outputs import STDOUT, check_one_stdout, check_output, note_bare, print_json
from isosne.cli.placing import write_places
from isosne.cli.progress import make_progress
from isosne.cli.provenance import describe_start
from isosne.cli.tables import STDIN, has_keys, open_table, say_notes
from isosne.errors import ParameterError

NAMED = (".csv", ".tsv", ".txt", ".parquet", ".feather", ".arrow")
"""Endings of tables whose columns have names."""


def transform(
    model_file: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", show_default=False, help="What isosne embed --save-model has kept."
        ),
    ],
    source: Source,
    output: Output,
    table_options: TableOptions,
    resources: ResourceOptions,
    talk: TalkOptions,
    force: Force = False,
) -> None:
    """Place further rows on a finished map, block by block; the map stays as it is.

    Columns are found by the names that the model was fitted with, in any order; others are not
    looked at. The model knows which columns were ids and labels; options given here come first.

    Example: isosne transform model.isosne new.csv -o new_map.csv
    """
    from isosne.cli.model_files import load_model, load_reading
    from isosne.files import MapWriter
    from isosne.files.sinks import SINKS
    from isosne.files.table_reader import with_roles
    from isosne.sources.scaled import ScaledRows

    check_one_stdout(output, as_json=talk.json)
    check_output(output, (*SINKS, STDOUT), force=force)
    model = load_model(model_file).set_params(n_jobs=resources.n_jobs)
    reading = load_reading(model_file)
    _check_scale(table_options.scale, reading)
    options = _as_at_fit(table_options, reading.options, model, source)
    opened = open_table(source, options, resources, quiet=talk.quiet)
    roles = {
        role: reading.options[role]
        for role in ("id", "label")
        if role in reading.options and getattr(options, role) is None
    }
    table = with_roles(opened, **roles)
    if reading.scale is not None:
        table = replace(table, rows=ScaledRows(table.rows, reading.scale))
    if not talk.quiet:
        say_notes(table.notes[len(opened.notes) :])
    found = {role: name for role, name in roles.items() if name in table.rows.side}
    used = replace(options, scale=reading.options.get("scale"), **found)
    about = {
        **describe_start("transform", source, table, used),
        "model": {"file": str(model_file), "sha256": _hash(model_file)},
    }
    n_components, labels = model.embedding_.shape[1], table.labels
    writer = MapWriter(output, table.ids, n_components, about, labels=labels, force=force)
    n_rows = write_places(model, table.rows, writer, make_progress(quiet=talk.quiet))
    if talk.json:
        print_json({"output": output, "n_rows": n_rows, **about})
    elif not talk.quiet and output != STDOUT:
        typer.echo(f"The places of {n_rows:,} rows are in {output}.", err=True)
        note_bare(output)


def _check_scale(asked_for: str | None, reading: Any) -> None:
    """Refuse another scale than that of the model; one saved by an earlier version has no name."""
    has = "none" if reading.scale is None else reading.options.get("scale", "another")
    if asked_for not in (None, has):
        raise ParameterError(
            f"transform scales rows as those of the model were, which is {has}; got --scale "
            f"{asked_for}. Leave it out."
        )


def _as_at_fit(
    options: TableOptions, known: dict[str, Any], model: Any, source: str
) -> TableOptions:
    """Return options under which a table is read as that of the model was, where it can be.

    Columns go by the names at fit, so that nothing need be excluded; ids and labels come later.
    """
    kept = {name: value for name, value in known.items() if name in ("missing", "key", "header")}
    if not has_keys(source):
        kept.pop("key", None)
    names = getattr(model, "feature_names_in_", None)
    if names is not None and _has_names(source):
        kept["columns"] = [str(name) for name in names]
    return replace(
        options, **{k: v for k, v in kept.items() if k not in options.given()}, scale=None
    )


def _has_names(source: str) -> bool:
    from isosne.sources.chunked import is_zarr

    path = Path(source)
    is_folder = path.is_dir() and path.suffix.lower() != ".zarr" and not is_zarr(path)
    return source == STDIN or path.suffix.lower() in NAMED or is_folder


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
