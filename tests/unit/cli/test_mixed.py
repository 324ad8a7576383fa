"""`--mixed`: tables with text, dates and missing values, from the file to a report."""

import numpy as np
import pytest

from isosne import quality
from isosne.rows import read_map
from isosne.tables import gower_points
from tests.unit.cli.conftest import SHORT, short_tsne, write_csv
from tests.unit.tables.tables import N, as_pandas, mixed_columns

ROLES = ("--id", "name", "--label", "group")
NOTE = (
    "Columns: seen date, 7 missing; is_new category (2), 7 missing; size category (3), 7 missing; "
    "color category (3), 7 missing; count number, 7 missing; weight number, 7 missing."
)


@pytest.fixture
def table(here):
    """table.csv: a column of every kind with gaps, beside names and groups; and the frame."""
    columns = dict(reversed(mixed_columns().items()))  # text before numbers
    roles = {"name": [f"n{i}" for i in range(N)], "group": [f"g{i % 3}" for i in range(N)]}
    shown = {name: ["" if v is None else v for v in values] for name, values in columns.items()}
    write_csv(here / "table.csv", roles | shown)
    frame = as_pandas(columns)
    frame["size"] = frame["size"].astype(object)  # text has no order
    frame["is_new"] = [None if v is None else str(v) for v in columns["is_new"]]
    return frame


@pytest.fixture
def mapped(table, isosne):
    line = ("embed", "table.csv", "--mixed", *ROLES, *SHORT, "-o", "map.csv")
    return isosne(*line, "--save-model", "model.isosne")


def test_the_columns_and_their_treatment_are_listed(mapped):
    assert mapped.stderr.startswith(f"Note: {NOTE}\n")
    plan = [line for line in mapped.stderr.splitlines() if line.startswith("reason")]
    assert "table with 2 numbers, 1 date, 3 categories; 42 missing values" in plan[-1]


def test_the_map_is_that_of_the_data_frame(mapped, table):
    found = read_map("map.csv")
    assert np.array_equal(found.embedding, short_tsne().fit_transform(table))
    assert found.ids.tolist() == [f"n{i}" for i in range(N)]
    assert found.labels.tolist() == [f"g{i % 3}" for i in range(N)]
    assert found.provenance["table"]["mixed"] is True


def test_a_map_is_measured_by_gower(mapped, table, isosne_json, isosne):
    found = isosne_json("measure", "table.csv", "map.csv")
    Y = read_map("map.csv").embedding
    points = gower_points(table)
    assert found["auc_rnx"] == pytest.approx(
        quality.compare(points, Y, metric="gower").auc(), abs=1e-9
    )
    assert found["metric"] == "gower"


def test_rows_are_placed_by_the_model(mapped, here, isosne):
    isosne("place", "model.isosne", "table.csv", "-o", "again.csv", "-q")
    assert np.array_equal(read_map("again.csv").embedding, read_map("map.csv").embedding)
    text = (here / "table.csv").read_text().replace("red", "violet")
    (here / "new.csv").write_text(text)
    isosne("place", "model.isosne", "new.csv", "-o", "new_map.csv", "-q")
    assert read_map("new_map.csv").embedding.shape == (N, 2)


def test_landmarks_of_a_table(table, isosne):
    line = ("embed", "table.csv", "--mixed", *ROLES, *SHORT, "--landmarks", 30, "-q")
    isosne(*line, "-o", "all.csv")
    model = short_tsne(landmarks=30).fit(table)
    assert np.array_equal(read_map("all.csv").embedding, model.place(table))


@pytest.mark.slow
def test_a_report_from_a_file(table, here, isosne):
    line = ("report", "table.csv", "--mixed", *ROLES, *SHORT, "--n-seeds", 1, "-o", "report.html")
    isosne(*line, "-q")
    page = (here / "report.html").read_text()
    assert f"<dt>columns</dt><dd>{NOTE.removeprefix('Columns: ')}</dd>" in page
    assert "<dt>measured by</dt><dd>Gower&#x27;s distance</dd>" in page
