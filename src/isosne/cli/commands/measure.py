"""`isosne measure`: how far a map can be trusted."""

from typing import Annotated

import typer

from isosne.cli.map_files import read_map_file
from isosne.cli.map_options import Metric
from isosne.cli.options import (
    DefaultsFrom,
    MapFile,
    MessageOptions,
    ResourceOptions,
    Source,
    TableOptions,
    option,
)
from isosne.cli.outputs import print_json
from isosne.cli.provenance import measured_metric, recorded_metric
from isosne.cli.tables import (
    check_one_stdin,
    find_rows,
    note_origin,
    open_table,
    read_points,
    suggesting_mixed,
)


@suggesting_mixed()
def measure(
    source: Source,
    map_file: MapFile,
    table_options: Annotated[TableOptions, DefaultsFrom("map")],
    resources: ResourceOptions,
    messages: MessageOptions,
    k: Annotated[int, option("Number of neighbors per point.", metavar="N")] = 10,
    metric: Annotated[
        Metric | None, option("Distance between rows.", default="as in the map")
    ] = None,
    n_queries: Annotated[
        int | None,
        option(
            "Number of points to evaluate.",
            default="all; a sample of 2,000 above 20,000",
            metavar="N",
        ),
    ] = None,
    random_state: Annotated[
        int, option("Seed of the sample.", "--random-state", "--seed", min=0, metavar="N")
    ] = 0,
) -> None:
    """Measure how well a map preserves neighborhoods and classes.

    Points are matched with rows of the table by their identifiers.

    Example: isosne measure wine.csv map.parquet --label target --id id
    """
    from isosne import quality

    check_one_stdin(source=source, map_file=map_file)
    drawn = read_map_file(map_file, "map_file")
    if not messages.quiet:
        note_origin(map_file, drawn)
    options = table_options.completed(drawn.provenance, map_file)
    table = open_table(source, options, resources, quiet=messages.quiet)
    chosen = find_rows(table, drawn)
    labels = drawn.labels
    if table.labels is not None:
        labels = table.labels if chosen is None else table.labels[chosen]
    recorded, p = recorded_metric(drawn.provenance)
    found = quality.report(
        read_points(table, resources, chosen),
        drawn.embedding,
        labels,
        k=k,
        metric=metric or measured_metric(table, recorded),
        p=p,
        n_queries=n_queries,
        random_state=random_state,
        n_jobs=resources.n_jobs,
    )
    if messages.json:
        print_json(found.as_dict())
    else:
        typer.echo(str(found))
