"""The table of new rows for a model, read as the model's own table was."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from isosne.cli.messages import note
from isosne.cli.models import Reading
from isosne.cli.options import ResourceOptions, TableOptions
from isosne.cli.tables import STDIN, has_keys, open_table
from isosne.errors import ParameterError, keyword

NAMED = (".csv", ".tsv", ".txt", ".parquet", ".feather", ".arrow")
"""Endings of tables whose columns have names."""


class NewRows(NamedTuple):
    """New rows: the table with ids and labels, its rows without scaling, and the options used."""

    table: Any
    unscaled: Any
    options: TableOptions


def open_new_rows(
    source: str,
    model: Any,
    reading: Reading,
    table_options: TableOptions,
    resources: ResourceOptions,
    *,
    quiet: bool,
) -> NewRows:
    """Open a table like that of a model, and print the notes on it."""
    from isosne.files.table_reader import with_roles
    from isosne.sources.scaled import ScaledRows

    _check_scale(table_options.scale, reading)
    options = _as_at_fit(table_options, reading.options, model, source)
    try:
        opened = open_table(source, options, resources, quiet=quiet)
    except ParameterError as error:
        if error.parameter != "columns" or table_options.columns:
            raise
        value: Any = error.value  # a list of one column
        rule = f"have the column {value[0]!r}, which the model was fitted on"
        raise ParameterError("source", rule, source, error.hint) from None
    roles = {
        role: reading.options[role]
        for role in ("id", "label")
        if role in reading.options and getattr(options, role) is None
    }
    table = with_roles(opened, **roles)
    if reading.scale is not None:
        table = replace(table, rows=ScaledRows(table.rows, reading.scale))
    if not quiet:
        for sentence in table.notes[len(opened.notes) :]:
            note(sentence)
    found = {role: name for role, name in roles.items() if name in table.rows.side}
    return NewRows(table, opened, replace(options, scale=reading.options.get("scale"), **found))


def _check_scale(wanted: str | None, reading: Reading) -> None:
    """Refuse a scale that is not the model's; models of earlier versions do not name theirs."""
    scale = "none" if reading.scale is None else reading.options.get("scale", "another")
    if wanted not in (None, scale):
        raise ParameterError(
            "scale",
            f"be {scale}, as in the model",
            wanted,
            f"Leave out {keyword('scale')}: rows are scaled like those of the model.",
        )


def _as_at_fit(
    options: TableOptions, known: dict[str, Any], model: Any, source: str
) -> TableOptions:
    """Return options that read a table like that of the model, as far as possible.

    Columns are found by their names at fit, so none need be excluded; ids and labels come later.
    """
    read = ("missing", "key", "header", "mixed", "categorical")
    kept = {name: value for name, value in known.items() if name in read}
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
