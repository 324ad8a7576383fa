"""`isosne place`: a folder of files onto the map of a model."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from isosne import TSNE
from isosne.jobs import place_files as place_files_module
from tests.unit.cli.conftest import COLUMNS, SHORT


@pytest.fixture(scope="session")
def scaled_model(wine_file, tmp_path_factory):
    """A model of scaled columns, made by a command."""
    from tests.unit.cli.conftest import run

    path = tmp_path_factory.mktemp("scaled") / "model.isosne"
    line = (*COLUMNS, "--scale", "minmax", *SHORT, "-q", "--save-model", path)
    run("embed", wine_file, *line, "-o", path.with_name("map.csv"))
    return path


@pytest.fixture
def folder(wine, here, scaled_model):
    """Wine in two CSV files, and the model."""
    shutil.copy(scaled_model, here / "model.isosne")
    frame = pd.DataFrame(wine)
    (here / "in").mkdir()
    frame[:100].to_csv(here / "in" / "a.csv", index=False)
    frame[100:].to_csv(here / "in" / "b.csv", index=False)
    return here


LINE = ("place", "model.isosne", "in", "-o", "out", "--keep", "bottle,cultivar")


def test_a_folder_is_placed_as_its_rows_are(folder, isosne, wine):
    found = isosne(*LINE)
    assert found.stdout == ""
    assert found.stderr.splitlines()[-1] == "Wrote out: 178 rows in 2 files"
    placed = pd.concat([pd.read_csv(f"out/{name}.csv") for name in "ab"])
    assert placed["bottle"].tolist() == wine["bottle"]
    assert placed["cultivar"].tolist() == wine["cultivar"]
    expected = TSNE.load("model.isosne").place(
        pd.DataFrame(wine).drop(columns=["bottle", "cultivar"])
    )
    np.testing.assert_array_equal(placed[["x", "y"]].to_numpy(np.float32), expected)


def test_the_same_command_again_places_nothing(folder, isosne_json):
    expected = {"output": "out", "n_parts": 2, "n_done": 2, "n_rows": 178, "is_complete": True}
    expected |= {"n_dropped": 0, "n_outside": 0, "quality": None}
    assert isosne_json(*LINE) == expected | {"n_placed": 2}
    assert isosne_json(*LINE) == expected | {"n_placed": 0}
    assert json.loads((folder / "out" / "_isosne" / "manifest.json").read_text())["n_rows"] == 178


def test_an_interruption_says_how_to_resume(folder, isosne, isosne_json, monkeypatch):
    place = place_files_module.PartPlacer.place

    def interrupted(self, part, *others):
        if part.name == "b.csv":
            raise KeyboardInterrupt
        return place(self, part, *others)

    monkeypatch.setattr(place_files_module.PartPlacer, "place", interrupted)
    assert isosne(*LINE, "-q", code=130).stderr == (
        "Interrupted after 1 of 2 files. Run the same command again to resume.\n"
    )
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert isosne_json(*LINE)["n_placed"] == 1


def test_files_that_others_are_placing_are_counted(folder, isosne):
    from isosne.jobs.claims import claimed

    isosne(*LINE)
    (folder / "out" / "b.csv").unlink()
    (folder / "out" / "_isosne" / "claims").mkdir()
    with claimed(folder / "out" / "_isosne" / "claims" / "b.csv.claim"):
        found = isosne(*LINE)
    assert found.stderr.splitlines()[-1] == (
        "Placed 0 of 2 files; other processes are placing the last 1"
    )


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        (("no.isosne", "in"), 2, "MODEL must be a file that exists; got 'no.isosne'. "),
        (("model.isosne", "inn"), 2, "INPUT must be a file that exists; got 'inn'. Did you mean "),
        (("model.isosne", "in", "--keep", "x"), 2, "--keep must name other columns than x, y, "),
        (("model.isosne", "in", "--keep", "botle"), 2, "got --keep botle. Did you mean 'bottle'?"),
        (("in/a.csv", "in"), 1, "Cannot read the model "),
    ],
)
def test_wrong_use_is_one_sentence(folder, isosne, line, code, sentence):
    found = isosne("place", *line, "-o", "out", "-q", code=code)
    assert found.stderr.startswith("Error: ")
    assert sentence in found.stderr
    assert found.stderr.count("\n") == 1


def test_another_model_is_refused(folder, isosne):
    isosne(*LINE, "-q")
    TSNE(random_state=1).fit(np.random.default_rng(0).normal(size=(60, 13))).save("other.isosne")
    found = isosne("place", "other.isosne", *LINE[2:], "-q", code=1)
    assert "the folder belongs to a different job: the model was " in found.stderr
