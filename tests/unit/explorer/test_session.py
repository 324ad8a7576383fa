from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from isosne import TSNE, quality
from isosne.errors import IsosneError, ParameterError
from isosne.explorer.data import Settings, from_python
from isosne.explorer.measuring import measure
from isosne.explorer.session import MODEL, Session
from isosne.neighbors.metric import Metric
from tests.conftest import refuses
from tests.unit.explorer.conftest import QUICK

LINE = "isosne embed 'my table.csv' --id name"
OTHERS = "k 9, exaggeration 2.5 can be set in Python only"


def test_selections_are_sorted_counted_and_named(session):
    session.select([5, 3, 3])
    assert session.selection.tolist() == [3, 5]
    before = session.selection
    session.select([3, 5])
    assert session.selection is before
    session.name_selection(" odd ")
    session.select([5])
    session.name_selection("five")
    column = session.names_column()
    assert [column.words[code] for code in column.data[[2, 3, 5]]] == ["", "odd", "five"]


@pytest.mark.parametrize(
    ("selected", "work", "sentence"),
    [
        (
            [1],
            lambda session: session.name_selection(" "),
            "name must not be empty. Type a name, then press the button again.",
        ),
        (
            [1, 2, 3],
            Session.reembed,
            "A map of a selection needs at least 4 rows; got 3. Select more rows with the lasso.",
        ),
    ],
)
def test_what_cannot_be_done_is_told(mapped, selected, work, sentence):
    mapped.select(selected)
    with refuses(IsosneError, sentence):
        work(mapped)


def test_the_second_map_is_of_the_selected_rows_only(mapped):
    rows = np.arange(20, 40)
    mapped.select(rows)
    mapped.reembed()
    again = mapped.maps[1]
    assert again.join(60)
    Y = again.Y
    assert np.isfinite(Y[rows]).all()
    assert np.isnan(np.delete(Y, rows, axis=0)).all()
    plain = QUICK.make_model().fit(mapped.rows.X[rows])
    np.testing.assert_array_equal(Y[rows], plain.embedding_)
    assert again.title == "Owner kernel, 20 selected rows"


def test_replacing_a_map_ends_its_run(session):
    session.begin(0, Settings(n_iter=100_000))
    first = session.maps[0]
    session.begin(0, QUICK)
    assert first.join(60)
    assert first.status.state == "stopped"


def test_settings_that_cannot_be_used_leave_the_map_as_it_is(mapped):
    before = mapped.maps[0]
    with pytest.raises(ParameterError, match=r"^psi must be "):
        mapped.begin(0, Settings("isolation", size="1000"))
    assert mapped.maps == (before,)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({}, f"{LINE} -o map.parquet  # {MODEL}"),
        (
            {"kernel": "isolation", "size": "8, 32", "seed": 3},
            f"{LINE} --kernel isolation --psi 8,32 --seed 3 -o map.parquet  # {MODEL}",
        ),
        (
            {"kernel": "knn", "size": "9", "metric": Metric("cosine"), "exaggeration": 2.5},
            f"{LINE} --kernel knn --metric cosine -o map.parquet  # {MODEL}; {OTHERS}",
        ),
    ],
)
def test_the_command_of_a_map_has_all_its_settings(two_blobs, change, line):
    session = Session(replace(from_python(two_blobs), words=("my table.csv", "--id", "name")))
    session.add_model(Settings(**change).make_model().fit(two_blobs))
    assert session.command(0) == line


def test_the_command_says_what_it_does_not_tell(mapped):
    mapped.select(np.arange(10))
    mapped.reembed()
    assert mapped.maps[1].join(60)
    assert mapped.command(1) == (
        "isosne embed table.csv --n-iter 160 -o map2.parquet  # the data were passed in Python; "
        "of the 10 selected rows, saved as a table"
    )
    mapped.add_map(np.zeros((60, 2)), "other.npy")
    assert mapped.command(1) == "# other.npy: read from a file"


def test_the_command_of_a_model_says_what_it_leaves_out(session):
    X = session.rows.X
    session.add_model(TSNE(schedule="paper", random_state=0).fit(X))
    assert session.command(0) == (
        "isosne embed table.csv --n-iter 1000 -o map.parquet  # the data were passed in Python; "
        "the map shown is that of a model, which may have further settings"
    )
    affinities = np.ones((60, 60)) - np.eye(60)
    session.add_model(TSNE("precomputed", random_state=0).fit(affinities))
    assert session.command(0) == (
        "# Map of the model: its kernel cannot be chosen on the command line"
    )


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("data/wine.csv", "wine-map.png"),
        ("wine", "wine-map.png"),
        ("<img src=x>\udc80.csv", "_img_src_x_-map.png"),
        ("/tmp/.csv", "csv-map.png"),
        ("x" * 300, "x" * 80 + "-map.png"),
    ],
)
def test_files_are_named_after_the_table(two_blobs, source, name):
    data = replace(from_python(two_blobs), source=source, words=(source,))
    assert Session(data).file_name("map.png") == name


def test_files_of_data_from_python_have_no_name_of_a_table(session):
    assert session.file_name("map.png") == "map.png"


def test_a_model_is_continued_without_changing_it(session):
    model = QUICK.make_model().fit(session.rows.X)
    before = model.embedding_.copy()
    session.add_model(model)
    run = session.maps[0]
    assert (run.status.state, run.status.iteration) == ("finished", 160)
    np.testing.assert_array_equal(run.Y, before)
    run.more(20)
    assert run.join(60)
    assert (run.status.state, run.status.iteration) == ("finished", 180)
    np.testing.assert_array_equal(model.embedding_, before)
    assert model.callback is None
    assert session.command(0).endswith("the map shown has 180 steps")
    np.testing.assert_array_equal(run.Y, model.continue_fit(20).embedding_)


@pytest.fixture
def penguins():
    """A table with numbers, categories and gaps, in two groups."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 20)
    sizes = rng.normal(size=40) + 6 * group
    sizes[[3, 30]] = np.nan
    colors = np.where(group == 0, "gray", rng.choice(["white", "black"], 40)).astype(object)
    colors[7] = None
    return pd.DataFrame({"size": sizes, "color": colors, "day": pd.Timestamp("2026-01-01")})


def test_a_table_with_mixed_columns_is_mapped_as_the_estimator_maps_it(penguins):
    session = Session(from_python(penguins))
    session.begin(0, QUICK)
    assert session.maps[0].join(60)
    plain = QUICK.make_model().fit(penguins)
    np.testing.assert_array_equal(session.maps[0].Y, plain.embedding_)
    measured = measure(session, session.maps[0])
    expected = quality.report(penguins, plain.embedding_, random_state=0)  # by Gower's distance
    assert measured.auc == pytest.approx(expected.auc_rnx)
    assert [column.name for column in session.rows.columns] == ["size", "color", "day"]
    session.select(np.arange(10, 30))
    session.reembed()
    assert session.maps[1].join(60)
    again = QUICK.make_model().fit(penguins[10:30])
    np.testing.assert_array_equal(session.maps[1].Y[10:30], again.embedding_)
