"""`--missing drop`: maps of the complete rows, joined with their table again."""

import numpy as np
import pytest

from isosne import quality
from isosne.rows import read_map
from tests.unit.cli.conftest import COLUMNS, SHORT, short_tsne, write_csv

GAPS = {0: ("hue", ""), 40: ("ash", "NA"), 41: ("hue", "nan"), 177: ("alcohol", "inf")}
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


@pytest.mark.parametrize("has_ids", [True, False], ids=["ids", "numbers"])
def test_the_complete_rows_are_mapped_counted_and_measured(gaps, isosne, isosne_json, has_ids):
    roles = (*COLUMNS, "--exclude", "note") if has_ids else PLAIN
    told = isosne("embed", "gaps.csv", *roles, *SHORT, "--missing", "drop", "-o", "map.csv").stderr
    assert told.startswith("Note: Dropped 4 of 178 rows, ")
    found, kept = read_map("map.csv"), np.delete(np.arange(178), list(GAPS))
    if has_ids:
        assert found.ids.tolist() == [gaps["bottle"][row] for row in kept]
        assert found.labels.tolist() == [gaps["cultivar"][row] for row in kept]
    else:
        assert found.ids.tolist() == kept.tolist()
    complete = np.array([[gaps[name][row] for name in list(gaps)[2:-1]] for row in kept])
    assert np.array_equal(found.embedding, short_tsne().fit_transform(complete))
    assert found.provenance["input"]["shape"] == [174, 13]
    assert found.provenance["table"]["missing"] == "drop"
    expected = quality.compare(complete, found.embedding).auc()
    measured = isosne_json("measure", "gaps.csv", "map.csv")
    assert measured["auc_rnx"] == pytest.approx(expected, abs=1e-6)
