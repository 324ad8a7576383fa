"""Notes on columns that number the rows, and are mapped as if they were measured."""

from pathlib import Path

import numpy as np
import pytest

from tests.unit.cli.conftest import SHORT, write_csv

N = 40
RNG = np.random.default_rng(0)
PLAIN = {name: RNG.normal(size=N).round(3).tolist() for name in ("width", "height")}
SENTENCE = "Note: Column {!r} numbers the rows ({}), and is used as a feature. Pass {}."
BOTH = "--id {0} if it identifies the rows, or --exclude {0} to leave it out"


def embed(isosne, columns, *options):
    """Return the notes of `isosne embed` on a table with these columns."""
    write_csv(Path("table.csv"), columns)
    found = isosne("embed", "table.csv", *SHORT, *options, "-o", "map.csv", "--force")
    return [line for line in found.stderr.splitlines() if "numbers the rows" in line]


@pytest.mark.parametrize("options", ["", "--scale minmax", "--mixed"])
def test_a_column_that_numbers_the_rows_is_noted(here, isosne, options):
    notes = embed(isosne, {"row": list(range(1, N + 1)), **PLAIN}, *options.split())
    assert notes == [SENTENCE.format("row", "1, 2, 3, ...", BOTH.format("row"))]


@pytest.mark.parametrize(
    "options",
    ["--id row", "--exclude row", "--columns row --columns width", "--categorical row", "-q"],
)
def test_a_column_whose_role_is_declared_is_not_noted(here, isosne, options):
    assert embed(isosne, {"row": list(range(N)), **PLAIN}, *options.split()) == []


def test_with_an_identifier_another_number_is_to_be_left_out(here, isosne):
    columns = {"name": [f"n{i}" for i in range(N)], "row number": list(range(N)), **PLAIN}
    assert embed(isosne, columns, "--id", "name") == [
        SENTENCE.format("row number", "0, 1, 2, ...", "--exclude 'row number' to leave it out")
    ]
