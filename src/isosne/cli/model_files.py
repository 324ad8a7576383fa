"""Model files of the command line: a model, and how the table that it was fitted on was read."""

import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

from isosne.cli.options import TableOptions
from isosne.files.table_reader import check_exists
from isosne.sources.scaled import Scale

SCALE, TABLE = "scale.npy", "table.json"
"""Members of the file beside those of the model."""


class Reading(NamedTuple):
    """How a table was read: its options, and the scale of its columns if they were scaled."""

    options: dict[str, Any]
    scale: Scale | None


def save_model(model: Any, rows: Any, options: TableOptions, path: Path) -> None:
    """Write a model with the way its rows were read; complete or not at all."""
    scale = getattr(rows, "scale", None)
    part = path.with_name(f".{path.name}.part")
    try:
        model.set_params(callback=None).save(part)
        with zipfile.ZipFile(part, "a") as archive:
            archive.writestr(TABLE, json.dumps(options.given()))
            if scale is not None:
                with archive.open(SCALE, "w") as member:
                    npy.write_array(member, np.array(scale), allow_pickle=False)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def load_model(path: Path) -> Any:
    """Return the model of a file; one that is missing is a wrong name."""
    from isosne import TSNE

    check_exists(path, "model")
    return TSNE.load(path)


def load_reading(path: Path) -> Reading:
    """Return how the table of a model was read; a model saved in Python does not say."""
    with zipfile.ZipFile(path) as archive:
        members = archive.namelist()
        options = json.loads(archive.read(TABLE)) if TABLE in members else {}
        if SCALE not in members:
            return Reading(options, None)
        with archive.open(SCALE) as member:
            return Reading(options, Scale(*npy.read_array(member, allow_pickle=False)))
