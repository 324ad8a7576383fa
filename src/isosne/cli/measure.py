"""`isosne measure`: how far a map can be trusted."""

from typing import Any

import click

from isosne.cli import options as o
from isosne.cli.files import check_one_stdin, note_origin, read_map_file, recorded_metric
from isosne.cli.messages import print_json
from isosne.cli.options import TableOptions, option
from isosne.cli.tables import find_labels, find_rows, open_table_of, read_points


@o.command(
    *(o.SOURCE, o.MAP_FILE, *o.TABLE, o.NEIGHBORS, o.METRIC),
    option(
        "--n-queries N",
        "Number of points to evaluate.",
        type=int,
        shown="all; a sample of 2,000 above 20,000",
    ),
    *(o.SEED, *o.LAST),
)
def measure(
    source: str,
    map_file: str,
    k: int,
    metric: str | None,
    n_queries: int | None,
    random_state: int,
    n_jobs: int | None,
    memory_limit: str | None,
    force: bool,
    json: bool,
    **given: Any,
) -> None:
    """Measure how well a map preserves neighborhoods and classes.

    Points are matched with rows of the table by their identifiers. Options that say how the table
    is read, and the metric, default to what the map records.

    Example: isosne measure wine.csv map.parquet
    """
    from isosne import quality

    check_one_stdin(source=source, map_file=map_file)
    drawn = read_map_file(map_file, "map_file")
    note_origin(map_file, drawn)
    options = TableOptions.of(given).completed(drawn.provenance, map_file)
    table = open_table_of(drawn, source, options, memory_limit, force=force)
    chosen = find_rows(table, drawn)
    measured = quality.report(
        read_points(table, memory_limit, chosen),
        drawn.embedding,
        find_labels(table, drawn, chosen),
        k=k,
        metric=metric or recorded_metric(drawn, table),
        n_queries=n_queries,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    print_json(measured.as_dict()) if json else click.echo(str(measured))
