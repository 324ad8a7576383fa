"""Wine as a user has it, a CSV with column names and text labels; commands run in this process."""

import contextlib
import csv
import functools
import json
import shutil

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_wine

from isosne import TSNE, Schedule, plots
from isosne.cli.app import app

CULTIVARS = ("Barolo", "Grignolino", "Barbera")
COLUMNS = ("--label", "cultivar", "--id", "bottle")
N_SHORT = 260
SHORT = ("--n-iter", N_SHORT)
"""Steps where the quality of the map is not the claim."""


def short_tsne(*kernel, **settings):
    """The estimator of a command line with SHORT."""
    return TSNE(*kernel, schedule=Schedule.annealed(n_iter=N_SHORT), random_state=0, **settings)


def run(*arguments, code=0, **settings):
    """Run a command line in this process; the result has exit_code, stdout and stderr."""
    found = CliRunner().invoke(app, [str(argument) for argument in arguments], **settings)
    assert found.exit_code == code, (found.stderr, found.exception)
    return found


def write_csv(path, columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def points_of(columns, rows=slice(None)):
    """The features of a table of wine."""
    return np.column_stack([values[rows] for values in list(columns.values())[2:]])


@pytest.fixture
def isosne():
    return run


@pytest.fixture
def isosne_json():
    """Run a command with --json and return the one object that it prints."""

    def run_json(*arguments):
        return json.loads(run(*arguments, "--json", "--quiet").stdout)

    return run_json


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working directory, with no memory limit set."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ISOSNE_MEMORY_LIMIT", raising=False)
    return tmp_path


@pytest.fixture(scope="session")
def wine_columns():
    """The columns of wine by name, those that are no features first."""
    data = load_wine()
    return {
        "bottle": [f"b{i:03}" for i in range(178)],
        "cultivar": [CULTIVARS[y] for y in data.target],
        **{name: data.data[:, c].tolist() for c, name in enumerate(data.feature_names)},
    }


@pytest.fixture(scope="session")
def wine_file(wine_columns, tmp_path_factory):
    path = tmp_path_factory.mktemp("wine") / "wine.csv"
    write_csv(path, wine_columns)
    return path


@pytest.fixture
def wine(here, wine_columns, wine_file):
    """The columns of wine.csv by name, and the file in the working directory."""
    shutil.copy(wine_file, here)
    return wine_columns


@pytest.fixture(scope="session")
def make_model(wine_file, tmp_path_factory):
    """Embed wine with some options, once in a session; return its files: the map and the model."""

    @functools.cache
    def make(*options):
        folder = tmp_path_factory.mktemp("model")
        shutil.copy(wine_file, folder)
        with contextlib.chdir(folder):
            line = ("embed", "wine.csv", *COLUMNS, *SHORT, *options, "-q")
            run(*line, "--save-model", "model.isosne", "-o", "map.csv")
        return [folder / name for name in ("map.csv", "map.csv.json", "model.isosne")]

    return make


@pytest.fixture
def model(wine, here, make_model):
    """Put a map of wine and its model into the working directory."""

    def copy(*options):
        for path in make_model(*options):
            shutil.copy(path, here)
        return wine

    return copy


@pytest.fixture
def drawn(monkeypatch):
    """What was passed to `plot_map` and `save_figure`, picture by picture."""
    calls = []
    draw, save = plots.plot_map, plots.save_figure

    def note_map(embedding, color=None, **settings):
        calls.append({"color": color, **settings})
        return draw(embedding, color, **settings)

    def note_file(axes, path, **settings):
        calls[-1] |= settings
        return save(axes, path, **settings)

    monkeypatch.setattr(plots, "plot_map", note_map)
    monkeypatch.setattr(plots, "save_figure", note_file)
    return calls
