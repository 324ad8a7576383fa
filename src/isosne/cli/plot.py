"""`isosne plot`: a map as a picture, as an interactive page, or the change to further maps."""

from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from isosne.cli import options as o
from isosne.cli.files import PAGES, PICTURES, check_distinct, check_one_stdin, check_output
from isosne.cli.maps import note_origin, read_map_file, recorded_metric, titles_of
from isosne.cli.messages import say, tell
from isosne.cli.options import PICTURE, Resources, TableOptions, option
from isosne.cli.tables import (
    file_of,
    find_rows,
    is_cells,
    named,
    open_table_of,
    open_unscaled,
    read_cell_columns,
    read_columns,
    read_points,
)
from isosne.errors import DataError, ParameterError, keyword

FILMS = (".gif", ".mp4")
Style = Literal["screen", "paper", "slides", "dark"]


@dataclass(frozen=True)
class Look:
    """What a picture or a page shows besides the colored points."""

    annotate: bool
    contours: bool
    style: str
    dpi: float | None
    images: str | None
    image_shape: str | None
    hover: list[str] | None

    @property
    def resolution(self) -> float:
        """Pixels per inch."""
        usual = 300.0 if self.style == "paper" else 150.0
        return usual if self.dpi is None else self.dpi

    def check(self, *, is_page: bool) -> None:
        """Refuse what the output cannot show."""
        asked = {"annotate": self.annotate, "contours": self.contours}
        asked["style"] = self.style != "screen"
        if not is_page:
            asked = {"hover": bool(self.hover)}
        for name, is_asked in asked.items():
            if is_asked:
                here, there = ("a page", ".png") if is_page else ("a picture", ".html")
                hint = f"Write a file that ends in {there}, or leave it out."
                raise ParameterError(name, f"be left out for {here}", hint=hint)
        if self.image_shape is not None and self.images is None:
            raise ParameterError(
                "image_shape",
                f"be used together with {keyword('images')}",
                self.image_shape,
                f"Add {keyword('images')} FILE.",
            )


