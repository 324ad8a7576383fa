"""A map and a table that meet: the table must be that of the map, unless it is forced."""

import shutil

import numpy as np
import pytest

from isosne.rows import MapWriter, read_map
from tests.unit.cli.conftest import COLUMNS, SHORT, points_of, write_csv

N = 60
RNG = np.random.default_rng(0)


def table(n_columns, shift=0.0):
    names = "abcdef"[:n_columns]
    return {"id": list(range(N)), **{c: (RNG.normal(size=N) + shift).tolist() for c in names}}


@pytest.fixture
def two(here, isosne):
    """Two tables with the same identifiers, and a map of each."""
    for name, n_columns in (("one", 3), ("two", 5)):
        write_csv(here / f"{name}.csv", table(n_columns))
        isosne("embed", f"{name}.csv", *SHORT, "-o", f"{name}.parquet", "-q")


@pytest.mark.parametrize(
    "line",
    [
        "measure one.csv two.parquet",
        "plot two.parquet --trust one.csv -o a.png",
        "plot two.parquet --table one.csv --color a -o a.png",
        "plot two.parquet --table one.csv -o a.html",
        "report one.csv --map two.parquet -o a.html",
        "report one.csv --map one.parquet --map two.parquet -o a.html",
        "explore one.csv --map two.parquet --no-browser",
    ],
)
def test_another_table_is_refused(two, isosne, line):
    assert isosne(*line.split(), "-q", code=1).stderr == (
        "Error: one.csv must be the table that the map was made from, two.csv; it has 60 rows and "
        "3 columns, not 60 rows and 5 columns. Pass that table and the options with which it was "
        "read, or --force to go on.\n"
    )


def test_a_map_of_other_columns_is_no_previous_map(two, here, isosne):
    line = ("embed", "one.csv", *SHORT, "--align-to", "two.parquet", "-o", "a.parquet", "-q")
    assert isosne(*line, code=1).stderr == (
        "Error: one.csv must be the table that the map was made from, two.csv; it has 3 columns, "
        "not 5. Pass that table and the options with which it was read, or --force to go on.\n"
    )
    isosne(*line, "--force")
    # A later version of the table has other values in the same columns.
    write_csv(here / "later.csv", table(5, shift=0.1))
    isosne("embed", "later.csv", *SHORT, "--align-to", "two.parquet", "-o", "b.parquet", "-q")


def test_a_column_that_the_map_records_must_be_there(two, here, isosne):
    write_csv(here / "bare.csv", {"x": [1.0, 2.0], "y": [3.0, 1.0]})
    assert isosne("measure", "bare.csv", "one.parquet", "-q", code=1).stderr == (
        "Error: bare.csv must be the table that the map was made from, one.csv; it has no column "
        "'id'. Pass that table and the options with which it was read, or --force to go on.\n"
    )


def test_a_damaged_record_of_the_table_is_ignored(wine, isosne):
    about = {"input": {"shape": ["many"], "fingerprint": 3}}
    with MapWriter("map.parquet", wine["bottle"], 2, about) as writer:
        writer.write(points_of(wine)[:, :2])
    isosne("measure", "wine.csv", "map.parquet", *COLUMNS, "-q")


def test_maps_are_compared_in_any_order(model, isosne):
    """A map of another program records nothing; the table is read as the other map tells."""
    model()
    np.save("foreign.npy", read_map("map.csv").embedding)
    for first, second in (("map.csv", "foreign.npy"), ("foreign.npy", "map.csv")):
        line = ("--map", first, "--map", second, "-o", "page.html", "--force", "-q")
        isosne("report", "wine.csv", *line)


def test_table_and_map_in_the_wrong_order_are_noticed(model, isosne):
    model()
    assert isosne("measure", "map.csv", "wine.csv", code=2).stderr == (
        "Error: TABLE must be a table, not a map that isosne wrote; got 'map.csv'. Name the table "
        "of the map, wine.csv. To map the coordinates themselves, pass --columns x --columns y.\n"
    )


