"""Maps of other programs on the command line: measured, drawn, and compared on a page."""

import re

import numpy as np
import pandas as pd
import pytest

from isosne import quality
from tests.unit.cli.conftest import COLUMNS, points_of


@pytest.fixture
def maps(wine):
    """Three maps of wine: with identifiers, with the index of a frame in front, and an array."""
    Y = np.column_stack([wine["alcohol"], wine["flavanoids"]])
    frame = pd.DataFrame(Y, columns=["UMAP1", "UMAP2"])
    frame.set_index(pd.Index(wine["bottle"], name="bottle"))[::-1].to_csv("named.csv")
    frame.to_csv("numbered.csv")
    np.save("plain.npy", Y + np.random.default_rng(0).normal(0, 2, Y.shape))
    return wine, Y


@pytest.mark.parametrize("name", ["named.csv", "numbered.csv"])
def test_a_foreign_map_is_measured_as_its_coordinates_are(maps, isosne_json, name):
    wine, Y = maps
    found = isosne_json("measure", "wine.csv", name, *COLUMNS)
    expected = quality.report(points_of(wine), Y.astype(np.float32), wine["cultivar"])
    # Distances that are equal are sorted by the order of the points, which differs.
    assert found["auc_rnx"] == pytest.approx(expected.as_dict()["auc_rnx"], rel=1e-3)


def test_notes_tell_what_was_taken_for_the_map(maps, isosne):
    found = isosne("measure", "wine.csv", "named.csv", *COLUMNS)
    assert found.stderr == (
        "Note: The coordinates are the columns 'UMAP1', 'UMAP2' of named.csv; points are matched "
        "with rows by the column 'bottle'.\n"
        "Note: named.csv does not tell how it was made. Pass the options with which its table was "
        "read, such as --id and --scale, if there were any.\n"
        "Note: Column 'proline' dominates the distances: its standard deviation is 388 times that "
        "of the median column. Pass --scale minmax to give all columns the same weight.\n"
    )
    assert isosne("measure", "wine.csv", "named.csv", *COLUMNS, "-q").stderr == ""


def test_a_swapped_table_and_map_are_noticed(maps, isosne):
    found = isosne("measure", "named.csv", "wine.csv", code=1)
    assert found.stderr.endswith("named.csv looks like a map: are TABLE and MAP swapped?\n")
    found = isosne("measure", "wine.csv", "wine.csv", code=1)
    assert "swapped" not in found.stderr


def test_a_map_without_identifiers_must_have_all_rows(maps, here, isosne):
    np.save("few.npy", np.zeros((5, 2)))
    found = isosne("measure", "wine.csv", "few.npy", *COLUMNS, "-q", code=1)
    assert found.stderr == (
        "Error: A map without row identifiers must have one point for each row of the table; it "
        "has 5 points, and wine.csv has 178 rows. Pass the table that the map was made from, or "
        "add a column id to the map.\n"
    )


def test_a_report_compares_any_number_of_maps(maps, here, isosne, isosne_json):
    names = ("named.csv", "numbered.csv", "plain.npy")
    line = [word for name in names for word in ("--map", name)]
    told = isosne_json("report", "wine.csv", *COLUMNS, *line, "-o", "report.html")
    assert told == {"output": "report.html", "n_points": 178}
    page = (here / "report.html").read_text()
    for name in names:
        assert f"<th>{name}</th>" in page
    assert (
        "All maps show the same points; the others are rotated and mirrored to match the first."
    ) in page
    assert "--map named.csv --map numbered.csv --map plain.npy -o report.html" in page
    wine, Y = maps
    area = quality.compare(points_of(wine), Y.astype(np.float32)).auc()
    # The first two are one map in another order.
    for name in names[:2]:
        assert re.search(f'data-of="{name}">{area:.3f}', page)
    found = isosne("report", "wine.csv", *COLUMNS, "--map", "plain.npy", "-o", "one.html")
    assert found.stderr.endswith("Measuring 1 map\nWrote one.html: 178 rows\n")
    assert "<h2>The map</h2>" in (here / "one.html").read_text()


def test_maps_of_different_points_are_not_compared(maps, isosne):
    pd.read_csv("named.csv")[:100].to_csv("part.csv", index=False)
    line = ("--map", "named.csv", "--map", "part.csv", "-o", "report.html", "-q")
    assert isosne("report", "wine.csv", *COLUMNS, *line, code=1).stderr == (
        "Error: Maps that are compared must have the same points; part.csv has 100 points, which "
        "are not the 178 of the first map. Compare maps of the same rows.\n"
    )