def plot(
    map_file: o.MapFile,
    output: Annotated[
        Path,
        o.output_option(
            "File to write: a picture (.png, .svg, .pdf), an interactive page (.html), or with "
            "--then an animation (.gif, .mp4)."
        ),
    ],
    align_to: Annotated[
        str | None,
        option(
            "Map onto which this one is laid before it is drawn: rotated, mirrored, scaled and "
            "shifted.",
            metavar="MAP",
        ),
    ] = None,
    then: Annotated[
        list[str] | None,
        option(
            "Further map, to show the change as an animation; repeat for several.", metavar="MAP"
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
    k: Annotated[int, option("Number of neighbors per point for the measures.", metavar="N")] = 10,
    kind: Annotated[
        Literal["auto", "labels", "values"],
        option("Whether colors stand for classes or for numbers."),
    ] = "auto",
    title: Annotated[str | None, option("Title.", metavar="TEXT")] = None,
    annotate: Annotated[
        bool,
        option(
            "Write the names of the classes on the map instead of a legend.",
            "--annotate",
            panel=PICTURE,
        ),
    ] = False,
    contours: Annotated[
        bool,
        option(
            "Draw lines of equal density, which enclose 95, 75, 50 and 25 % of the points.",
            "--contours",
            panel=PICTURE,
        ),
    ] = False,
    style: Annotated[
        Style,
        option(
            "Sizes, fonts and colors; paper is one column wide (89 mm) with fonts of 8 points.",
            panel=PICTURE,
        ),
    ] = "screen",
    dpi: Annotated[
        float | None,
        option(
            "Resolution in pixels per inch.",
            panel=PICTURE,
            default="150; 300 with --style paper",
            min=1,
            max=2400,
            metavar="X",
        ),
    ] = None,
    images: Annotated[
        str | None,
        option(
            "Images of the points, in the order of the rows: an array (.npy) with an image per "
            "row, or a table of pixels with --image-shape. A picture shows as many as have room, "
            "a page shows them on hover.",
            panel=PICTURE,
            metavar="FILE",
        ),
    ] = None,
    image_shape: Annotated[
        str | None,
        option(
            "Height and width of the images in pixels, and 3 for colors.",
            panel=PICTURE,
            metavar="H,W[,3]",
        ),
    ] = None,
    hover: Annotated[
        list[str] | None,
        option(
            "Column to show on hover in a page; repeat for several. Long texts are cut.",
            panel=PICTURE,
            default="all columns",
            metavar="COLUMN",
        ),
    ] = None,
    identifier: o.Id = None,
    scale: o.Scaling = None,
    columns: o.Columns = None,
    exclude: o.Exclude = None,
    missing: o.Missing = None,
    key: o.Key = None,
    n_jobs: o.NJobs = None,
    memory_limit: o.MemoryLimit = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Plot a map as a picture, an interactive page or an animation.

    Points are colored by the labels of the map, by a column of a table, or by trust. The map may be
    of any program, such as umap.csv or cells.h5ad:X_umap. With --then, an animation shows the
    change from map to map, of the rows of the last one. Options that say how a table is read
    default to what the map records.

    Example: isosne plot map.parquet -o map.png
    """
    inputs = {"map_file": file_of(map_file), "table": table, "trust": trust, "images": images}
    check_distinct({**inputs, "align_to": file_of(align_to)}, {"output": output})
    if then:
        unused = {"color": color, "table": table, "trust": trust, "align_to": align_to}
        n_points = _write_change([map_file, *then], output, unused, force=force, quiet=quiet)
        result = {"output": str(output), "n_points": n_points, "n_maps": len(then) + 1}
        sentence = f"Wrote {output}: {len(then) + 1} maps, {n_points:,} points"
        tell(result, sentence, quiet=quiet, as_json=json)
        return
    if color is not None and table is None and is_cells(map_file):
        table = map_file
    is_page = output.suffix.lower() in PAGES
    check_output(output, (*PICTURES, *PAGES), force=force)
    look = Look(annotate, contours, style, dpi, images, image_shape, hover)
    look.check(is_page=is_page)
    _check_shown(color, table, is_page=is_page)
    check_one_stdin(map_file=map_file, table=table, trust=trust, align_to=align_to)
    drawn = read_map_file(map_file, "map_file", quiet=quiet)
    _check_color(color, table, drawn)
    if align_to is not None:
        drawn = _lay_onto(drawn, read_map_file(align_to, "align_to", quiet=quiet), quiet=quiet)
    if not quiet and (table not in (None, map_file) or trust is not None):
        note_origin(map_file, drawn)
    resources = Resources(n_jobs, memory_limit)
    typed = TableOptions(
        id=identifier, scale=scale, columns=columns, exclude=exclude, missing=missing, key=key
    )
    options = typed.completed(drawn.provenance, map_file)
    shown: dict[str, Any] = {}
    other = None if color in drawn.columns else color
    if table is not None and is_cells(table):
        shown = read_cell_columns(table, drawn, typed, resources, other)
    elif table is not None:
        wanted = None if other is None or is_page else [other]
        shown = read_columns(table, drawn, options, resources, wanted)
    shown |= drawn.columns
    judged = None
    if trust is not None:
        opened = open_table_of(drawn, trust, options, resources, quiet=quiet, force=force)
        judged = _judge(opened, drawn, k, resources)
    pictures = _read_images(look, drawn, options, resources)
    label = drawn.provenance.get("table", {}).get("label")
    labels = named(drawn.labels, label)
    if is_page:
        from isosne.pages import write_page

        shown.pop(label, None)  # shown as the labels already
        page = {"columns": {"id": drawn.ids, **shown}, "labels": labels, "trust": judged}
        page |= {"hover": hover or None, "images": pictures}
        first = "trust" if judged is not None else color
        write_page(output, drawn.embedding, **page, color=first, title=title, force=force)
    else:
        from isosne.plots import plot_map, save_figure

        painted, by = (labels, None) if color is None else (shown[color], color)
        if judged is not None:
            painted, by = judged, "trust"
        looks: dict[str, Any] = {"contours": contours, "style": style, "images": pictures}
        if annotate:
            looks["annotate"] = _find_names(painted, labels, kind, len(drawn.embedding))
        axes = plot_map(drawn.embedding, painted, kind=kind, title=title or by, **looks)
        save_figure(axes, output, dpi=look.resolution, force=force)
    n_points = len(drawn.embedding)
    result = {"output": str(output), "n_points": n_points}
    tell(result, f"Wrote {output}: {n_points:,} points", quiet=quiet, as_json=json)


def _check_color(color: str | None, table: str | None, drawn: Any) -> None:
    """Refuse a color without a table, unless it is a column of the map."""
    if color is not None and table is None and color not in drawn.columns:
        raise ParameterError(
            "color",
            f"be used together with {keyword('table')}, or be a column of the map",
            color,
            f"Add {keyword('table')} FILE, the table with that column.",
        )


def _check_shown(color: str | None, table: str | None, *, is_page: bool) -> None:
    """Refuse a table whose columns a picture would not show."""
    if table is not None and color is None and not is_page:
        raise ParameterError(
            "table",
            f"be used together with {keyword('color')} for a picture",
            table,
            f"Add {keyword('color')} COLUMN, or write an .html page, which shows all columns.",
        )


def _lay_onto(drawn: Any, onto: Any, *, quiet: bool) -> Any:
    """Return a map laid onto another; rows are matched by identifiers if both maps have them."""
    from isosne import align_map

    ids = {"ids": drawn.ids, "onto_ids": onto.ids} if onto.has_ids and drawn.has_ids else {}
    aligned = align_map(drawn.embedding, onto.embedding, **ids)
    if not quiet:
        mirrored = ", mirrored" if aligned.similarity.is_mirrored else ""
        say(
            f"Aligned by {aligned.n_common:,} common points: residual "
            f"{100 * aligned.residual:.1f} % of the radius, scale "
            f"{aligned.similarity.factor:.3g}{mirrored}"
        )
    return replace(drawn, embedding=aligned.embedding)


def _judge(table: Any, drawn: Any, k: int, resources: Resources) -> Any:
    """Return the neighborhood preservation of each point."""
    from isosne.quality import compare

    points = read_points(table, resources, find_rows(table, drawn))
    how = {**recorded_metric(drawn, table), "random_state": 0, "n_jobs": resources.n_jobs}
    return compare(points, drawn.embedding, k, **how).trust()


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


def _write_change(
    maps: list[str], output: Path, unused: dict[str, Any], *, force: bool, quiet: bool
) -> int:
    """Write an animation from map to map; return the number of points of the last one.

    ``unused``: options that an animation does not take, by name; None is not given.
    """
    from isosne.plots import animate_between

    for path in maps:
        check_distinct({"map_file": file_of(path)}, {"output": output})
    check_output(output, FILMS, force=force)
    for name, value in unused.items():
        if value is not None:
            rule = f"be left out with {keyword('then')}"
            raise ParameterError(name, rule, value, "Points have the colors of the last map.")
    names = ["map_file", *("then" for _ in maps[1:])]
    drawn = [read_map_file(path, name, quiet=quiet) for path, name in zip(maps, names, strict=True)]
    last, has_ids = drawn[-1], all(each.has_ids for each in drawn)
    animate_between(
        [each.embedding for each in drawn],
        output,
        named(last.labels, last.provenance.get("table", {}).get("label")),
        ids=[each.ids for each in drawn] if has_ids else None,
        titles=titles_of(maps),
        force=force,
    )
    return len(last.embedding)


def _read_images(look: Look, drawn: Any, options: TableOptions, resources: Resources) -> Any:
    """Return the images of the points of a map, or None without images."""
    if look.images is None:
        return None
    shape = _parse_shape(look.image_shape)
    array = _open_array(look.images)
    if array is not None and array.ndim != 2:
        return _of_points(array, drawn, look.images)
    if shape is None:
        raise ParameterError(
            "image_shape",
            f"give the height and width of the images, which are rows of pixels in {look.images}",
            hint=f"Add for example {keyword('image_shape')} 28,28.",
        )
    if array is not None:
        rows = _of_points(array, drawn, look.images)
    else:
        table = open_unscaled(look.images, options, resources, quiet=True)
        rows = read_points(table, resources, find_rows(table, drawn))
    if rows.shape[1] != prod(shape):
        raise DataError(
            f"A row of {look.images} must have the pixels of an image: {prod(shape):,} for "
            f"{keyword('image_shape')} {look.image_shape}; it has {rows.shape[1]:,} columns. "
            f"Pass another shape, or leave out columns with {keyword('exclude')}."
        )
    dense = rows.toarray() if hasattr(rows, "toarray") else rows
    return dense.reshape(-1, *shape)


def _parse_shape(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    parts = text.split(",")
    is_valid = all(part.strip().isdecimal() and int(part) > 0 for part in parts)
    if not is_valid or not (len(parts) == 2 or (len(parts) == 3 and int(parts[2]) == 3)):
        raise ParameterError(
            "image_shape",
            "be height,width or height,width,3",
            text,
            "For gray images of 28 x 28 pixels, pass 28,28.",
        )
    return tuple(int(part) for part in parts)


def _open_array(source: str) -> Any:
    """Return the array of a .npy file, whose values are read when they are needed; else None."""
    import numpy as np

    path = Path(source)
    if path.suffix and not path.exists():  # without a suffix it may be a data set
        raise ParameterError("images", "be a file that exists", source, "Correct the path.")
    if path.suffix.lower() != ".npy":
        return None
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise DataError(
            f"Cannot read {source}: {error}. Save the images again with np.save."
        ) from None


def _of_points(array: Any, drawn: Any, source: str) -> Any:
    """Return the images of the points: by row number if the identifiers are row numbers."""
    n = len(drawn.embedding)
    is_numbered = "id" not in drawn.provenance.get("table", {}) and drawn.ids.dtype.kind in "iu"
    if is_numbered and drawn.ids.min() >= 0 and drawn.ids.max() < len(array):
        return array[drawn.ids]
    if len(array) == n:
        return array
    raise DataError(
        f"{source} must have one image for each point of the map; it has {len(array):,} images for "
        f"{n:,} points. Pass the images of the rows that the map was made from, in their order."
    )
