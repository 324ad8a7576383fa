"""`isosne place --tiles` and `isosne plot` of a folder of tiles."""

import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from isosne.tiles import TileMap
from tests.unit.cli.test_place_command import folder, scaled_model  # noqa: F401  fixtures

LINE = ("place", "model.isosne", "in", "-o", "out", "--tiles", "tiles", "--label", "cultivar")
FEW = ("--levels", 2)


def test_tiles_are_written_and_drawn(folder, isosne, isosne_json):  # noqa: F811
    names = ("--keep", "bottle", "--values", "alcohol,hue", "--trust")
    assert isosne_json(*LINE, *FEW, *names)["n_outside"] == 0
    tiles = TileMap("tiles")
    assert tiles.classes == ("Barbera", "Barolo", "Grignolino")
    assert tiles.values == ("alcohol", "hue", "trust")
    assert tiles.counts(1).sum() == tiles.n_rows == 178
    told = isosne("plot", "tiles", "-o", "map.png", "--dpi", 60)
    assert told.stderr == "Wrote map.png: 178 rows\n"
    assert np.asarray(Image.open("map.png")).shape[0] == round(5.6 * 60)
    found = isosne_json("plot", "tiles", "-o", "map.html", "--color", "trust", "--title", "Wine")
    assert found == {"output": "map.html", "n_points": 178}
    assert "<title>Wine</title>" in (folder / "map.html").read_text()


def test_one_command_places_rows_and_draws_them(folder, isosne):  # noqa: F811
    isosne(*LINE, *FEW, "--picture", "map.png")
    isosne("plot", "tiles", "-o", "again.png")
    assert (folder / "map.png").read_bytes() == (folder / "again.png").read_bytes()
    isosne(*LINE, *FEW, "--picture", "map.html")  # the job is complete: only the page is drawn
    assert "<title>Map of 178 rows</title>" in (folder / "map.html").read_text()
    told = isosne(*LINE, *FEW, "--picture", "map.txt", code=2).stderr
    assert told.startswith("Error: ")
    assert told.count("\n") == 1


@pytest.mark.parametrize("option", ["--label", "--values", "--levels", "--trust", "--picture"])
def test_options_of_tiles_need_tiles(folder, isosne, option):  # noqa: F811
    value = {"--levels": [3], "--trust": []}.get(option, ["hue"])
    shown = {"--levels": " 3", "--trust": ""}.get(option, " hue")
    line = ("place", "model.isosne", "in", "-o", "out", option, *value, "-q")
    assert isosne(*line, code=2).stderr == (
        f"Error: {option} must be used together with --tiles; got {option}{shown}. "
        "Add --tiles FOLDER.\n"
    )


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (("--color", "age"), "--color must be one of 'cultivar', 'count', which the tiles of "),
        (("--table", "in/a.csv"), "--table must be left out for tiles, which hold no rows; got "),
        (("--trust", "in/a.csv"), "--trust must be left out for tiles, which hold no rows; got "),
    ],
)
def test_wrong_use_is_one_sentence(folder, isosne, option, sentence):  # noqa: F811
    isosne(*LINE, *FEW, "-q")
    told = isosne("plot", "tiles", "-o", "map.png", *option, code=2).stderr
    assert told.startswith(f"Error: {sentence}")
    assert told.count("\n") == 1


def test_dropped_rows_and_quality_are_told(folder, isosne):  # noqa: F811
    frame = pd.read_csv("in/b.csv")
    frame.loc[[3, 4], "hue"] = np.nan
    frame.to_csv("in/b.csv", index=False)
    told = isosne(*LINE, *FEW, "--missing", "drop", "--quality").stderr.splitlines()
    assert told[-2] == ("Wrote out: 176 rows in 2 files; 2 rows with missing values were left out")
    assert told[-1].startswith("Quality on 176 of 176 rows: AUC_RNX 0.")
    assert ", R_NX(10) 0." in told[-1]
    manifest = json.loads((folder / "out" / "_isosne" / "manifest.json").read_text())
    assert manifest["parts"][1]["dropped"] == [[3, 4]]
    assert manifest["quality"]["n_rows"] == 176


def test_rows_outside_are_told(folder, isosne, monkeypatch):  # noqa: F811
    monkeypatch.setattr("isosne.tiles.grid.MARGIN", -0.3)
    told = isosne(*LINE, *FEW).stderr.splitlines()[-1]
    n = TileMap("tiles").n_outside
    assert told == f"Wrote out: 178 rows in 2 files; {n} rows are outside of the tiles"
