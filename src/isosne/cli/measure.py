"""`isosne measure`: how far a map can be trusted."""

import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from isosne.cli import options as o
from isosne.cli.files import PIPE, check_one_stdin, read_map_file, recorded_metric
from isosne.cli.messages import print_json
from isosne.cli.options import Args, option
from isosne.cli.tables import find_labels, find_rows, open_table_of, read_points, refuse_map
from isosne.errors import DataError, IsosneError


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

    Points are matched with rows of the table by their identifiers. Options for reading the
    table, and the metric, default to what the map records.

    Example: isosne measure wine.csv map.parquet
    """
    from isosne import quality
    from isosne.studies.judged_maps import judge_report
    from isosne.studies.readings import read_first

    check_one_stdin(source=args.source, map_file=args.map_file)
    refuse_map(args.source, args.given(o.TABLE))  # before the map is read: they may be swapped
    drawn = _read_map(args.map_file, args.source)
    _, _, table = open_table_of([drawn], [args.map_file], args.source, args)
    chosen = find_rows(table, drawn)
    labels = find_labels(table, drawn, chosen)
    measured = quality.report(
        read_points(table, args.memory_limit, chosen),
        drawn.embedding,
        labels,
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
        click.echo(f"{_explain(judged, labels)}\n{textwrap.fill(read_first([judged]), 100)}")


def _read_map(map_file: str, source: str) -> Any:
    """Read a map; if it is none, and the table is one, say that they may be swapped."""
    from isosne.rows import read_map

    try:
        return read_map_file(map_file, "map_file")
    except DataError as error:
        with suppress(IsosneError):
            if source != PIPE and read_map(source):
                hint = f"{source} looks like a map: are TABLE and MAP swapped?"
                error = DataError(f"{error} {hint}")
        raise error from None


def _explain(judged: Any, labels: Any) -> str:
    """Return the measures of a map as a table: name, value, and whether the value is good."""
    import numpy as np

    from isosne.plots.paint import Classes
    from isosne.quality.inputs import is_unlabeled
    from isosne.studies.readings import read_measures

    rows, classes = judged.report.rows(), None
    if labels is not None:
        names, of_point = np.unique(labels[~is_unlabeled(labels)], return_inverse=True)
        classes = Classes(list(names), of_point)
    words = {row.measure.lower(): row.verdict for row in read_measures([judged], classes)}
    words[f"r_nx({judged.report.k})"] = words["neighbors kept"]
    width = max(len(value) for name, value in rows if name.lower().split(",")[0] in words)
    return "\n".join(
        f"{name:<25}{value:<{width}}  {words.get(name.lower().split(',')[0], '')}".rstrip()
        for name, value in rows
    )
