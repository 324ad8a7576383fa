"""`isosne measure`: how far a map can be trusted."""

from pathlib import Path

import click

from isosne.cli import options as o
from isosne.cli.files import check_one_stdin, read_map_file, recorded_metric
from isosne.cli.messages import print_json
from isosne.cli.options import Args, option
from isosne.cli.tables import find_labels, find_rows, open_table_of, read_points, refuse_map


@o.command(
    *(o.SOURCE, o.MAP_FILE, *o.TABLE, o.NEIGHBORS, o.METRIC),
    option(
        "--n-queries N",
        "Number of points to evaluate.",
        shown="all; a sample of 2,000 above 20,000",
    ),
    *(o.SEED, *o.LAST),
)
def measure(args: Args) -> None:
    """Measure how well a map preserves neighborhoods and classes.

    Points are matched with rows of the table by their identifiers. Options that say how the table
    is read, and the metric, default to what the map records.

    Example: isosne measure wine.csv map.parquet
    """
    from isosne import quality
    from isosne.studies.judged_maps import judge_report
    from isosne.studies.readings import read_first

    check_one_stdin(source=args.source, map_file=args.map_file)
    refuse_map(args.source, args.given(o.TABLE))  # before the map is read: they may be swapped
    drawn = read_map_file(args.map_file, "map_file")
    _, _, table = open_table_of([drawn], [args.map_file], args.source, args)
    chosen = find_rows(table, drawn)
    measured = quality.report(
        read_points(table, args.memory_limit, chosen),
        drawn.embedding,
        find_labels(table, drawn, chosen),
        k=args.k,
        metric=args.metric or recorded_metric(drawn, table),
        n_queries=args.n_queries,
        random_state=args.random_state,
        n_jobs=args.n_jobs,
    )
    if args.json:
        print_json(measured.as_dict())
    else:
        judged = judge_report(measured, drawn.embedding, Path(args.map_file).name)
        click.echo(f"{measured}\n{read_first([judged])}")
