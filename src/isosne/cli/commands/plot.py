"""`isosne plot`: a map as a picture or as an interactive page."""

from pathlib import Path
from typing import Annotated, Any, Literal

from isosne.cli.cells import file_of, is_cells, read_cell_columns
from isosne.cli.messages import say
from isosne.cli.options import (
    DefaultsFrom,
    Force,
    MapFile,
    MessageOptions,
    ResourceOptions,
    TableOptions,
    option,
)
from isosne.cli.outputs import check_output, print_json
from isosne.cli.paths import check_distinct
from isosne.cli.provenance import measured_metric, recorded_metric
from isosne.cli.tables import (
    check_one_stdin,
    find_rows,
    named,
    note_origin,
    open_table,
    read_columns,
    read_points,
)
from isosne.errors import ParameterError, keyword

PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html", ".htm")


def plot(
    map_file: MapFile,
    output: Annotated[
        Path,
        option(
            "File to write: a picture (.png, .svg, .pdf) or an interactive page (.html).",
            *("--output", "-o"),
            default=False,
            metavar="FILE",
        ),
    ],
    table_options: Annotated[TableOptions, DefaultsFrom("map")],
    resources: ResourceOptions,
    messages: MessageOptions,
    color: Annotated[
        str | None,
        option(
            "Column of --table to color points by; for .h5ad files a gene or a column of obs, also "
            "of the map itself.",
            default="the labels of the map",
            metavar="COLUMN",
        ),
    ] = None,
    table: Annotated[
        str | None,
        option("Table with the column for --color; a page shows all columns.", metavar="TABLE"),
    ] = None,
    trust: Annotated[
        str | None,
        option(
            "Color points by neighborhood preservation relative to this table.", metavar="TABLE"
        ),
    ] = None,
    k: Annotated[int, option("Number of neighbors per point for --trust.", metavar="N")] = 10,
    kind: Annotated[
        Literal["auto", "labels", "values"],
        option("Whether colors stand for classes or for numbers."),
    ] = "auto",
    title: Annotated[
        str | None,
        option("Title.", default="the column that colors the points", metavar="TEXT"),
    ] = None,
    dpi: Annotated[
        float, option("Resolution in pixels per inch.", min=1, max=2400, metavar="X")
    ] = 150.0,
    force: Force = False,
) -> None:
    """Plot a map as a picture or as an interactive page.

    Points are colored by the labels of the map, by a column of a table, or by trust. The map may be
    of any program, such as umap.csv or cells.h5ad:X_umap.

    Example: isosne plot map.parquet -o map.png
    """
    from isosne.files import read_map

    inputs = {"map_file": file_of(map_file), "table": table, "trust": trust}
    check_distinct(inputs, {"output": output})
    if color is not None and table is None and is_cells(map_file):
        table = map_file
    check_output(output, (*PICTURES, *PAGES), force=force)
    _check_colors(output, color, table)
    check_one_stdin(map_file=map_file, table=table, trust=trust)
    drawn = read_map(map_file)
    if not messages.quiet and (table not in (None, map_file) or trust is not None):
        note_origin(map_file, drawn)
    options = table_options.completed(drawn.provenance, map_file)
    columns = {}
    if table is not None and is_cells(table):
        columns = read_cell_columns(table, drawn, table_options, resources, color)
    elif table is not None:
        opened = open_table(table, options.with_all_columns(), resources, quiet=True)
        wanted = None if color is None or _is_page(output) else [color]
        columns = read_columns(opened, find_rows(opened, drawn), resources, wanted)
    label = drawn.provenance.get("table", {}).get("label")
    labels = named(drawn.labels, label)
    judged = None
    if trust is not None:
        opened = open_table(trust, options, resources, quiet=messages.quiet)
        points = read_points(opened, resources, find_rows(opened, drawn))
        metric, p = recorded_metric(drawn.provenance)
        how = {"metric": measured_metric(opened, metric), "p": p}
        judged = _judge(points, drawn, k, how, resources)
    if _is_page(output):
        from isosne.pages import write_page

        columns.pop(label, None)  # shown as the labels already
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
    if messages.json:
        print_json({"output": str(output), "n_points": len(drawn.embedding)})
    elif not messages.quiet:
        say(f"Wrote {output}: {len(drawn.embedding):,} points")


def _is_page(output: Path) -> bool:
    return output.suffix.lower() in PAGES


def _judge(points: Any, drawn: Any, k: int, how: dict[str, Any], resources: ResourceOptions) -> Any:
    """Return the neighborhood preservation of each point; how: the metric and its power."""
    from isosne.quality import trust

    return trust(points, drawn.embedding, k, **how, random_state=0, n_jobs=resources.n_jobs)


def _check_colors(output: Path, color: str | None, table: str | None) -> None:
    """Refuse a color without a table, and a table whose columns a picture would not show."""
    if color is not None and table is None:
        raise ParameterError(
            "color",
            f"be used together with {keyword('table')}",
            color,
            f"Add {keyword('table')} FILE, the table with that column.",
        )
    if table is not None and color is None and not _is_page(output):
        raise ParameterError(
            "table",
            f"be used together with {keyword('color')} for a picture",
            table,
            f"Add {keyword('color')} COLUMN, or write an .html page, which shows all columns.",
        )
