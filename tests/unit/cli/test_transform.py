"""`isosne transform`: new rows on an existing map."""

import hashlib
import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isosne import TSNE
from isosne.files import read_map, read_table
from isosne.files.table_reader import with_roles
from tests.conftest import make
from tests.unit.cli.conftest import COLUMNS, write_csv


def test_the_everyday_lines(model, here, isosne):
    wine = model()
    write_csv(here / "new.csv", {name: values[:20] for name, values in list(wine.items())[2:]})
    found = isosne("transform", "model.isosne", "new.csv", "-o", "new_map.csv")
    assert found.stderr.endswith("placing row 20 of 20  0 s left\nWrote new_map.csv: 20 rows\n")
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
        "Error: --scale must be standard, as in the model; got --scale minmax. "
        "Leave out --scale: rows are scaled like those of the model.\n"
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
    assert "Note" not in found.stderr
    assert placed.provenance["table"]["id"] == "bottle"


def test_a_table_without_the_ids_of_the_model_is_placed_with_a_note(model, here, isosne):
    wine = model()
    write_csv(here / "new.csv", {n: v for n, v in wine.items() if n != "bottle"})
    found = isosne("transform", "model.isosne", "new.csv", "-o", "new_map.csv")
    table = read_table("new.csv", columns=list(wine)[2:])
    (note,) = with_roles(table, id="bottle").notes
    assert "'bottle'" in note
    assert found.stderr.startswith(f"Note: {note}\n")
    placed = read_map("new_map.csv")
    assert placed.ids.tolist() == list(range(178))
    assert placed.labels.tolist() == wine["cultivar"]
    assert "id" not in placed.provenance["table"]


def test_ids_that_repeat_in_another_table_are_left_out(model, here, isosne):
    wine = model()
    write_csv(here / "twice.csv", {n: [*v[:5], *v[:5]] for n, v in wine.items()})
    found = isosne("transform", "model.isosne", "twice.csv", "-o", "new_map.csv")
    table = read_table("twice.csv", columns=list(wine)[2:])
    (note,) = with_roles(table, id="bottle").notes
    assert found.stderr.startswith(f"Note: {note}\n")
    assert read_map("new_map.csv").ids.tolist() == list(range(10))


def test_missing_values_are_treated_as_at_fit(model, here, isosne):
    wine = model("--missing", "drop")
    few = {name: list(values[:9]) for name, values in wine.items()}
    few["hue"][4] = ""
    write_csv(here / "few.csv", few)
    isosne("transform", "model.isosne", "few.csv", "-o", "few_map.csv", "-q")
    assert read_map("few_map.csv").ids.tolist() == few["bottle"][:4] + few["bottle"][5:]


@pytest.mark.parametrize("scale", ["none", "minmax", "standard"])
def test_rows_of_the_table_get_the_coordinates_that_they_have_on_the_map(model, isosne, scale):
    model("--scale", scale)
    isosne("transform", "model.isosne", "wine.csv", "-o", "again.csv", "-q")
    placed, drawn = read_map("again.csv"), read_map("map.csv")
    assert placed.ids.tolist() == drawn.ids.tolist()
    assert np.array_equal(placed.embedding, drawn.embedding)


@pytest.mark.parametrize("scale", ["none", "minmax", "standard"])
def test_a_model_transforms_unscaled_rows_in_python_too(model, scale):
    wine = model("--scale", scale)
    features = pd.DataFrame(wine).drop(columns=["bottle", "cultivar"])
    found = TSNE.load("model.isosne").transform(features)
    assert np.array_equal(found, read_map("map.csv").embedding)


def save_earlier_model(points, **members):
    """Save a model as the first version did: how the table was read is appended to the file."""
    make().fit(points).save("model.isosne")
    with zipfile.ZipFile("model.isosne", "a") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)


def as_npy(array):
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


@pytest.fixture
def points(here):
    points = np.random.default_rng(0).normal(size=(30, 3))
    np.save("x.npy", points)
    np.save("scaled.npy", (points - 1) * 2)
    return points


def test_a_model_of_the_first_version_scales_its_rows(points, isosne):
    scale = np.array([[1.0] * 3, [2.0] * 3])
    save_earlier_model((points - 1) * 2, scale_npy=as_npy(scale), table_json='{"missing": "drop"}')
    isosne("transform", "model.isosne", "x.npy", "-o", "map.npy", "-q")
    np.testing.assert_array_equal(np.load("map.npy"), TSNE.load("model.isosne").embedding_)


RECORD = (
    "the record of how its table was read is damaged, or of another version of isosne. "
    "Make it again with this version."
)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        (
            {"scale_npy": as_npy(np.ones((2, 2)))},
            (
                "the file is damaged or not written by isosne (scale.npy must be float64 of shape "
                "2 x 3; it is float64 of shape (2, 2)). Choose another file; this one was not "
                "modified."
            ),
        ),
        (
            {"table_json": '["missing"]'},
            RECORD,
        ),
        (
            {"table_json": '{"speed": "high"}'},
            RECORD,
        ),
    ],
    ids=["scale", "list", "unknown option"],
)
def test_what_was_appended_to_a_model_is_checked(points, isosne, members, reason):
    save_earlier_model(points, **members)
    found = isosne("transform", "model.isosne", "x.npy", "-o", "map.npy", code=1)
    what = "model.isosne" if reason is RECORD else "the model model.isosne"
    assert found.stderr == f"Error: Cannot read {what}: {reason}\n"
