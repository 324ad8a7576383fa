"""Read a folder of tiles: the number of rows, classes and mean values in each pixel of a level."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._archive import FORMAT_VERSION, RefusedError, reading_archive
from isosne._checks import check_count
from isosne._files import encode_json, open_regular, whole_file
from isosne._types import Array
from isosne._version import __version__
from isosne.errors import DataError, ParameterError, suggest
from isosne.tiles.bins import Bins
from isosne.tiles.grid import MOST_LEVELS, TILE, Grid, deinterleave
from isosne.tiles.tile_files import read_tile, tile_path

HEADER = "tiles.json"
UNLABELED = ""
"""The class of rows without a label."""


class TileHeader(NamedTuple):
    """What tiles show: the file tiles.json.

    ``label`` is the column of the classes, None without classes; ``classes`` their names, sorted;
    ``values`` the columns whose means are known. ``n_rows`` counts all rows, and ``n_outside``
    those outside of the square, which are in no tile.
    """

    extent: tuple[float, float, float]
    levels: int
    label: str | None
    classes: tuple[str, ...]
    values: tuple[str, ...]
    n_rows: int
    n_outside: int
    job: str
    """Hash of the job and its parts."""

    @property
    def grid(self) -> Grid:
        """The pixels of the map."""
        return Grid(*self.extent, self.levels)


class TileMap:
    """A map as tiles, from a folder that `isosne.place_files` or ``isosne place`` has written.

    Parameters
    ----------
    folder : path
        The folder.

    Attributes
    ----------
    n_rows, n_outside : int
        Number of rows, and of those outside of the square that the tiles cover.
    levels : int
        Number of levels. Level 0 has 256 x 256 pixels, and each further level twice as many along
        a side.
    extent : tuple of float
        Left, right, bottom and top of the square.
    label : str or None
        Column with the classes.
    classes : tuple of str
        Names of the classes; "" for rows without a label.
    values : tuple of str
        Columns whose means are known; "trust" is the trust of the rows.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from pathlib import Path
    >>> from isosne import TSNE, Tiles, place_files
    >>> from isosne.tiles import TileMap
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     TSNE(random_state=0).fit(X).save(folder / "model.isosne")
    ...     np.save(folder / "new.npy", X + 0.1)
    ...     tiles = Tiles(folder / "tiles", levels=2)
    ...     done = place_files(
    ...         folder / "model.isosne", folder / "new.npy", folder / "out", tiles=tiles
    ...     )
    ...     counts = TileMap(folder / "tiles").counts(level=1)
    >>> counts.shape, int(counts.sum())
    ((512, 512), 60)
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._header = header = read_tile_header(self.folder)
        left, bottom, side = header.extent
        self.extent = (left, left + side, bottom, bottom + side)
        self.levels, self.n_rows, self.n_outside = header.levels, header.n_rows, header.n_outside
        self.label, self.classes, self.values = header.label, header.classes, header.values

    def counts(self, level: int) -> NDArray[np.int64]:
        """Return the number of rows in each pixel of a level.

        Parameters
        ----------
        level : int
            The level, from 0.

        Returns
        -------
        array of int64, shape (256 * 2**level, 256 * 2**level)
            Numbers of rows; the first row of the array is the lowest of the map.
        """
        found = self._empty(level)
        for place, bins in self.tiles(level):
            np.add.at(found[place], pixels_in_tile(bins), bins["n"])
        return found

    def class_counts(self, level: int) -> NDArray[np.int64]:
        """Return the number of rows of each class in each pixel of a level.

        Parameters
        ----------
        level : int
            The level, from 0.

        Returns
        -------
        array of int64, shape (256 * 2**level, 256 * 2**level, n_classes)
            Numbers of rows.
        """
        found = self._empty(level, len(self.classes))
        for place, bins in self.tiles(level):
            found[place][(*pixels_in_tile(bins), bins["class"])] = bins["n"]
        return found

    def means(self, level: int, column: str) -> NDArray[np.float64]:
        """Return the mean of a column in each pixel of a level.

        Parameters
        ----------
        level : int
            The level, from 0.
        column : str
            One of ``values``.

        Returns
        -------
        array of float64, shape (256 * 2**level, 256 * 2**level)
            Means; NaN in pixels without a row that has a value.
        """
        if column not in self.values:
            raise ParameterError(
                "column",
                f"be one of {', '.join(map(repr, self.values)) or 'none'}",
                column,
                suggest(column, self.values, "Name the column when the tiles are made."),
            )
        c = self.values.index(column)
        sums = self._empty(level).astype(np.float64)
        n = self._empty(level)
        for place, bins in self.tiles(level):
            pixels = pixels_in_tile(bins)
            np.add.at(sums[place], pixels, bins["sum"][:, c])
            np.add.at(n[place], pixels, bins["n_values"][:, c])
        means = np.full(n.shape, np.nan)
        np.divide(sums, n, out=means, where=n > 0)
        return means

    def _empty(self, level: int, *more: int) -> NDArray[np.int64]:
        hint = f"The tiles have {self.levels} level(s)."
        check_count(level, "level", low=0, high=self.levels - 1, hint=hint)
        side = TILE << level
        return np.zeros((side, side, *more), np.int64)

    def tiles(self, level: int) -> Iterator[tuple[tuple[slice, slice], Bins]]:
        """Return an iterator over the tiles of a level that are not empty.

        Parameters
        ----------
        level : int
            The level, from 0.

        Yields
        ------
        tuple of two slices
            The rows and columns of the tile in an array of all pixels of the level.
        structured array
            Its bins: ``pixel``, ``class``, number of rows ``n``, and for each of ``values`` the
            ``sum`` and the number of rows that have one, ``n_values``.
        """
        for tile in range(4**level):
            column, row = (int(part[0]) * TILE for part in deinterleave([tile]))
            bins = read_tile(tile_path(self.folder, level, tile), len(self.values))
            if len(bins) == 0:
                continue
            yield (slice(row, row + TILE), slice(column, column + TILE)), bins

    def __repr__(self) -> str:
        return f"TileMap({str(self.folder)!r}: {self.n_rows:,} rows, {self.levels} levels)"


