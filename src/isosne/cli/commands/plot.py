"""`isosne plot`: a map as a picture or as an interactive page."""

from pathlib import Path
from typing import Annotated, Any, Literal

from isosne.cli.cells import file_of, is_cells, read_cell_columns
from isosne.cli.change import write_change
from isosne.cli.map_files import read_map_file
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
from isosne.cli.pictures import PictureOptions, read_images
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
from isosne.cli.tile_plots import (
    PAGES,
    PICTURES,
    TileLooks,
    is_tiles,
    plot_tile_folder,
    refuse_for_tiles,
)
from isosne.errors import ParameterError, keyword


def plot(
    map_file: MapFile,
    output: Annotated[
        Path,
        option(
            "File to write: a picture (.png, .svg, .pdf), an interactive page (.html), or with "
            "--then an animation (.gif, .mp4).",
            *("--output", "-o"),
            default=False,
            metavar="FILE",
        ),
    ],
    picture: PictureOptions,
    table_options: Annotated[TableOptions, DefaultsFrom("map")],
    resources: ResourceOptions,
    messages: MessageOptions,
    then: Annotated[
        list[str] | None,
        option(
            "Further map, to show the change as an animation; repeat for several.",
            metavar="MAP",
        ),
    ] = None,
    color: Annotated[
        str | None,
        option(
            "Column to color points by: of the map (cluster, outlier_score) or of --table; for "
            ".h5ad files a gene or a column of obs, also of the map itself.",
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
    force: Force = False,
) -> None:
    """Plot a map as a picture, an interactive page or an animation.

    With --then, an animation shows the change from map to map, of the rows of the last one. Points
    are colored by the labels of the map, by a column of a table, or by trust. The map may be
    of any program, such as umap.csv or cells.h5ad:X_umap, or a folder of tiles that isosne place
    --tiles has written; --color is then the label or a value column of the tiles, trust or count.

    Example: isosne plot map.parquet -o map.png
    """
    inputs = {"map_file": file_of(map_file), "table": table, "trust": trust}
    inputs["images"] = picture.images
    check_distinct(inputs, {"output": output})
    if is_tiles(map_file):
        check_output(output, (*PICTURES, *PAGES), force=force)
        refuse_for_tiles(table=table, trust=trust, then=then or None, images=picture.images)
        looks = TileLooks(color, title, picture.resolution, force)
        plot_tile_folder(map_file, output, looks, messages)
        return
    if then:
        unused = {"color": color, "table": table, "trust": trust}
        write_change([map_file, *then], output, messages, force=force, **unused)
        return
    if color is not None and table is None and is_cells(map_file):
        table = map_file
    check_output(output, (*PICTURES, *PAGES), force=force)
    _check_shown(output, color, table)
    picture.check(is_page=_is_page(output))
    check_one_stdin(map_file=map_file, table=table, trust=trust)
    drawn = read_map_file(map_file, "map_file")
    _check_color(color, table, drawn)
    if not messages.quiet and (table not in (None, map_file) or trust is not None):
        note_origin(map_file, drawn)
    options = table_options.completed(drawn.provenance, map_file)
    columns = {}
    other = None if color in drawn.columns else color
    if table is not None and is_cells(table):
        columns = read_cell_columns(table, drawn, table_options, resources, other)
    elif table is not None:
        opened = open_table(table, options.with_all_columns(), resources, quiet=True)
        wanted = None if other is None or _is_page(output) else [other]
        columns = read_columns(opened, find_rows(opened, drawn), resources, wanted)
    columns |= drawn.columns
    label = drawn.provenance.get("table", {}).get("label")
    labels = named(drawn.labels, label)
    judged = None
    if trust is not None:
        opened = open_table(trust, options, resources, quiet=messages.quiet)
        points = read_points(opened, resources, find_rows(opened, drawn))
        metric, p = recorded_metric(drawn.provenance)
        how = {"metric": measured_metric(opened, metric), "p": p}
        judged = _judge(points, drawn, k, how, resources)
    images = read_images(picture, drawn, options, resources)
    if _is_page(output):
        from isosne.pages import write_page

        columns.pop(label, None)  # shown as the labels already
        page = {"columns": {"id": drawn.ids, **columns}, "labels": labels, "trust": judged}
        page |= {"hover": picture.hover or None, "images": images}
        first = "trust" if judged is not None else color
        write_page(output, drawn.embedding, **page, color=first, title=title, force=force)
    else:
        from isosne.plots import plot_map, save_figure

        painted, by = (labels, None) if color is None else (columns[color], color)
        if judged is not None:
            painted, by = judged, "trust"
        look: dict[str, Any] = {"contours": picture.contours, "style": picture.style}
        look["images"] = images
        if picture.annotate:
            look["annotate"] = _find_names(painted, labels, kind, len(drawn.embedding))
        axes = plot_map(drawn.embedding, painted, kind=kind, title=title or by, **look)
        save_figure(axes, output, dpi=picture.resolution, force=force)
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


def _find_names(painted: Any, labels: Any, kind: str, n: int) -> Any:
    """Return what names the clusters of a picture: its colors, or the labels of the map."""
    from isosne.plots.paint import Classes, as_paint

    if painted is not None and isinstance(as_paint(painted, n, kind=kind), Classes):
        return True
    if labels is None:
        raise ParameterError(
            "annotate",
            "be used with a map that has labels, or with colors that stand for classes",
            hint=f"Embed the table with {keyword('label')} COLUMN, or add {keyword('color')}.",
        )
    return labels


def _check_color(color: str | None, table: str | None, drawn: Any) -> None:
    """Refuse a color without a table, unless it is a column of the map."""
    if color is not None and table is None and color not in drawn.columns:
        raise ParameterError(
            "color",
            f"be used together with {keyword('table')}, or be a column of the map",
            color,
            f"Add {keyword('table')} FILE, the table with that column.",
        )


def _check_shown(output: Path, color: str | None, table: str | None) -> None:
    """Refuse a table whose columns a picture would not show."""
    if table is not None and color is None and not _is_page(output):
        raise ParameterError(
            "table",
            f"be used together with {keyword('color')} for a picture",
            table,
            f"Add {keyword('color')} COLUMN, or write an .html page, which shows all columns.",
        )
