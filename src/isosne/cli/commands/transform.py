"""`isosne transform`: place new rows on an existing map."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from isosne.cli.messages import note, say
from isosne.cli.models import Reading, load_model
from isosne.cli.options import (
    DefaultsFrom,
    Force,
    MessageOptions,
    ModelFile,
    Output,
    ResourceOptions,
    Source,
    TableOptions,
)
from isosne.cli.outputs import (
    STDOUT,
    check_map_output,
    check_one_stdout,
    kept_obs,
    list_files,
    note_bare,
    print_json,
    write_places,
)
from isosne.cli.paths import check_distinct
from isosne.cli.progress import make_progress
from isosne.cli.provenance import describe_start
from isosne.cli.tables import STDIN, has_keys, open_table
from isosne.errors import ParameterError, keyword

NAMED = (".csv", ".tsv", ".txt", ".parquet", ".feather", ".arrow")
"""Endings of tables whose columns have names."""


def transform(
    model_file: ModelFile,
    source: Source,
    output: Output,
    table_options: Annotated[TableOptions, DefaultsFrom("model")],
    resources: ResourceOptions,
    messages: MessageOptions,
    force: Force = False,
) -> None:
    """Place new rows on an existing map, which does not change.

    Rows are read block by block, so the table need not fit in memory. Columns are matched by name,
    in any order; columns that the model does not know are ignored.

    Example: isosne transform model.isosne new.csv -o new_map.csv
    """
    from isosne._files import hash_file
    from isosne.files import MapWriter
    from isosne.files.table_reader import with_roles
    from isosne.sources.scaled import ScaledRows

    check_one_stdout(output, as_json=messages.json)
    for file in list_files(output):
        check_distinct({"model_file": model_file, "source": source}, {"output": file})
    check_map_output(output, force=force)
    model, reading = load_model(model_file)
    model.set_params(n_jobs=resources.n_jobs)
    _check_scale(table_options.scale, reading)
    options = _as_at_fit(table_options, reading.options, model, source)
    opened = open_table(source, options, resources, quiet=messages.quiet)
    roles = {
        role: reading.options[role]
        for role in ("id", "label")
        if role in reading.options and getattr(options, role) is None
    }
    table = with_roles(opened, **roles)
    if reading.scale is not None:
        table = replace(table, rows=ScaledRows(table.rows, reading.scale))
    if not messages.quiet:
        for sentence in table.notes[len(opened.notes) :]:
            note(sentence)
    found = {role: name for role, name in roles.items() if name in table.rows.side}
    used = replace(options, scale=reading.options.get("scale"), **found)
    about = {
        **describe_start("transform", source, table, used),
        "model": {"file": str(model_file), "sha256": hash_file(model_file)},
    }
    kept = {"labels": table.labels, "obs": kept_obs(output, source, opened)}
    writer = MapWriter(output, table.ids, model.embedding_.shape[1], about, **kept, force=force)
    n_rows = write_places(model, opened.rows, writer, make_progress(quiet=messages.quiet))
    if messages.json:
        print_json({"output": output, "n_rows": n_rows, **about})
    elif not messages.quiet and output != STDOUT:
        say(f"Wrote {output}: {n_rows:,} rows")
        note_bare(output)


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
