"""Tiles of a job: what is counted, the count of each part, and tiles once all parts are counted."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from isosne._checks import check_count
from isosne._files import writing_to
from isosne.errors import ParameterError
from isosne.jobs.job import Renew
from isosne.jobs.job_folder import JobFolder
from isosne.jobs.landmark_trust import LandmarkTrust
from isosne.jobs.part_bins import PartBinner, check_n_classes
from isosne.jobs.part_rows import PartReader
from isosne.jobs.parts import Part, Result
from isosne.tiles.grid import MOST_LEVELS, Grid
from isosne.tiles.pyramid import PartBins, Pyramid
from isosne.tiles.tile_map import (
    HEADER,
    TileHeader,
    read_tile_header,
    write_tile_header,
)
from isosne.tsne.estimator import TSNE

TRUST = "trust"
"""Name of trust among the values."""
WORDS = {
    "version": "the version of isosne",
    "model": "the model",
    "missing": "the treatment of missing values",
    "label": "the label",
    "values": "the list of value columns",
    "trust": "the choice of trust",
    "levels": "the number of levels",
}
"""What must not change between the runs of a job, in words."""


@dataclass(frozen=True)
class Tiles:
    """What `place_files` counts for a map as tiles.

    Parameters
    ----------
    folder : path
        Folder for the tiles: new, empty, or that of an earlier call with the same parameters.
    label : str or None, default=None
        Column with the class of each row. It has at most 100 classes.
    values : list of str, default=()
        Numeric columns whose means are kept.
    trust : bool, default=False
        Whether to keep the mean trust of the rows, which is evaluated for every 16th row: the
        fraction of its ten nearest landmarks in the data that are among its ten nearest landmarks
        on the map.
    levels : int, default=5
        Number of levels, from 1 to 8. The finest has 128 * 2**levels pixels along a side: 4,096 for
        5 levels.

    Examples
    --------
    >>> from isosne import Tiles
    >>> Tiles("tiles", label="kind", values=["age"], trust=True).levels
    5
    """

    folder: str | Path
    label: str | None = None
    values: Iterable[str] = ()
    trust: bool = False
    levels: int = 5

    def checked(self) -> "Tiles":
        """Return the same with a path and a tuple; raise an error if a parameter is not valid."""
        hint = "5 gives 4,096 x 4,096 pixels."
        check_count(self.levels, "levels", low=1, high=MOST_LEVELS, hint=hint)
        names = (self.values,) if isinstance(self.values, str) else tuple(self.values)
        is_known = self.trust and TRUST in names
        if isinstance(self.values, str) or len(set(names)) < len(names) or is_known:
            raise ParameterError(
                "values",
                "be a list of different column names",
                self.values,
                "Name each column once; 'trust' is taken if trust is wanted.",
            )
        return Tiles(Path(self.folder), self.label, names, bool(self.trust), self.levels)


def as_tiles(tiles: Tiles | str | Path) -> Tiles:
    """Return a description of tiles from itself or from a folder."""
    return (tiles if isinstance(tiles, Tiles) else Tiles(tiles)).checked()


class TileStep:
    """Counts the rows of each part that was placed, and makes tiles of all of them."""

    def __init__(
        self,
        tiles: Tiles,
        model: TSNE,
        reader: PartReader,
        about: dict[str, Any],
        placed: JobFolder,
    ) -> None:
        if model.embedding_.shape[1] != 2:
            raise ParameterError(
                "tiles",
                f"be None for a map of {model.embedding_.shape[1]} dimension(s)",
                str(tiles.folder),
                "Tiles show maps of two dimensions.",
            )
        values = tuple(tiles.values)
        job = {
            **{key: about[key] for key in ("version", "model", "missing")},
            "label": tiles.label,
            "values": list(values),
            "trust": tiles.trust,
            "levels": tiles.levels,
        }
        self.folder = JobFolder(Path(tiles.folder), job, WORDS, results="bins", suffix=".bins")
        self._placed = placed
        self._names = (*values, TRUST) if tiles.trust else values
        self._binner = PartBinner(
            Grid.around(model.embedding_, tiles.levels),
            reader,
            tiles.label,
            values,
            LandmarkTrust(model) if tiles.trust else None,
        )
        self._classes: set[str] = set()

    def make(self, part: Part, renew: Renew) -> Result:
        """Count the rows of a part."""
        source, target = self._placed.result_path(part), self.folder.result_path(part)
        return self._binner.count_part(part, source, target, renew)

    def note(self, record: dict[str, Any]) -> None:
        """Take note of a part that is counted; too many classes are an error as soon as seen."""
        self._classes |= set(record["classes"])
        check_n_classes(len(self._classes), "the input")

    def finish(self, parts: list[Part], records: list[dict[str, Any]]) -> None:
        """Make the tiles, unless they are there."""
        self.folder.clean(records)
        header = self._header(records)
        output = self.folder.output
        if (output / HEADER).is_file() and read_tile_header(output) == header:
            return
        with writing_to(output / HEADER):  # a header belongs to tiles that are complete
            (output / HEADER).unlink(missing_ok=True)
        numbers = {name: c for c, name in enumerate(header.classes)}
        bins = [
            PartBins(
                self.folder.result_path(part),
                np.array([numbers[name] for name in record["classes"]] or [0], np.uint16),
            )
            for part, record in zip(parts, records, strict=True)
        ]
        Pyramid(output, self._binner.grid, len(self._names)).build(bins)
        write_tile_header(output, header)

    def _header(self, records: list[dict[str, Any]]) -> TileHeader:
        digest = sha256(repr(sorted(self.folder.about.items())).encode())
        for record in records:
            digest.update(f"{record['part']} {record['output']['sha256']}\n".encode())
        grid = self._binner.grid
        return TileHeader(
            extent=(grid.left, grid.bottom, grid.side),
            levels=grid.levels,
            label=self._binner.label,
            classes=tuple(sorted(self._classes)),
            values=self._names,
            n_rows=sum(record["n_rows"] for record in records),
            n_outside=sum(record["n_outside"] for record in records),
            job=digest.hexdigest(),
        )
