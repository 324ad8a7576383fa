"""`isosne transform`: place new rows on an existing map."""

from typing import Annotated

from isosne.cli.messages import say
from isosne.cli.models import load_model
from isosne.cli.new_rows import open_new_rows
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

    check_one_stdout(output, as_json=messages.json)
    for file in list_files(output):
        check_distinct({"model_file": model_file, "source": source}, {"output": file})
    check_map_output(output, force=force)
    model, reading = load_model(model_file)
    model.set_params(n_jobs=resources.n_jobs)
    new = open_new_rows(source, model, reading, table_options, resources, quiet=messages.quiet)
    about = {
        **describe_start("transform", source, new.table, new.options),
        "model": {"file": str(model_file), "sha256": hash_file(model_file)},
    }
    kept = {"labels": new.table.labels, "obs": kept_obs(output, source, new.unscaled)}
    writer = MapWriter(output, new.table.ids, model.embedding_.shape[1], about, **kept, force=force)
    n_rows = write_places(model, new.unscaled.rows, writer, make_progress(quiet=messages.quiet))
    if messages.json:
        print_json({"output": output, "n_rows": n_rows, **about})
    elif not messages.quiet and output != STDOUT:
        say(f"Wrote {output}: {n_rows:,} rows")
        note_bare(output)
