"""Place rows with tiles, and print the peak memory after few and after many parts.

`python -m tests.contract.job_memory`. The rows are computed as they are placed.
"""

import json
import resource
import sys
import tempfile
from pathlib import Path

from isosne import TSNE, Phase, Schedule, Tiles, place_files
from isosne.sources import MixtureRows
from isosne.tiles import pyramid

N_PART, FEW, MANY = 10_000, 4, 24


def place(folder, n_parts):
    """Return the peak of the process after a job of this many parts, in bytes."""
    rows = MixtureRows(n_parts * N_PART, 5)
    tiles = Tiles(folder / f"tiles-{n_parts}", label="label", values=["x0"], levels=3)
    where = folder / "model.isosne", rows_by_name(rows), folder / f"out-{n_parts}"
    done = place_files(*where, tiles=tiles, n_jobs=1)
    assert done.n_rows == n_parts * N_PART
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def rows_by_name(rows):
    """Parts that offer their first column as a value, too."""
    parts = rows.split(N_PART)
    for part in parts.values():
        part.side["x0"] = lambda part=part: part.read(slice(0, N_PART))[:, 0]
    return parts


def main():
    pyramid.HELD_BINS = 20_000  # so that few parts exceed it, too
    few = Schedule((Phase(12, exaggeration=4), Phase(12)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = TSNE(random_state=0, schedule=few, n_jobs=1).fit(
            MixtureRows(600, 5).read(slice(0, 600))
        )
        model.save(folder / "model.isosne")
        sys.stdout.write(json.dumps([place(folder, FEW), place(folder, MANY)]))


if __name__ == "__main__":
    main()
