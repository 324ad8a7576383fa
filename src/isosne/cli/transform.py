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
from isosne.cli.outputs import STDOUT, check_one_stdout, check_output, print_json
from isosne.cli.placing import write_places
from isosne.cli.progress import make_progress
from isosne.cli.provenance import describe_start
from isosne.cli.tables import STDIN, open_table
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
    looked at.

    Example: isosne transform model.isosne new.csv -o new_map.csv
    """
    from isosne import TSNE
    from isosne.cli.scaling import Scale, ScaledRows
    from isosne.files import MapWriter
    from isosne.files.sinks import SINKS

    if table_options.scale != "none":
        raise ParameterError(
            f"transform scales rows as those of the model were; got --scale {table_options.scale}. "
            "Leave it out."
        )
    check_one_stdout(output, as_json=talk.json)
    check_output(output, (*SINKS, STDOUT), force=force)
    model = TSNE.load(model_file).set_params(n_jobs=resources.n_jobs)
    wanted = _with_columns_of(model, source, table_options)
    table = open_table(source, wanted, resources, quiet=talk.quiet)
    scale = Scale.load_from(model_file)
    if scale is not None:
        table = replace(table, rows=ScaledRows(table.rows, scale))
    about = {
        **describe_start("transform", source, table, table_options),
        "model": {"file": str(model_file), "sha256": _hash(model_file)},
    }
    n_components, labels = model.embedding_.shape[1], table.labels
    writer = MapWriter(output, table.ids, n_components, about, labels=labels, force=force)
    n_rows = write_places(model, table.rows, writer, make_progress(quiet=talk.quiet))
    if talk.json:
        print_json({"output": output, "n_rows": n_rows, **about})
    elif not talk.quiet and output != STDOUT:
        typer.echo(f"The places of {n_rows:,} rows are in {output}.", err=True)


def _with_columns_of(model: Any, source: str, options: TableOptions) -> TableOptions:
    """Ask for the columns that the model was fitted with, where columns have names."""
    names = getattr(model, "feature_names_in_", None)
    has_names = source == STDIN or Path(source).suffix.lower() in NAMED
    if names is None or options.columns or not has_names:
        return options
    return replace(options, columns=[str(name) for name in names])


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
