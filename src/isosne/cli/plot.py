"""`isosne plot`: a map as a picture or as an interactive page."""

from dataclasses import replace
from functools import partial
from typing import Any

import click

from isosne.cli import files, tables
from isosne.cli import options as o
from isosne.cli.messages import conclude, tell
from isosne.cli.options import Args, option, refuse
from isosne.errors import DataError, ParameterError, keyword

picture_option = partial(option, panel=o.PICTURE)


@o.command(
    o.MAP_FILE,
    o.output_option("File to write: a picture (.png, .svg, .pdf) or an interactive page (.html)."),
    option(
        "--align-to MAP",
        "Rotate, mirror, scale and shift the map to match this one before drawing it.",
    ),
    option(
        "--color COLUMN",
        "Column to color by: a column of the map (such as cluster) or of --table; for .h5ad files, "
        "a gene or a column of obs.",
        shown="the labels of the map",
    ),
    option("--table TABLE", "Table with the column for --color; a page shows all its columns."),
    option(
        "--trust TABLE",
        "Color points by trust: the fraction of their neighbors in this table that the map kept.",
    ),
    o.NEIGHBORS,
    option(
        "--kind auto|labels|values",
        "Whether colors stand for classes or numbers.",
        default="auto",
    ),
    o.TITLE,
    picture_option("--annotate", "Write the names of the classes on the map instead of a legend."),
    picture_option(
        "--style screen|paper|slides|dark",
        "Sizes, fonts and colors; paper is one column wide (89 mm) with fonts of 8 points.",
        default="screen",
    ),
    picture_option(
        "--dpi X",
        "Resolution in pixels per inch.",
        type=click.FloatRange(1, 2400),
        shown="150; 300 with --style paper",
    ),
    o.IMAGES,
    picture_option(
        "--hover COLUMN",
        "Column to show on hover in a page; repeat for several. Long text is cut.",
        multiple=True,
        shown="all columns",
    ),
    *(o.ID, o.SCALE, o.COLUMNS, o.EXCLUDE, o.MISSING, o.DECIMAL, o.KEY, *o.LAST),
)
def plot(args: Args) -> None:
    """Plot a map as a picture or an interactive page.

    Points are colored by the labels of the map, by a column of a table, or by trust. The map may
    come from any program, such as umap.csv or cells.h5ad:X_umap. Options for reading a table
    default to what the map records.

    Example: isosne plot map.parquet -o map.png
    """
    paths = args.pick("table", "trust", "images")
    paths |= {"map_file": tables.file_of(args.map_file), "align_to": tables.file_of(args.align_to)}
    files.check_distinct(paths, args.pick("output"))
    is_page = args.output.suffix.lower() in files.PAGES
    files.check_output(args.output, (*files.PICTURES, *files.PAGES), force=args.force)
    _check_look(args, is_page=is_page)
    files.check_one_stdin(**args.pick("map_file", "table", "trust", "align_to"))
    drawn = files.read_map_file(args.map_file, "map_file")
    if args.align_to is not None:
        drawn = _lay_onto(drawn, files.read_map_file(args.align_to, "align_to"))
    columns, judged = _read_colors(args, drawn, is_page=is_page)
    label = drawn.recorded("table").get("label")
    labels = tables.named(drawn.labels, label)
    if is_page:
        from isosne.pages import write_page

        columns.pop(label, None)  # shown as the labels already
        page = {"columns": {"id": drawn.ids, **columns}, "labels": labels, "trust": judged}
        images = None if args.images is None else _find_images(args.images, drawn)
        page |= {"hover": list(args.hover) or None, "images": images, "title": args.title}
        first = args.color if judged is None else "trust"
        write_page(args.output, drawn.embedding, **page, color=first, force=args.force)
    else:
        from isosne.plots import plot_map, save_figure

        painted, by = (labels, None) if args.color is None else (columns[args.color], args.color)
        if judged is not None:
            painted, by = judged, "trust"
        looks = args.pick("style", "kind")
        if args.annotate:
            looks["annotate"] = _find_names(painted, labels, args.kind, len(drawn.embedding))
        axes = plot_map(drawn.embedding, painted, title=args.title or by, **looks)
        dpi = args.dpi or (300.0 if args.style == "paper" else 150.0)
        save_figure(axes, args.output, dpi=dpi, force=args.force)
    n_points = len(drawn.embedding)
    result = {"output": str(args.output), "n_points": n_points}
    conclude(result, f"Wrote {args.output}: {n_points:,} points", as_json=args.json)


