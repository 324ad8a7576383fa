"""A page with a map as tiles: zooming in shows finer levels."""

import os
from base64 import b64encode
from pathlib import Path
from typing import Any

from bokeh.document import Document
from bokeh.models import (
    ColumnDataSource,
    CustomJS,
    ImageURL,
    PanTool,
    Plot,
    Range1d,
    ResetTool,
    SaveTool,
    Toolbar,
    WheelZoomTool,
)
from bokeh.models.renderers import GlyphRenderer

from isosne._files import whole_file
from isosne.pages.assets import read_asset
from isosne.pages.html import render_template
from isosne.pages.page import SUFFIXES
from isosne.pages.scene import N_COLORS, Panel
from isosne.pages.table import sample_colors
from isosne.plots.figures import FRAME
from isosne.plots.image_files import check_suffix, encode_png
from isosne.plots.paint import Classes, Values
from isosne.plots.tiles import Shading
from isosne.tiles.grid import TILE
from isosne.tiles.tile_map import TileMap

CORNER: Any = "bottom_left"  # of an image; the type that Bokeh declares accepts no text
MOST_BYTES = 24_000_000
"""Size of the images of a page. Chosen: finer levels that exceed it are left out."""


def write_tile_page(
    path: str | os.PathLike[str],
    tiles: TileMap,
    color: str | None = None,
    *,
    title: str | None = None,
    force: bool = False,
) -> Path:
    """Write a map as tiles to a single HTML file, in which readers can zoom.

    Parameters
    ----------
    path : str or path
        Output file; ends in .html.
    tiles : TileMap
        The tiles, as `isosne.tiles.TileMap` reads them.
    color : str or None, default=None
        The label or a value column of the tiles, "trust", or "count" for a single color. None uses
        the label if the tiles have one, otherwise "count".
    title : str or None, default=None
        Title of the page; None: "Map of n rows".
    force : bool, default=False
        Whether to overwrite an existing file.

    Returns
    -------
    Path
        The output file.

    Notes
    -----
    The page contains the images of all levels up to 24 MB; the finest levels are left out if they
    exceed this. It opens in any browser without a network. Not in the paper.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from isosne import TSNE, Tiles, place_files
    >>> from isosne.pages import write_tile_page
    >>> from isosne.tiles import TileMap
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     (folder / "rows").mkdir()
    ...     np.save(folder / "rows" / "part.npy", X)
    ...     TSNE(landmarks=40, random_state=0).fit(X).save(folder / "model.isosne")
    ...     counted = Tiles(folder / "tiles", levels=1)
    ...     job = place_files(
    ...         folder / "model.isosne", folder / "rows", folder / "maps", tiles=counted
    ...     )
    ...     path = write_tile_page(folder / "map.html", TileMap(folder / "tiles"))
    ...     "<title>Map of 60 rows</title>" in path.read_text()
    True
    """
    target = check_suffix(path, SUFFIXES)
    scene = TileScene(Shading(tiles, color))
    page = render_template(
        "tiles.html",
        scene,
        title=title or f"Map of {tiles.n_rows:,} rows",
        legend=_describe(scene.shading),
        detail=_tell(tiles, len(scene.about["levels"])),
    )
    with whole_file(target, force=force) as file:
        file.write(page.encode())
    return target


class TileScene:
    """A figure that shows tiles, and the images that the script of the page finds there."""

    is_strip = False

    def __init__(self, shading: Shading) -> None:
        self.shading = shading
        left, right, bottom, top = shading.tiles.extent
        self.about: dict[str, Any] = {
            "left": left,
            "bottom": bottom,
            "side": right - left,
            "tile": TILE,
            "levels": _draw_levels(shading),
        }
        self._source = ColumnDataSource({"url": [], "x": [], "y": [], "side": []})
        figure = _make_figure(Range1d(start=left, end=right), Range1d(start=bottom, end=top))
        image = ImageURL(url="url", x="x", y="y", w="side", h="side", anchor=CORNER)
        figure.renderers.append(GlyphRenderer(data_source=self._source, glyph=image))
        self.panels = [Panel("", figure, 0, [])]

    def as_document(self) -> Document:
        """Return the figure as a Bokeh document with the script that shows tiles."""
        figure = self.panels[0].figure
        document = Document()
        document.add_root(figure)
        args = {"figure": figure, "source": self._source}
        scripts = (
            CustomJS(args=args, code=read_asset("tiles.js")),
            CustomJS(args={"figures": [figure]}, code=read_asset("print.js")),
        )
        document.js_on_event("document_ready", *scripts)
        return document


def _make_figure(x_range: Range1d, y_range: Range1d) -> Plot:
    wheel, pan = WheelZoomTool(), PanTool()
    toolbar = Toolbar(
        tools=[pan, wheel, ResetTool(), SaveTool(filename="map")],
        logo=None,
        active_drag=pan,
        active_scroll=wheel,
    )
    return Plot(
        name="tiles",
        x_range=x_range,
        y_range=y_range,
        toolbar=toolbar,
        toolbar_location="above",
        sizing_mode="stretch_both",
        min_border=0,
        outline_line_color=FRAME,
        title=None,
    )


def _draw_levels(shading: Shading) -> list[dict[str, str]]:
    """Return the images of each level by "column-row", as many levels as a page may have."""
    levels: list[dict[str, str]] = []
    n_bytes = 0
    for level in range(shading.tiles.levels):
        prepared, images = shading.prepare(level), {}
        for place, bins in shading.tiles.tiles(level):
            rows, columns = place
            pixels = shading.tile(prepared, place, bins)[::-1]  # the first row of an image is above
            image = b64encode(encode_png(pixels)).decode()
            images[f"{columns.start // TILE}-{rows.start // TILE}"] = image
            n_bytes += len(image)
            if n_bytes > MOST_BYTES:
                return levels
        levels.append(images)
    return levels


def _tell(tiles: TileMap, n_levels: int) -> str:
    """Return a sentence on the resolution of a page, and on what it does not show."""
    side = TILE << (n_levels - 1)
    told = f"The finest level has {side:,} x {side:,} pixels"
    if n_levels < tiles.levels:
        told += f"; the tiles have {tiles.levels - n_levels} finer level(s)"
    outside = f" {tiles.n_outside:,} rows lie outside." if tiles.n_outside else ""
    return f"{told}.{outside}"


def _describe(shading: Shading) -> dict[str, Any]:
    """Return the entries of the legend."""
    paint = shading.paint
    if isinstance(paint, Classes):
        counts = shading.class_sizes()
        entries = zip(paint.names, paint.colors, counts, strict=True)
        listed = [{"name": n, "color": c, "count": f"{k:,}"} for n, c, k in entries]
        return {"classes": listed, "scale": None}
    if isinstance(paint, Values):
        words = (" unreliable", " reliable") if paint.is_trust else ("", "")
        ends = {"low": f"{paint.low:.4g}{words[0]}", "high": f"{paint.high:.4g}{words[1]}"}
        colors = ", ".join(sample_colors(paint, N_COLORS))
        return {"classes": [], "scale": {"name": paint.title, "colors": colors, **ends}}
    return {"classes": [], "scale": None}