def pixels_in_tile(bins: Bins) -> tuple[Array, Array]:
    """Return the rows and columns of bins within their tile."""
    columns, rows = deinterleave(bins["pixel"])
    return rows, columns


def is_tile_folder(path: Any) -> bool:
    """Return whether a path is a folder of tiles, complete or not."""
    return (Path(path) / HEADER).is_file() or _is_begun(Path(path))


def _is_begun(folder: Path) -> bool:
    try:
        return "levels" in json.loads((folder / "_isosne" / "job.json").read_bytes())
    except (OSError, ValueError):
        return False


def write_tile_header(folder: Path, header: TileHeader) -> None:
    """Write the header, after all tiles."""
    about = {"isosne": "tiles", "form": FORMAT_VERSION, "version": __version__}
    with whole_file(folder / HEADER, force=True) as file:
        file.write(f"{encode_json(about | header._asdict(), indent=1)}\n".encode())


def read_tile_header(folder: Path) -> TileHeader:
    """Read and check the header."""
    path = folder / HEADER
    if not path.is_file() and _is_begun(folder):
        raise DataError(
            f"The tiles in {folder} are not complete: rows are still being placed, or the job was "
            "interrupted. Run isosne place again to complete them."
        )
    with reading_archive(path, "tiles"):
        with open_regular(path) as file:
            found = json.load(file)
        if found["isosne"] != "tiles":
            raise ValueError("it is not the header of tiles")
        if found["form"] != FORMAT_VERSION:
            raise RefusedError(
                f"{path} uses file format {found['form']}, written by isosne {found['version']}; "
                f"this version reads formats up to {FORMAT_VERSION}. Update isosne to read it."
            )
        header = TileHeader(*(_as_tuple(found[name]) for name in TileHeader._fields))
        _check_header(header)
    return header


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _check_header(header: TileHeader) -> None:
    left, bottom, side = header.extent
    numbers = np.array([left, bottom, side, header.n_rows, header.n_outside], np.float64)
    if not (np.isfinite(numbers).all() and side > 0 and 1 <= header.levels <= MOST_LEVELS):
        raise ValueError("its extent or its number of levels is not valid")
