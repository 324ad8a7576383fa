"""`isosne place`: a folder of files, or a table, onto the map of a model."""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isosne import TSNE
from isosne.rows import read_map
from tests.unit.cli.conftest import write_csv


@pytest.fixture
def folder(model, here):
    """Wine in two CSV files, and a model of scaled columns."""
    frame = pd.DataFrame(model("--scale", "minmax"))
    (here / "in").mkdir()
    frame[:100].to_csv(here / "in" / "a.csv", index=False)
    frame[100:].to_csv(here / "in" / "b.csv", index=False)
    return here


LINE = ("place", "model.isosne", "in", "-o", "out", "--keep", "bottle", "--keep", "cultivar")


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


def test_the_same_command_again_places_nothing(folder, isosne, isosne_json):
    expected = {"output": "out", "n_parts": 2, "n_done": 2, "is_complete": True}
    expected |= {"n_dropped": 0}
    assert isosne_json(*LINE) == expected | {"n_placed": 2, "n_rows": 178}
    assert isosne_json(*LINE) == expected | {"n_placed": 0, "n_rows": 0}


def test_processes_share_the_files_and_the_last_draws_all_rows(folder, isosne):
    line = (*LINE, "--picture", "map.png", "--label", "cultivar")
    assert isosne(*line, "--share", "2/2").stderr.splitlines()[-1] == (
        "Wrote out: 78 rows in 1 files; 1 of 2 files are missing"
    )
    assert not (folder / "map.png").exists()
    assert isosne(*line, "--share", "1/2").stderr.splitlines()[-1] == (
        "Wrote out: 100 rows in 1 files; 1 files were there"
    )
    assert (folder / "map.png").read_bytes().startswith(b"\x89PNG")


def test_a_table_is_placed(model, here, isosne):
    wine = model()
    write_csv(here / "new.csv", {name: values[:20] for name, values in list(wine.items())[2:]})
    found = isosne("place", "model.isosne", "new.csv", "-o", "new_map.csv")
    assert found.stderr.endswith("placing row 20 of 20  0 s left\nWrote new_map.csv: 20 rows\n")
    placed = read_map("new_map.csv")
    assert placed.ids.tolist() == list(range(20))
    assert np.array_equal(placed.embedding, read_map("map.csv").embedding[:20])
    assert placed.provenance["command"] == "place"
    digest = hashlib.sha256(Path("model.isosne").read_bytes()).hexdigest()
    assert placed.provenance["model"] == {"file": "model.isosne", "sha256": digest}


def test_ids_and_labels_are_those_of_the_model(model, here, isosne):
    wine = model()
    few = {name: values[::60] for name, values in wine.items()}  # three rows of three classes
    write_csv(here / "few.csv", few)
    found = isosne("place", "model.isosne", "few.csv", "-o", "few_map.csv")
    placed = read_map("few_map.csv")
    assert placed.ids.tolist() == few["bottle"]
    assert placed.labels.tolist() == few["cultivar"]
    assert "Note" not in found.stderr
    assert placed.provenance["table"]["id"] == "bottle"


def test_missing_values_are_treated_as_at_fit(model, here, isosne):
    wine = model("--missing", "drop")
    few = {name: list(values[:9]) for name, values in wine.items()}
    few["hue"][4] = ""
    write_csv(here / "few.csv", few)
    isosne("place", "model.isosne", "few.csv", "-o", "few_map.csv", "-q")
    assert read_map("few_map.csv").ids.tolist() == few["bottle"][:4] + few["bottle"][5:]
