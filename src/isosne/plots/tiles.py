"""Figures of maps as tiles: each pixel has the mean color of its rows.

The opacity of a pixel grows with the logarithm of its number of rows, as in figures of very many
points.
"""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from isosne.errors import ParameterError, suggest
from isosne.plots.embeddings import add_title, make_axes
from isosne.plots.figures import make_color_scale, strip_axes
from isosne.plots.map_axes import add_explanation
from isosne.plots.paint import NO_LABEL, Classes, Values
from isosne.plots.palette import PLAIN
from isosne.plots.raster import enlarge_isolated, full_count, opacity_of
from isosne.plots.styles import SCREEN
from isosne.tiles.bins import Bins
from isosne.tiles.grid import TILE
from isosne.tiles.tile_map import UNLABELED, TileMap, pixels_in_tile

COUNT = "count"
"""The coloring in a single color, in which only the number of rows is seen."""
FIGURE_LEVEL = 2
"""Level of a figure: 1,024 pixels along a side, at 5.6 inches about 180 per inch."""
LIMIT_LEVEL = 2
"""Level whose means give the limits of a color scale."""
LIMIT_QUANTILES = (0.01, 0.99)
"""Quantiles of the means that are the limits of a color scale, so that few extreme pixels do not
make all others equal; chosen."""


