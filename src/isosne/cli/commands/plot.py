"""`isosne plot`: a map as a picture, or as a page to explore."""

from pathlib import Path
from typing import Annotated, Any

import typer

from isosne.cli.naming import named
from isosne.cli.options import Force, ResourceOptions, TableOptions, TalkOptions
from isosne.cli.outputs import check_output, print_json
from isosne.cli.tables import check_one_stdin, find_rows, open_table, read_columns, read_points
from isosne.errors import ParameterError

PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html", ".htm")


def plot(
    map_file: Annotated[
        str,
        typer.Argument(
            metavar="MAP",
            show_default=False,
            help="What isosne embed has written; - for standard input.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            show_default=False,
            help="The picture, .png, .svg or .pdf; or a page to explore, .html.",
        ),
    ],
    table_options: TableOptions,
    resources: ResourceOptions,
    talk: TalkOptions,
    color: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of --table. Without: the labels of the map."),
    ] = None,
    table: Annotated[
        str | None, typer.Option(metavar="TABLE", help="Where --color and a page's columns are.")
    ] = None,
    trust: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Color by how far each point's neighborhood is true."),
    ] = None,
    k: Annotated[int, typer.Option(help="Size of that neighborhood.")] = 10,
    kind: Annotated[str, typer.Option(help="What color means: labels, values or auto.")] = "auto",
    title: Annotated[
        str | None, typer.Option(help="Title of the picture. Without: what it is colored by.")
    ] = None,
    dpi: Annotated[float, typer.Option(min=1, max=2400, help="Pixels an inch.")] = 150.0,
    force: Force = False,
) -> None:
    """Draw a map: colored by its labels, by a column of a table, or by trust.

    Example: isosne plot map.parquet -o map.png
    """
    from isosne.files import read_map

    check_output(output, (*PICTURES, *PAGES), force=force)
    if color is not None and table is None:
        raise ParameterError(
            f"--color names a column of a table; got {color!r} without one. Add --table TABLE."
        )
    if table is not None and color is None and not _is_page(output):
        raise ParameterError(
            "--table is where a picture's --color is; got --table without it. Add --color COLUMN, "
            "or write a page (.html), which shows all columns."
        )
    check_one_stdin(map_file, table, trust)
    drawn = read_map(map_file)
    options = table_options.completed(drawn.provenance)
    columns = {}
    if table is not None:
        opened = open_table(table, options.with_all_columns(), resources, quiet=True)
        wanted = None if color is None or _is_page(output) else [color]
        columns = read_columns(opened, find_rows(opened, drawn), resources, wanted)
    label = drawn.provenance.get("table", {}).get("label")
    labels = named(drawn.labels, label)
    judged = None
    if trust is not None:
        opened = open_table(trust, options, resources, quiet=talk.quiet)
        points = read_points(opened, resources, find_rows(opened, drawn))
        judged = _judge(points, drawn, k, resources)
    if _is_page(output):
        from isosne.pages import write_page

        columns.pop(label, None)  # it is there as the labels
        page = {"columns": {"id": drawn.ids, **columns}, "labels": labels, "trust": judged}
        first = "trust" if judged is not None else color
        write_page(output, drawn.embedding, **page, color=first, title=title, force=force)
    else:
        from isosne.plots import plot_map, save_figure

        painted, by = (labels, None) if color is None else (columns[color], color)
        if judged is not None:
            painted, by = judged, "trust"
        axes = plot_map(drawn.embedding, painted, kind=kind, title=title or by)
        save_figure(axes, output, dpi=dpi, force=force)
    if talk.json:
        print_json({"output": str(output), "n_points": len(drawn.embedding)})
    elif not talk.quiet:
        what = "page" if _is_page(output) else "picture"
        typer.echo(f"The {what} of {len(drawn.embedding):,} points is in {output}.", err=True)


def _is_page(output: Path) -> bool:
    return output.suffix.lower() in PAGES


def _judge(points: Any, drawn: Any, k: int, resources: ResourceOptions) -> Any:
    """Return how far each point's neighborhood can be trusted, by the map's own metric."""
    from isosne.quality import trust

    made_with = drawn.provenance.get("parameters", {})
    return trust(
        points,
        drawn.embedding,
        k,
        metric=made_with.get("metric", "euclidean"),
        p=made_with.get("p", 2.0),
        random_state=0,
        n_jobs=resources.n_jobs,
    )
