"""Wine as a person has it, a CSV with names and text labels; and a command that runs in-process."""

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import load_wine
from typer.testing import CliRunner

from isosne.cli.app import app

CULTIVARS = ("Barolo", "Grignolino", "Barbera")


@pytest.fixture
def isosne():
    """Run a command line in this process; what it returned has exit_code, stdout and stderr."""

    def run(*arguments, code=0, **settings):
        found = CliRunner().invoke(app, [str(argument) for argument in arguments], **settings)
        assert found.exit_code == code, (found.stderr, found.exception)
        return found

    return run


@pytest.fixture
def isosne_json(isosne):
    """Run a command with --json and return the one object that it prints."""

    def run(*arguments):
        return json.loads(isosne(*arguments, "--json", "--quiet").stdout)

    return run


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in, with no data folder known."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ISOSNE_DATA", raising=False)
    monkeypatch.delenv("ISOSNE_MEMORY_LIMIT", raising=False)
    return tmp_path


@pytest.fixture
def wine(here):
    """The columns of wine.csv by name, and the file in the folder to work in."""
    data = load_wine()
    columns = {
        "bottle": [f"b{i:03}" for i in range(178)],
        "cultivar": [CULTIVARS[y] for y in data.target],
        **{name: data.data[:, c].tolist() for c, name in enumerate(data.feature_names)},
    }
    write_csv(here / "wine.csv", columns)
    return columns


@pytest.fixture
def wine_set(here, monkeypatch):
    """A data folder that holds wine under its name, as the paper's sets are held."""
    data = load_wine()
    folder = here / "sets"
    folder.mkdir()
    np.savez(folder / "wine.npz", X=data.data, y=data.target, classes=np.array(CULTIVARS))
    monkeypatch.setenv("ISOSNE_DATA", str(folder))
    return folder


def write_csv(path, columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