def test_a_unique_column_id_identifies_the_rows(here, isosne, isosne_json):
    write_csv(here / "t.csv", {"ID": [f"r{i}" for i in range(N)], **table(2)} | {"id": [0] * N})
    line = ("embed", "t.csv", *SHORT, "-o", "map.parquet", "--exclude", "id")
    assert (
        "Note: Column 'ID' identifies the rows. Pass --columns to choose the features if it is one "
        "of them.\n"
    ) in isosne(*line).stderr
    drawn = read_map("map.parquet")
    assert drawn.ids[-1] == "r59"
    assert drawn.recorded("table")["id"] == "ID"
    assert isosne_json("measure", "t.csv", "map.parquet")["n_features"] == 2


def test_a_repeated_column_id_is_a_feature(here, isosne):
    write_csv(here / "t.csv", table(2) | {"id": [0, 1] * (N // 2)})
    told = isosne("embed", "t.csv", *SHORT, "-o", "map.parquet").stderr
    assert "identifies the rows" not in told
    assert read_map("map.parquet").recorded("input")["shape"] == [N, 3]


def test_a_compressed_table_with_decimal_commas(here, isosne):
    columns = table(2)
    write_csv(here / "plain.csv", columns)
    text = (here / "plain.csv").read_text().replace(",", ";").replace(".", ",")
    (here / "comma.csv").write_text(text)
    shutil.copy(here / "comma.csv", here / "copy.csv")
    line = ("embed", "comma.csv", *SHORT, "--decimal", ",", "-o", "comma.parquet")
    isosne(*line, "--save-model", "m.isosne", "-q")
    isosne("embed", "plain.csv", *SHORT, "-o", "plain.parquet", "-q")
    comma, plain = read_map("comma.parquet"), read_map("plain.parquet")
    assert comma.embedding.tobytes() == plain.embedding.tobytes()
    isosne("measure", "copy.csv", "comma.parquet", "-q")  # the map records the separator
    isosne("place", "m.isosne", "copy.csv", "-o", "placed.npy", "-q")  # and so does the model


ADVICE = {
    "embed one.csv --columns a,b -o m.csv": (
        "--columns must name a column of one.csv; got --columns a,b. Name each column on its own: "
        "--columns a --columns b."
    ),
    "embed one.csv --perplexity -3 -o m.csv": (
        "--perplexity must be 'auto' or a number from 1 to n_samples - 1 (59); got --perplexity "
        "-3. 30 is usual."
    ),
    "embed ones -o m.csv": (
        "TABLE must be a file that exists, or a data set (breast_cancer, digits, iris, wine); got "
        "'ones'. Did you mean 'one.csv'?"
    ),
    "embed one.csv --memory-limit 1e400 -o m.csv": (
        "--memory-limit must be a number of bytes or a size such as '1.5GB'; got --memory-limit "
        "1e400. Leave it out to use the memory that is free."
    ),
}


@pytest.mark.parametrize("line", ADVICE)
def test_what_to_do_instead(two, isosne, line):
    assert isosne(*line.split(), "-q", code=2).stderr == f"Error: {ADVICE[line]}\n"


def test_a_limit_that_is_too_low_is_what_the_error_names(two, isosne):
    line = ("embed", "one.csv", "--memory-limit", "20kB", "-o", "m.csv", "-q")
    told = isosne(*line, code=2).stderr
    assert told.startswith("Error: --memory-limit must be at least ")
    assert told.endswith(
        "for sparse affinities of 60 points; 20 kB is available. Map fewer of the rows with "
        "--landmarks.\n"
    )


def test_an_empty_column_is_to_be_excluded(here, isosne):
    write_csv(here / "t.csv", table(2) | {"none": [""] * N})
    line = ("embed", "t.csv", *SHORT, "-o", "m.csv", "-q")
    assert "The column has no values: leave it out." in isosne(*line, code=1).stderr


def test_a_sweep_may_try_the_automatic_value(two, isosne_json):
    found = isosne_json("sweep", "one.csv", *SHORT, "--cell-size", "auto,4", "-o", "s.csv")
    assert [row["cell_size"] for row in found["rows"]] == ["auto", 4]
