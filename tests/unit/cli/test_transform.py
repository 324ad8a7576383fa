"""`isosne transform`: further rows on a finished map."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from isosne import TSNE
from isosne.files import read_map
from tests.unit.cli.conftest import write_csv

COLUMNS = ("--label", "cultivar", "--id", "bottle")


@pytest.fixture
def model(wine, isosne):
    """A model of wine, its columns scaled or not."""

    def make(*options):
        line = ("embed", "wine.csv", *COLUMNS, *options, "--save-model", "model.isosne", "-q")
        isosne(*line, "-o", "map.csv", "--force")
        return wine

    return make


def test_the_everyday_lines(model, here, isosne):
    wine = model()
    write_csv(here / "new.csv", {name: values[:20] for name, values in list(wine.items())[2:]})
    found = isosne("transform", "model.isosne", "new.csv", "-o", "new_map.csv")
    assert found.stderr.endswith("The places of 20 rows are in new_map.csv.\n")
    placed = read_map("new_map.csv")
    assert placed.ids.tolist() == list(range(20))
    assert np.array_equal(placed.embedding, read_map("map.csv").embedding[:20])
    assert placed.provenance["command"] == "transform"
    digest = hashlib.sha256(Path("model.isosne").read_bytes()).hexdigest()
    assert placed.provenance["model"] == {"file": "model.isosne", "sha256": digest}


def test_columns_are_found_by_name(model, here, isosne):
    wine = model()
    write_csv(here / "new.csv", dict(reversed(wine.items())))
    isosne("transform", "model.isosne", "new.csv", *COLUMNS, "-o", "new_map.csv", "-q")
    placed, drawn = read_map("new_map.csv"), read_map("map.csv")
    assert np.array_equal(placed.embedding, drawn.embedding)
    assert placed.labels.tolist() == drawn.labels.tolist()


def test_rows_are_scaled_as_those_of_the_model(model, here, isosne):
    wine = model("--scale", "standard")
    few = {name: values[100:130] for name, values in wine.items()}
    write_csv(here / "few.csv", few)
    isosne("transform", "model.isosne", "few.csv", "--id", "bottle", "-o", "few_map.csv", "-q")
    assert np.array_equal(read_map("few_map.csv").embedding, read_map("map.csv").embedding[100:130])
    refused = isosne(
        *("transform", "model.isosne", "few.csv", "--scale", "minmax", "-o", "x.csv"), code=2
    )
    assert refused.stderr == (
        "isosne: transform scales rows as those of the model were, which is standard; got --scale "
        "minmax. Leave it out.\n"
    )


@pytest.mark.parametrize("scale", ["none", "minmax"])
def test_a_scale_that_is_asked_for_must_be_that_of_the_model(model, isosne, scale):
    model("--scale", "minmax")
    line = ("transform", "model.isosne", "wine.csv", "--scale", scale, "-o", "new.csv", "-q")
    found = isosne(*line, code=0 if scale == "minmax" else 2)
    assert ("got --scale none" in found.stderr) == (scale == "none")


def test_ids_and_labels_are_those_of_the_model(model, here, isosne):
    wine = model()
    few = {name: values[::60] for name, values in wine.items()}  # three rows of three classes
    write_csv(here / "few.csv", few)
    found = isosne("transform", "model.isosne", "few.csv", "-o", "few_map.csv")
    placed = read_map("few_map.csv")
    assert placed.ids.tolist() == few["bottle"]
    assert placed.labels.tolist() == few["cultivar"]
    assert "note" not in found.stderr
    assert placed.provenance["table"]["id"] == "bottle"


def test_a_table_without_the_ids_of_the_model_is_placed_with_a_note(model, here, isosne):
    wine = model()
    write_csv(here / "new.csv", {n: v for n, v in wine.items() if n != "bottle"})
    found = isosne("transform", "model.isosne", "new.csv", "-o", "new_map.csv")
    note = "isosne: note: new.csv has no column 'bottle', which the model has for ids.\n"
    assert found.stderr.startswith(note)
    placed = read_map("new_map.csv")
    assert placed.ids.tolist() == list(range(178))
    assert placed.labels.tolist() == wine["cultivar"]
    assert "id" not in placed.provenance["table"]


def test_ids_that_repeat_in_another_table_are_left_out(model, here, isosne):
    wine = model()
    write_csv(here / "twice.csv", {n: [*v[:5], *v[:5]] for n, v in wine.items()})
    found = isosne("transform", "model.isosne", "twice.csv", "-o", "new_map.csv")
    assert "Column 'bottle' of twice.csv repeats values; rows are called by their" in found.stderr
    assert read_map("new_map.csv").ids.tolist() == list(range(10))


def test_missing_values_are_treated_as_at_fit(model, here, isosne):
    wine = model("--missing", "drop")
    few = {name: list(values[:9]) for name, values in wine.items()}
    few["hue"][4] = ""
    write_csv(here / "few.csv", few)
    isosne("transform", "model.isosne", "few.csv", "-o", "few_map.csv", "-q")
    assert read_map("few_map.csv").ids.tolist() == few["bottle"][:4] + few["bottle"][5:]


def test_a_model_of_a_scaled_table_is_a_model(model):
    model("--scale", "minmax")
    assert TSNE.load("model.isosne").embedding_.shape == (178, 2)


def test_a_column_that_is_missing_is_named(model, here, isosne):
    wine = dict(model())
    wine["alcohl"] = wine.pop("alcohol")
    write_csv(here / "new.csv", wine)
    found = isosne("transform", "model.isosne", "new.csv", "-o", "x.csv", code=2)
    assert found.stderr == (
        "isosne: columns must name a column of new.csv; got 'alcohol'. Did you mean 'alcohl'?\n"
    )


def test_another_number_of_columns(model, here, isosne):
    model("--scale", "minmax")
    np.save("narrow.npy", np.ones((5, 3)))
    found = isosne("transform", "model.isosne", "narrow.npy", "-o", "x.csv", code=2)
    assert found.stderr == (
        "isosne: Rows must have 13 columns, as those that the scale was taken from; narrow.npy "
        "has 3. Name the columns with --columns.\n"
    )


def test_something_else_is_no_model(wine, isosne):
    for name, code in (("wine.csv", 1), ("nothing.isosne", 2)):
        found = isosne("transform", name, "wine.csv", "-o", "x.csv", code=code)
        assert found.stderr.startswith("isosne: ")
        assert found.stderr.count("\n") == 1
