"""`--missing drop`: maps of the complete rows, joined with their table again."""

import numpy as np
import pytest

from isosne import quality
from isosne.rows import read_map, read_table
from tests.unit.cli.conftest import COLUMNS, SHORT, points_of, short_tsne, write_csv

GAPS = {0: ("hue", ""), 40: ("ash", "NA"), 41: ("hue", "nan"), 177: ("alcohol", "inf")}
LOST = list(GAPS)
PLAIN = ("--exclude", "bottle", "--exclude", "cultivar", "--exclude", "note")


@pytest.fixture
def gaps(wine, here):
    """Wine with four rows that lack a value, and a column that lacks some and is no value."""
    columns = {name: list(column) for name, column in wine.items()}
    for row, (name, cell) in GAPS.items():
        columns[name][row] = cell
    columns["note"] = ["" if row % 3 else row for row in range(178)]
    write_csv(here / "gaps.csv", columns)
    return columns


@pytest.fixture
def complete(wine):
    """The points that have all their values."""
    return np.delete(points_of(wine), LOST, axis=0)


@pytest.fixture(params=[True, False], ids=["ids", "numbers"])
def a_map(request, gaps, isosne):
    """A map of the complete rows, called by their ids or by their numbers in the file."""
    roles = (*COLUMNS, "--exclude", "note") if request.param else PLAIN
    isosne("embed", "gaps.csv", *roles, *SHORT, "--missing", "drop", "-o", "map.csv", "-q")
    return request.param


def test_a_map_of_the_complete_rows(a_map, gaps, complete):
    found = read_map("map.csv")
    kept = np.delete(np.arange(178), LOST)
    expected = [gaps["bottle"][row] for row in kept] if a_map else kept.tolist()
    assert found.ids.tolist() == expected
    assert np.array_equal(found.embedding, short_tsne().fit_transform(complete))
    if a_map:
        assert found.labels.tolist() == [gaps["cultivar"][row] for row in kept]
    assert found.provenance["input"]["shape"] == [174, 13]
    assert found.provenance["table"]["missing"] == "drop"


def test_the_rows_left_out_are_counted(gaps, isosne):
    found = isosne("embed", "gaps.csv", *PLAIN, *SHORT, "--missing", "drop", "-o", "map.csv")
    table = read_table("gaps.csv", exclude=PLAIN[1::2], missing="drop")
    assert "4 of 178 rows" in table.notes[0]
    assert found.stderr.startswith(f"Note: {table.notes[0]}\n")


def test_a_map_is_measured_on_the_rows_it_shows(a_map, complete, isosne_json):
    found = isosne_json("measure", "gaps.csv", "map.csv")
    expected = quality.compare(complete, read_map("map.csv").embedding).auc()
    assert found["auc_rnx"] == pytest.approx(expected, abs=1e-6)
