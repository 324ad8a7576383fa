"""`isosne measure`: points of a map are matched with rows of the table by their ids."""

import shutil

import numpy as np
import pytest

from isosne import quality
from isosne.rows import MapWriter, read_map
from tests.unit.cli.conftest import COLUMNS, SHORT, points_of, write_csv


def test_the_everyday_line(wine, isosne):
    Y = points_of(wine)[:, :2].astype(np.float32)
    with MapWriter("map.parquet", wine["bottle"], 2, {}) as writer:
        writer.write(Y)
    found = isosne("measure", "wine.csv", "map.parquet", *COLUMNS, "--columns", "ash", "-q")
    expected = quality.report(points_of(wine)[:, 2:3], Y, wine["cultivar"])
    lines = found.stdout.splitlines()
    assert [line[:33].rstrip() for line in lines[3:-2]] == str(expected).splitlines()[3:]
    assert lines[3].endswith("  Poor: hardly better than a random map.")
    assert lines[4].endswith("  Poor: few of the nearest neighbors are those in the data.")
    assert " ".join(lines[-2:]) == (
        "map.parquet: the map preserves neighborhoods poorly "
        f"(AUC_RNX {expected.auc_rnx.value:.2f}). {expected.neighbors_kept:.0%} of the 10 nearest "
        "neighbors of a point are also among its 10 nearest on the map; "
        f"{expected.coarse_kept:.0%} are among its 88 nearest there."
    )
    assert found.stderr == ""


def test_a_map_of_some_rows(wine, isosne_json):
    rows = [170, 3, 5, 100, 20, 60, 61, 90]
    with MapWriter("some.csv", [wine["bottle"][i] for i in rows], 1, {}) as writer:
        writer.write(np.arange(8.0)[:, None])
    found = isosne_json("measure", "wine.csv", "some.csv", *COLUMNS, "--k", 2)
    X = points_of(wine)[rows]
    labels = [wine["cultivar"][i] for i in rows]
    expected = quality.report(X, np.arange(8.0)[:, None], labels, k=2)
    assert found == expected.as_dict()


def test_a_map_remembers_its_table(wine, isosne, isosne_json):
    line = ("embed", "wine.csv", *COLUMNS, *SHORT, "--scale", "minmax", "--metric", "manhattan")
    isosne(*line, "-o", "map.csv", "-q")
    found = isosne_json("measure", "wine.csv", "map.csv")
    assert found["n_classes"] == 3
    assert found["metric"] == "manhattan"
    X = points_of(wine)
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    expected = quality.compare(X, read_map("map.csv").embedding, metric="manhattan").auc()
    assert found["auc_rnx"] == pytest.approx(expected, abs=1e-6)


def test_labels_of_the_map_serve_where_the_table_has_none(wine, isosne_json):
    with MapWriter("map.csv", None, 2, {}, labels=wine["cultivar"]) as writer:
        writer.write(points_of(wine)[:, :2])
    np.save("wine.npy", points_of(wine))
    assert isosne_json("measure", "wine.npy", "map.csv")["n_classes"] == 3


def test_a_default_that_is_given_comes_before_what_the_map_says(model, isosne_json):
    wine = model("--scale", "minmax")
    found = isosne_json("measure", "wine.csv", "map.csv", "--scale", "none")
    expected = quality.report(points_of(wine), read_map("map.csv").embedding, wine["cultivar"])
    assert found.items() >= expected.as_dict().items()
    assert found != isosne_json("measure", "wine.csv", "map.csv")


@pytest.mark.parametrize("record", [["id"], {"speed": "high"}], ids=str)
def test_the_record_of_a_map_is_checked(wine, isosne, record):
    with MapWriter("map.parquet", None, 2, {"table": record, "parameters": "none"}) as writer:
        writer.write(points_of(wine)[:, :2])
    assert isosne("measure", "wine.csv", "map.parquet", code=1).stderr == (
        "Error: Cannot read map.parquet: the record of how its table was read is damaged, or of "
        "another version of isosne. Make it again with this version.\n"
    )


def test_another_table_is_refused_unless_forced(wine, here, isosne):
    """Identifiers that count the rows fit any table; shape and content tell which it was."""
    bare = {name: values for name, values in wine.items() if name not in ("bottle", "cultivar")}
    write_csv(here / "bare.csv", bare)
    isosne("embed", "bare.csv", *SHORT, "--scale", "standard", "-o", "map.parquet", "-q")
    shutil.copy("bare.csv", "copy.csv")
    isosne("measure", "copy.csv", "map.parquet")
    write_csv(here / "other.csv", {name: values[::-1] for name, values in bare.items()})
    for line in (
        ("measure", "other.csv", "map.parquet"),
        ("plot", "map.parquet", "--trust", "other.csv", "-o", "map.png"),
        ("report", "other.csv", "--map", "map.parquet", "-o", "page.html"),
    ):
        assert isosne(*line, code=1).stderr.endswith(
            "Error: other.csv must be the table that the map was made from, bare.csv; its content "
            "differs. Pass that table and the options with which it was read, or --force to go "
            "on.\n"
        )
    isosne("measure", "other.csv", "map.parquet", "--force")
