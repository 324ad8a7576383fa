"""`--missing drop`: maps of the complete rows, joined with their table again."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isosne import plots, quality
from isosne.files import read_map, read_table
from tests.unit.cli.conftest import COLUMNS, SHORT, points_of, sentence_of, short_tsne, write_csv

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


@pytest.fixture
def drawn(monkeypatch):
    """What was passed to `plot_map`, call by call."""
    calls = []
    draw = plots.plot_map

    def note(embedding, color=None, **settings):
        calls.append(color)
        return draw(embedding, color, **settings)

    monkeypatch.setattr(plots, "plot_map", note)
    return calls


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


@pytest.mark.parametrize(
    "words",
    [
        ("report", "gaps.csv", *PLAIN, "-o", "a.html", "-q"),
        ("explore", "gaps.csv", *PLAIN, "-q"),
        ("measure", "gaps.csv", "other.csv", *PLAIN, "-q"),
        ("report", "gaps.csv", "--map", "other.csv", *PLAIN, "-o", "a.html", "-q"),
        ("embed", "gaps.csv", *PLAIN, "--scale", "minmax", "-o", "a.csv", "-q"),
    ],
)
def test_missing_values_can_be_dropped_or_kept(gaps, here, isosne, words):
    rows = "".join(f"{i},{i % 7},{i % 5}\n" for i in range(178))
    (here / "other.csv").write_text(f"id,x,y\n{rows}")
    assert isosne(*words, code=1).stderr == (
        "Error: Every value must be a finite number; gaps.csv has a missing value in line 2, "
        "column 'hue' (4 of the values read are not finite). Impute such values, exclude the "
        "column, or pass --missing drop to leave out the rows. To keep these rows, pass --mixed.\n"
    )


def test_a_map_is_measured_on_the_rows_it_shows(a_map, complete, isosne_json):
    found = isosne_json("measure", "gaps.csv", "map.csv")
    expected = quality.auc_rnx(complete, read_map("map.csv").embedding)
    assert found["auc_rnx"] == pytest.approx(expected, abs=1e-6)


def test_trust_is_that_of_the_complete_rows(a_map, complete, drawn, isosne):
    isosne("plot", "map.csv", "--trust", "gaps.csv", "-o", "map.png", "--dpi", 20, "-q")
    Y = read_map("map.csv").embedding
    assert np.array_equal(drawn[0].agreement, quality.trust(complete, Y, 10).agreement)


@pytest.mark.parametrize("column", ["proline", "cultivar", "hue"])
def test_colors_are_those_of_the_rows_shown(a_map, gaps, drawn, isosne, column):
    line = ("plot", "map.csv", "--color", column, "--table", "gaps.csv", "--dpi", 20)
    isosne(*line, "-o", "map.png")
    assert drawn[0].tolist() == np.delete(np.array(gaps[column], object), LOST).tolist()


def test_a_color_that_is_missing_is_refused(a_map, isosne):
    line = ("plot", "map.csv", "--color", "note", "--table", "gaps.csv", "-o", "map.png")
    Y, color = read_map("map.csv").embedding, np.full(174, np.nan)
    color[:58] = 1  # 116 are missing
    assert isosne(*line, code=1).stderr == (
        f"Error: {sentence_of(lambda: plots.plot_map(Y, color), 'plot')}\n"
    )


def test_a_page_shows_columns_that_lack_values(a_map, here, isosne):
    isosne("plot", "map.csv", "--table", "gaps.csv", "--trust", "gaps.csv", "-o", "map.html", "-q")
    assert "note" in (here / "map.html").read_text()


def test_rows_are_placed_on_a_finished_map(gaps, isosne):
    options = (*COLUMNS, "--exclude", "note", "--missing", "drop", "--scale", "standard")
    isosne(
        "embed", "gaps.csv", *SHORT, *options, "--save-model", "model.isosne", "-o", "map.csv", "-q"
    )
    isosne("transform", "model.isosne", "gaps.csv", "-o", "new.csv", "-q")
    placed = read_map("new.csv")
    assert placed.ids.tolist() == np.delete(gaps["bottle"], LOST).tolist()
    assert np.array_equal(placed.embedding, read_map("map.csv").embedding)
    line = ("transform", "model.isosne", "gaps.csv", "--missing", "refuse", "-o", "x.csv", "-q")
    found = isosne(*line, code=1)
    assert found.stderr.startswith("Error: ")
    assert "line 2" in found.stderr


def test_columns_are_scaled_by_their_complete_rows(gaps, complete, here, isosne):
    options = (*PLAIN, *SHORT, "--missing", "drop", "--scale", "minmax")
    isosne("embed", "gaps.csv", *options, "-o", "gaps_map.csv", "-q")
    names = list(gaps)[2:-1]
    write_csv(here / "complete.csv", dict(zip(names, complete.T.tolist(), strict=True)))
    isosne("embed", "complete.csv", *SHORT, "--scale", "minmax", "-o", "complete_map.csv", "-q")
    expected = read_map("complete_map.csv").embedding
    assert np.array_equal(read_map("gaps_map.csv").embedding, expected)


def test_landmarks_keep_their_numbers_in_the_file(gaps, complete, isosne):
    line = ("embed", "gaps.csv", *PLAIN, *SHORT, "--missing", "drop", "--landmarks", 60, "-q")
    isosne(*line, "--landmarks-only", "-o", "landmarks.csv")
    isosne(*line, "-o", "all.csv")
    model = short_tsne(landmarks=60).fit(complete)
    kept = np.delete(np.arange(178), LOST)
    landmarks, placed = read_map("landmarks.csv"), read_map("all.csv")
    assert landmarks.ids.tolist() == kept[model.landmark_indices_].tolist()
    assert np.array_equal(landmarks.embedding, model.embedding_)
    assert placed.ids.tolist() == kept.tolist()
    assert np.array_equal(placed.embedding, model.place(complete))


def test_nulls_of_parquet(here, two_blobs, isosne):
    first = [None, *two_blobs[1:, 0]]
    columns = {"a": first, **{f"f{c}": two_blobs[:, c] for c in range(1, 5)}}
    pq.write_table(pa.table(columns), "blobs.parquet")
    isosne("embed", "blobs.parquet", *SHORT, "--missing", "drop", "-o", "map.csv", "-q")
    expected = short_tsne().fit_transform(two_blobs[1:])
    assert np.array_equal(read_map("map.csv").embedding, expected)
