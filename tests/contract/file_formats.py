"""Write a file of each kind: `python -m tests.contract.file_formats`, once per format version.

The files of a released version stay as they are, and every later version must read them.
"""

import contextlib
import csv
import json
import tempfile
from pathlib import Path

import pandas as pd
from click.testing import CliRunner

from isosne import TSNE, IsolationKernel, Landmarks, Phase, Schedule
from isosne._archive import FORMAT_VERSION
from isosne.cli.app import app
from tests.contract.digests import digest, mixed_table, points

FOLDER = Path(__file__).parents[1] / "data" / "formats"
SCHEDULE = Schedule((Phase(30, exaggeration=4.0, momentum=0.5), Phase(30)))
N_STEPS = 20  # of the run whose checkpoint is kept
X, NEW = points(40, 4), points(44, 4)[40:]
MAPS = ("map.parquet", "map.feather", "map.csv")


def frame(n):
    """Return a table with text and missing values."""
    return pd.DataFrame(mixed_table(n), columns=list("abcdef"))


MODELS = {
    "owner": (X, NEW, {}),
    "isolation": (X, NEW, {"kernel": IsolationKernel(8, n_partitions=20)}),
    "forest": (X, NEW, {"kernel": IsolationKernel(8, n_partitions=20, partition="forest")}),
    "landmarks": (X, NEW, {"landmarks": Landmarks(30), "kernel": "gaussian"}),
    "aligned": (X, NEW, {"align_to": 4 * points(40, 2), "objective": "nerv"}),
    "views": ({"a": X[:, :2], "b": X[:, 2:]}, {"a": NEW[:, :2], "b": NEW[:, 2:]}, {}),
    "table": (frame(40), frame(44)[40:], {}),
}
"""The input of each model, new rows, and parameters."""


def make(name, **parameters):
    """Return the estimator of a model, not fitted."""
    return TSNE(**{"schedule": SCHEDULE, "random_state": 0} | MODELS[name][2] | parameters)


def write_table(path):
    """Write the table of the maps."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "class", *"abcd"])
        writer.writerows([f"r{i}", "uv"[i % 2], *row] for i, row in enumerate(X))


def write(folder):
    """Write the files of this version, and what they hold."""
    folder.mkdir(parents=True)  # must be new: files of a released version stay
    held = {}
    for name, (rows, _, _) in MODELS.items():
        model = make(name).fit(rows)
        model.save(folder / f"{name}.isosne")
        held[name] = digest(model.embedding_)
    stopped = make("owner", callback=lambda state: state.iteration == N_STEPS)
    stopped.fit(X, checkpoint=folder / "checkpoint.isosne")
    held["checkpoint"] = digest(stopped.embedding_)
    with tempfile.TemporaryDirectory() as work, contextlib.chdir(work):
        write_table(Path("table.csv"))
        for name in MAPS:
            line = ["embed", "table.csv", "--label", "class", "--outliers", "-q", "-o"]
            done = CliRunner().invoke(app, [*line, str(folder / name)])
            assert done.exit_code == 0, done.output
    (folder / "held.json").write_text(json.dumps(held, indent=1) + "\n")


if __name__ == "__main__":
    write(FOLDER / str(FORMAT_VERSION))
