"""Place the rows of a part and write the result, whose rows have the order of the part."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isosne.files.provenance_json import encode_provenance
from isosne.files.sinks import AXES, Layout
from isosne.jobs.part_rows import PartReader
from isosne.jobs.part_writer import PartWriter
from isosne.jobs.parts import Part, Result
from isosne.sources.row_source import Indices
from isosne.tsne.estimator import TSNE


class PartPlacer(NamedTuple):
    """Places parts on the map of a model.

    ``keep`` are the columns to copy, and ``about`` is the provenance of all results.
    """

    model: TSNE
    reader: PartReader
    keep: tuple[str, ...]
    about: dict[str, Any]

    def place(self, part: Part, target: Path, renew: Callable[[], None]) -> Result:
        """Write the result of a part; `renew` is called after each block of rows."""
        n_components = self.model.embedding_.shape[1]
        line = encode_provenance(self.about | {"part": part.name})
        writer = PartWriter(target, Layout(self.keep, AXES[:n_components], line))
        try:
            rows, columns, dropped = self.reader.open(part, dict.fromkeys(self.keep, "keep"))
            if rows is None:
                writer.write(columns.next(0), np.empty((0, n_components), np.float32))
            else:
                for Y in self.model.place_blocks(rows):
                    writer.write(columns.next(len(Y)), Y)
                    renew()
            return writer.finish(_note_dropped(dropped))
        finally:
            writer.discard()


def _note_dropped(dropped: Indices) -> dict[str, Any]:
    """Return the number of dropped rows, and the first and last row of each run of them."""
    if len(dropped) == 0:
        return {}
    runs = np.split(dropped, np.flatnonzero(np.diff(dropped) > 1) + 1)
    return {"n_dropped": len(dropped), "dropped": [[int(run[0]), int(run[-1])] for run in runs]}
