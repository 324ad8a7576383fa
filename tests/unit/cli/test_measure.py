"""`isosne measure`: points of a map are found in the table by their ids."""

import numpy as np
import pytest

from isosne import quality
from isosne.files import MapWriter, read_map
from tests.unit.cli.conftest import write_csv

COLUMNS = ("--label", "cultivar", "--id", "bottle")


@pytest.fixture
def drawn(wine):
    """A map that any table of wine can be held against: two of its columns."""
    Y = np.column_stack([wine["alcohol"], wine["flavanoids"]])
    with MapWriter("map.parquet", wine["bottle"], 2, {}) as writer:
        writer.write(Y)
    return read_map("map.parquet")


def values(wine, rows=slice(None)):
    return np.column_stack([column[rows] for column in list(wine.values())[2:]])


def test_the_everyday_line(wine, drawn, isosne):
    found = isosne("measure", "wine.csv", "map.parquet", *COLUMNS)
    expected = quality.report(values(wine), drawn.embedding, wine["cultivar"])
    assert found.stdout == f"{expected}\n"
    assert found.stderr == ""


def test_one_object_for_machines(wine, drawn, isosne_json):
    found = isosne_json("measure", "wine.csv", "map.parquet", *COLUMNS, "--k", 5)
    expected = quality.report(values(wine), drawn.embedding, wine["cultivar"], k=5)
    assert found == expected.as_dict()


def test_rows_in_another_order(wine, drawn, here, isosne_json):
    order = np.random.default_rng(0).permutation(178)
    write_csv(here / "mixed.csv", {k: [v[i] for i in order] for k, v in wine.items()})
    mixed = isosne_json("measure", "mixed.csv", "map.parquet", *COLUMNS)
    assert mixed == isosne_json("measure", "wine.csv", "map.parquet", *COLUMNS)


def test_a_map_of_some_rows(wine, isosne_json):
    rows = [170, 3, 5, 100, 20, 60, 61, 90]
    with MapWriter("some.csv", [wine["bottle"][i] for i in rows], 1, {}) as writer:
        writer.write(np.arange(8.0)[:, None])
    found = isosne_json("measure", "wine.csv", "some.csv", *COLUMNS, "--k", 2)
    X = np.array(values(wine))[rows]
    labels = [wine["cultivar"][i] for i in rows]
    assert found == quality.report(X, np.arange(8.0)[:, None], labels, k=2).as_dict()


def test_a_map_remembers_its_table(wine, isosne, isosne_json):
    line = ("embed", "wine.csv", *COLUMNS, "--scale", "minmax", "--metric", "manhattan")
    isosne(*line, "-o", "map.csv", "-q")
    found = isosne_json("measure", "wine.csv", "map.csv")
    assert found["n_classes"] == 3
    assert found["metric"] == "manhattan"
    X = np.array(values(wine))
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    expected = quality.auc_rnx(X, read_map("map.csv").embedding, metric="manhattan")
    assert found["auc_rnx"] == pytest.approx(expected, abs=1e-6)


def test_labels_of_the_map_serve_where_the_table_has_none(wine, isosne_json):
    with MapWriter("map.csv", None, 2, {}, labels=wine["cultivar"]) as writer:
        writer.write(np.array(values(wine))[:, :2])
    np.save("wine.npy", values(wine))
    assert isosne_json("measure", "wine.npy", "map.csv")["n_classes"] == 3


def test_ids_of_the_map_need_a_column(wine, drawn, isosne):
    line = ("measure", "wine.csv", "map.parquet", "--exclude", "bottle", "--label", "cultivar")
    assert isosne(*line, code=2).stderr == (
        "isosne: id must name the column of wine.csv that holds the ids of the map, such as "
        "'b000'; got none. Add --id COLUMN.\n"
    )


def test_points_that_are_not_in_the_table(wine, drawn, here, isosne):
    write_csv(here / "part.csv", {name: column[:100] for name, column in wine.items()})
    assert isosne("measure", "part.csv", "map.parquet", *COLUMNS, code=1).stderr == (
        "isosne: Every point of the map must be a row of the table; 78 of 178 are not in part.csv, "
        "such as 'b100'. Pass the table that the map was made of, and the column of its ids as "
        "--id.\n"
    )


def test_a_table_is_not_a_map(wine, isosne):
    assert isosne("measure", "wine.csv", "wine.csv", *COLUMNS, code=1).stderr == (
        "isosne: A map must be a file that isosne wrote; wine.csv does not say so. "
        "Pass a map, or read the file as a table.\n"
    )


def test_what_does_not_fit_in_memory_is_refused(wine, drawn, isosne):
    line = ("measure", "wine.csv", "map.parquet", *COLUMNS, "--memory-limit", "1kB")
    assert isosne(*line, code=2).stderr == (
        "isosne: The rows must fit in memory for this; wine.csv needs 18.5 kB, and 1 kB are "
        "available. Take a part of the rows.\n"
    )


def test_a_default_that_is_given_comes_before_what_the_map_says(wine, isosne, isosne_json):
    isosne("embed", "wine.csv", *COLUMNS, "--scale", "minmax", "-o", "map.csv", "-q")
    found = isosne_json("measure", "wine.csv", "map.csv", "--scale", "none")
    expected = quality.report(values(wine), read_map("map.csv").embedding, wine["cultivar"])
    assert found == expected.as_dict()
    assert found != isosne_json("measure", "wine.csv", "map.csv")


def test_a_map_through_a_pipe(wine, drawn, here, isosne):
    piped = (here / "map.parquet").read_bytes()
    found = isosne("measure", "wine.csv", "-", *COLUMNS, input=piped)
    assert found.stdout == isosne("measure", "wine.csv", "map.parquet", *COLUMNS).stdout


def test_one_standard_input_for_two(wine, isosne):
    assert isosne("measure", "-", "-", input=b"", code=2).stderr == (
        "isosne: Standard input holds one table or map; got - more than once. Name files.\n"
    )