def plot_tiles(
    tiles: TileMap,
    color: str | None = None,
    *,
    level: int | None = None,
    title: str | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Plot a map that is stored as tiles.

    Parameters
    ----------
    tiles : TileMap
        The tiles, as `isosne.tiles.TileMap` reads them.
    color : str or None, default=None
        The label or a value column of the tiles, "trust", or "count" for a single color. None uses
        the label if the tiles have one, otherwise "count".
    level : int or None, default=None
        Level to draw; None draws 1,024 x 1,024 pixels, or fewer if the tiles have fewer.
    title : str or None, default=None
        Title of the figure.
    legend : bool, default=True
        Whether to add a legend or a color bar.
    ax : Axes or None, default=None
        Axes to draw on; None creates a new figure, available as ``ax.figure``.

    Returns
    -------
    Axes
        The axes drawn on.

    Notes
    -----
    The time and the memory depend on the number of pixels, not on the number of rows. Not in the
    paper.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from isosne import TSNE, Tiles, place_files
    >>> from isosne.plots import plot_tiles
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
    ...     ax = plot_tiles(TileMap(folder / "tiles"), title="60 rows")
    >>> ax.get_title()
    '60 rows'
    """
    level = min(FIGURE_LEVEL, tiles.levels - 1) if level is None else level
    shading = Shading(tiles, color)
    is_new = ax is None
    if ax is None:
        ax, _ = make_axes(2, shading.paint if legend else None, SCREEN)
    picture = enlarge_isolated(shading.picture(level))
    opacity = picture[..., 3:]
    strip_axes(ax)
    # On white, not transparent: the image is resampled to the pixels of the figure.
    ax.imshow(picture[..., :3] * opacity + 1 - opacity, extent=tiles.extent, origin="lower")
    if title is not None:
        add_title(ax, title, SCREEN, is_new=is_new)
    if legend:
        add_explanation(ax, shading.paint, tiles.n_rows, 2)
    return ax


class Level(NamedTuple):
    """The pixels of a level: for a column of values the means, without gaps."""

    number: int
    full: float
    """Number of rows from which a pixel is fully opaque."""
    means: NDArray[np.float64] | None


class Shading:
    """The colors of tiles, by label, by the means of a column, or a single color."""

    def __init__(self, tiles: TileMap, color: str | None) -> None:
        self.tiles = tiles
        self.color = _check_color(tiles, color)
        self.paint = self._make_paint()

    def picture(self, level: int) -> NDArray[np.float64]:
        """Return all pixels of a level (h, w, 4), the lowest row first."""
        side = TILE << level
        whole = np.zeros((side, side, 4))
        prepared = self.prepare(level)
        for place, bins in self.tiles.tiles(level):
            whole[place] = self.tile(prepared, place, bins)
        return whole

    def prepare(self, level: int) -> Level:
        """Return what the tiles of a level have in common."""
        counts = [_count(bins) for _, bins in self.tiles.tiles(level)]
        filled = np.concatenate([count[count > 0] for count in counts] or [np.ones(1)])
        means = self._means(level) if isinstance(self.paint, Values) else None
        return Level(level, full_count(filled), means)

    def tile(self, level: Level, place: tuple[slice, slice], bins: Bins) -> NDArray[np.float64]:
        """Return the pixels of a tile (256, 256, 4)."""
        counts = _count(bins)
        if isinstance(self.paint, Classes):
            colors = self._class_colors(bins)
        elif self.paint is not None:
            assert level.means is not None
            colors = make_color_scale(self.paint).to_rgba(level.means[place])[..., :3]
        else:
            colors = np.broadcast_to(to_rgb(PLAIN), (TILE, TILE, 3))
        return np.dstack([colors, opacity_of(counts, level.full)])

    def class_sizes(self) -> list[int]:
        """Return the number of rows of each class, in the order of the legend."""
        sizes = np.zeros(len(self.tiles.classes), np.int64)
        for _, bins in self.tiles.tiles(0):
            np.add.at(sizes, bins["class"], bins["n"])
        return [int(sizes[c]) for c in self._class_order()]

    def _make_paint(self) -> Classes | Values | None:
        tiles = self.tiles
        if self.color == COUNT:
            return None
        if self.color == tiles.label:
            order = self._class_order()
            has_rest = UNLABELED in tiles.classes
            names = [tiles.classes[c] for c in order[: len(order) - has_rest]]
            shown = [*names, *[NO_LABEL] * has_rest]
            return Classes(shown, np.empty(0, np.int64), tiles.label, has_rest)
        if self.color == "trust":
            title = "fraction of 10 landmarks preserved"
            return Values(np.empty(0), 0.0, 1.0, title, is_trust=True)
        means = tiles.means(min(LIMIT_LEVEL, tiles.levels - 1), self.color)
        known = means[np.isfinite(means)]
        low, high = np.quantile(known, LIMIT_QUANTILES).tolist() if len(known) else (0.0, 1.0)
        return Values(np.empty(0), low, high, f"mean of {self.color}")

    def _class_order(self) -> list[int]:
        """Return the classes in the order of the legend: rows without a label come last."""
        classes = self.tiles.classes
        return sorted(range(len(classes)), key=lambda c: (classes[c] == UNLABELED, c))

    def _class_colors(self, bins: Bins) -> NDArray[np.float64]:
        """Return the mean color of the rows of each pixel; unlabeled rows show only if alone."""
        assert isinstance(self.paint, Classes)
        palette = np.empty((len(self.paint.names), 3))
        palette[self._class_order()] = [to_rgb(color) for color in self.paint.colors]
        weights = bins["n"].astype(np.float64)
        if self.paint.has_rest:
            is_rest = bins["class"] == self.tiles.classes.index(UNLABELED)
            labeled = np.isin(bins["pixel"], bins["pixel"][~is_rest])
            weights[is_rest & labeled] = 0
        total = np.zeros((TILE, TILE, 1))
        colors = np.zeros((TILE, TILE, 3))
        pixels = pixels_in_tile(bins)
        np.add.at(total, pixels, weights[:, None])
        np.add.at(colors, pixels, weights[:, None] * palette[bins["class"]])
        return colors / np.maximum(total, 1)

    def _means(self, level: int) -> NDArray[np.float64]:
        """Return the means of a level; a pixel without values has the mean around it."""
        means = self.tiles.means(0, self.color)
        overall = float(np.nanmean(means)) if np.isfinite(means).any() else 0.0
        means = np.where(np.isnan(means), overall, means)
        for finer in range(1, level + 1):
            known = self.tiles.means(finer, self.color)
            means = np.where(np.isnan(known), means.repeat(2, axis=0).repeat(2, axis=1), known)
        return means


def _count(bins: Bins) -> NDArray[np.float64]:
    """Return the number of rows in each pixel of a tile."""
    counts = np.zeros((TILE, TILE))
    np.add.at(counts, pixels_in_tile(bins), bins["n"])
    return counts


def _check_color(tiles: TileMap, color: str | None) -> str:
    known: list[Any] = [*([] if tiles.label is None else [tiles.label]), *tiles.values, COUNT]
    if color is None:
        return str(known[0]) if tiles.label is not None else COUNT
    if color not in known:
        raise ParameterError(
            "color",
            f"be one of {', '.join(map(repr, known))}, which the tiles of {tiles.folder} have",
            color,
            suggest(color, known, "Make tiles with the label or the values that you want to see."),
        )
    return color