def _read_colors(args: Args, drawn: Any, *, is_page: bool) -> tuple[dict[str, Any], Any]:
    """Return columns to color points by, of the map and of a table, and trust if it is chosen."""
    color, table = args.color, args.table
    if color in drawn.columns:
        color = None
    elif color is not None and table is None:
        if not tables.is_cells(args.map_file):
            rule = f"be used together with {keyword('table')}, or be a column of the map"
            hint = f"Add {keyword('table')} FILE, the table with that column."
            raise ParameterError("color", rule, color, hint)
        table = args.map_file
    options = args.given(o.TABLE)
    columns: dict[str, Any] = {}
    if table is not None and tables.is_cells(table):  # a map does not record how genes are read
        columns = tables.read_columns(table, drawn, options, args.memory_limit, color)
    elif table is not None:
        wanted = None if is_page else color
        tables.check_color_table(drawn, args.map_file, table, args)
        options = files.recorded_options(drawn, args.map_file, options)
        columns = tables.read_columns(table, drawn, options, args.memory_limit, wanted)
    judged = None if args.trust is None else _judge(args, drawn)
    return columns | drawn.columns, judged


def _check_look(args: Args, *, is_page: bool) -> None:
    """Refuse what the output would not show."""
    hint = f"Write a file that ends in {'.png' if is_page else '.html'}, or leave it out."
    if is_page:
        style = None if args.style == "screen" else args.style
        refuse("for a page", hint, annotate=args.annotate, style=style)
    else:
        refuse("for a picture", hint, **args.pick("images", "hover"))
    if args.table is not None and args.color is None and not is_page:
        rule = f"be used together with {keyword('color')} for a picture"
        hint = f"Add {keyword('color')} COLUMN, or write an .html page, which shows all columns."
        raise ParameterError("table", rule, args.table, hint)


def _lay_onto(drawn: Any, onto: Any) -> Any:
    """Return a map laid onto another; rows are matched by identifiers if both maps have them."""
    from isosne import align_map

    ids = {"ids": drawn.ids, "onto_ids": onto.ids} if onto.has_ids and drawn.has_ids else {}
    aligned = align_map(drawn.embedding, onto.embedding, **ids)
    mirrored = ", mirrored" if aligned.similarity.is_mirrored else ""
    tell(
        f"Aligned by {aligned.n_common:,} common points: residual "
        f"{100 * aligned.residual:.1f} % of the radius, scale "
        f"{aligned.similarity.factor:.3g}{mirrored}"
    )
    return replace(drawn, embedding=aligned.embedding)


def _judge(args: Args, drawn: Any) -> Any:
    from isosne.quality import compare

    _, _, table = tables.open_table_of([drawn], [args.map_file], args.trust, args)
    points = tables.read_points(table, args.memory_limit, tables.find_rows(table, drawn))
    how = {"metric": files.recorded_metric(drawn, table), "random_state": 0, "n_jobs": args.n_jobs}
    return compare(points, drawn.embedding, args.k, **how).trust()


def _find_names(painted: Any, labels: Any, kind: str, n: int) -> Any:
    """Return what names the clusters of a picture: its colors, or the labels of the map."""
    from isosne.plots.paint import Classes, as_paint

    if painted is not None and isinstance(as_paint(painted, n, kind=kind), Classes):
        return True
    if labels is None:
        rule = "be used with a map that has labels, or with colors that stand for classes"
        hint = f"Embed the table with {keyword('label')} COLUMN, or add {keyword('color')}."
        raise ParameterError("annotate", rule, hint=hint)
    return labels


def _find_images(source: str, drawn: Any) -> Any:
    """Return the images of the points: by row number if the identifiers are row numbers."""
    images = tables.read_images(source)
    n = len(drawn.embedding)
    is_numbered = "id" not in drawn.recorded("table") and drawn.ids.dtype.kind in "iu"
    if is_numbered and drawn.ids.min() >= 0 and drawn.ids.max() < len(images):
        return images[drawn.ids]
    if len(images) == n:
        return images
    raise DataError(
        f"{source} must have one image for each point of the map; it has {len(images):,} images "
        f"for {n:,} points. Pass the images of the rows that the map was made from, in their order."
    )
