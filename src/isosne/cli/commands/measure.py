"""`isosne measure`: how far a map can be trusted."""

from typing import Annotated

import typer

from isosne.cli.options import ResourceOptions, Source, TableOptions, TalkOptions
from isosne.cli.outputs import print_json
from isosne.cli.tables import check_one_stdin, find_rows, open_table, read_points


def measure(
    source: Source,
    map_file: Annotated[
        str,
        typer.Argument(
            metavar="MAP",
            show_default=False,
            help="What isosne embed has written; - for standard input.",
        ),
    ],
    table_options: TableOptions,
    resources: ResourceOptions,
    talk: TalkOptions,
    k: Annotated[int, typer.Option(help="Size of a neighborhood.")] = 10,
    metric: Annotated[
        str | None, typer.Option(help="Distance in the data. Without: that of the map.")
    ] = None,
    n_queries: Annotated[
        int | None, typer.Option(help="Points to ask. Without: all, 2000 of more than 20000.")
    ] = None,
    random_state: Annotated[int, typer.Option(min=0, help="Seed of the sample.")] = 0,
) -> None:
    """Measure how well a map keeps neighborhoods, and separates classes.

    Points are found in the table by their ids. The map knows which columns it was made of; options
    that are given here come first.

    Example: isosne measure wine.csv map.parquet --label cultivar --id bottle
    """
    from isosne import quality
    from isosne.files import read_map

    check_one_stdin(source, map_file)
    drawn = read_map(map_file)
    options = table_options.completed(drawn.provenance)
    table = open_table(source, options, resources, quiet=talk.quiet)
    chosen = find_rows(table, drawn)
    labels = drawn.labels
    if table.labels is not None:
        labels = table.labels if chosen is None else table.labels[chosen]
    made_with = drawn.provenance.get("parameters", {})
    found = quality.report(
        read_points(table, resources, chosen),
        drawn.embedding,
        labels,
        k=k,
        metric=metric or made_with.get("metric", "euclidean"),
        p=made_with.get("p", 2.0),
        n_queries=n_queries,
        random_state=random_state,
        n_jobs=resources.n_jobs,
    )
    if talk.json:
        print_json(found.as_dict())
    else:
        typer.echo(str(found))
