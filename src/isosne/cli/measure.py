"""`isosne measure`: how far a map can be trusted."""

from typing import Annotated

import typer

from isosne.cli import options as o
from isosne.cli.files import check_one_stdin
from isosne.cli.maps import note_origin, read_map_file, recorded_metric
from isosne.cli.messages import print_json
from isosne.cli.options import Resources, TableOptions, option
from isosne.cli.tables import find_labels, find_rows, open_table_of, read_points

Neighbors = Annotated[int, option("Number of neighbors per point for the measures.", metavar="N")]


def measure(
    source: o.Source,
    map_file: o.MapFile,
    identifier: o.Id = None,
    label: o.Label = None,
    scale: o.Scaling = None,
    columns: o.Columns = None,
    exclude: o.Exclude = None,
    text_columns: o.TextColumns = None,
    missing: o.Missing = None,
    mixed: o.Mixed = None,
    categorical: o.Categorical = None,
    key: o.Key = None,
    k: Neighbors = 10,
    metric: o.Metric = None,
    n_queries: Annotated[
        int | None,
        option(
            "Number of points to evaluate.",
            default="all; a sample of 2,000 above 20,000",
            metavar="N",
        ),
    ] = None,
    random_state: o.Seed = 0,
    n_jobs: o.NJobs = None,
    memory_limit: o.MemoryLimit = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Measure how well a map preserves neighborhoods and classes.

    Points are matched with rows of the table by their identifiers. Options that say how the table
    is read, and the metric, default to what the map records.

    Example: isosne measure wine.csv map.parquet
    """
    from isosne import quality

    resources = Resources(n_jobs, memory_limit)
    check_one_stdin(source=source, map_file=map_file)
    drawn = read_map_file(map_file, "map_file", quiet=quiet)
    if not quiet:
        note_origin(map_file, drawn)
    options = TableOptions(
        *(identifier, label, scale, columns, exclude, text_columns, missing, mixed),
        *(categorical, key),
    ).completed(drawn.provenance, map_file)
    table = open_table_of(drawn, source, options, resources, quiet=quiet, force=force)
    chosen = find_rows(table, drawn)
    recorded = recorded_metric(drawn, table)
    measured = quality.report(
        read_points(table, resources, chosen),
        drawn.embedding,
        find_labels(table, drawn, chosen),
        k=k,
        **(recorded if metric is None else {"metric": metric}),
        n_queries=n_queries,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    if json:
        print_json(measured.as_dict())
    else:
        typer.echo(str(measured))
