"""Notes on columns that number the rows, and are mapped as if they were measured."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.unit.cli.conftest import SHORT, write_csv

N = 40
RNG = np.random.default_rng(0)
PLAIN = {name: RNG.normal(size=N).round(3).tolist() for name in ("width", "height")}
NUMBERS = {
    "from 0": (list(range(N)), "0, 1, 2, ..."),
    "from 1": (list(range(1, N + 1)), "1, 2, 3, ..."),
    "from elsewhere": (list(range(70_001, 70_001 + N)), "70001, 70002, 70003, ..."),
    "as decimals": ([float(i) for i in range(N)], "0, 1, 2, ..."),
}
ORDINARY = {
    "counts": RNG.integers(0, 9, N).tolist(),
    "a permutation": RNG.permutation(N).tolist(),
    "even numbers": list(range(0, 2 * N, 2)),
    "descending": list(range(N, 0, -1)),
    "steps with a gap": [*range(20), *range(21, N + 1)],
    "equal steps that are no integers": [i + 0.5 for i in range(N)],
    "constant": [1] * N,
    "repeated": [i // 2 for i in range(N)],
    "yes and no": [i % 2 for i in range(N)],
}
SENTENCE = "Note: Column {!r} numbers the rows ({}), and is used as a feature. Pass {}."
BOTH = "--id {0} if it identifies the rows, or --exclude {0} to leave it out"


def embed(isosne, columns, *options):
    """Return the notes of `isosne embed` on a table with these columns."""
    write_csv(Path("table.csv"), columns)
    found = isosne("embed", "table.csv", *SHORT, *options, "-o", "map.csv", "--force")
    return [line for line in found.stderr.splitlines() if "numbers the rows" in line]


@pytest.mark.parametrize("case", NUMBERS)
@pytest.mark.parametrize("options", [(), ("--scale", "minmax"), ("--mixed",)], ids=" ".join)
def test_a_column_that_numbers_the_rows_is_noted(here, isosne, case, options):
    values, shown = NUMBERS[case]
    notes = embed(isosne, {"row": values, **PLAIN}, *options)
    assert notes == [SENTENCE.format("row", shown, BOTH.format("row"))]


@pytest.mark.parametrize("case", ORDINARY)
def test_ordinary_integers_are_not_noted(here, isosne, case):
    assert embed(isosne, {"value": ORDINARY[case], **PLAIN}) == []


@pytest.mark.parametrize(
    "options",
    [
        ("--id", "row"),
        ("--exclude", "row"),
        ("--columns", "row", "--columns", "width"),
        ("--mixed", "--categorical", "row"),
        ("-q",),
    ],
    ids=" ".join,
)
def test_a_column_whose_role_is_declared_is_not_noted(here, isosne, options):
    assert embed(isosne, {"row": list(range(N)), **PLAIN}, *options) == []


def test_with_an_identifier_another_number_is_to_be_left_out(here, isosne):
    columns = {"name": [f"n{i}" for i in range(N)], "row number": list(range(N)), **PLAIN}
    assert embed(isosne, columns, "--id", "name") == [
        SENTENCE.format("row number", "0, 1, 2, ...", "--exclude 'row number' to leave it out")
    ]


def test_few_rows_may_be_in_order_by_chance(here, isosne):
    columns = {name: values[:9] for name, values in {"row": list(range(N)), **PLAIN}.items()}
    assert embed(isosne, columns) == []


def test_a_column_without_a_name_is_noted_once(here, isosne):
    write_csv(Path("table.csv"), {"": list(range(N)), **PLAIN})
    found = isosne("embed", "table.csv", *SHORT, "-o", "map.csv").stderr
    assert "Columns without a name are used as features" in found
    assert "numbers the rows" not in found


def test_a_report_and_a_folder_note_it_too(here, isosne):
    (here / "parts").mkdir()
    frame = pd.DataFrame({"row": range(N), **PLAIN})
    frame.to_parquet("parts/all.parquet")
    expected = SENTENCE.format("row", "0, 1, 2, ...", BOTH.format("row"))
    found = isosne("report", "parts/all.parquet", *SHORT, "-o", "report.html")
    assert expected in found.stderr
    found = isosne("embed", "parts", *SHORT, "--landmarks", 20, "-o", "placed/")
    assert expected in found.stderr


def test_values_that_are_not_finite_are_refused_after_the_notes(here, isosne):
    columns = {"row": list(range(N)), **PLAIN, "depth": ["inf", "inf", *[1.5] * (N - 2)]}
    write_csv(Path("table.csv"), columns)
    found = isosne("embed", "table.csv", *SHORT, "-o", "map.csv", code=1).stderr.splitlines()
    assert found[0] == SENTENCE.format("row", "0, 1, 2, ...", BOTH.format("row"))
    assert found[-1].startswith("Error: Every value must be a finite number; table.csv has an inf")
