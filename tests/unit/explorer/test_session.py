import numpy as np
import pandas as pd
import pytest

from isosne import KL, TSNE, IsolationKernel, OwnerKernel, Schedule, quality
from isosne.errors import DataError, ParameterError
from isosne.explorer.colors import list_choices
from isosne.explorer.data import from_python
from isosne.explorer.measuring import measure
from isosne.explorer.run import RUNNING
from isosne.explorer.session import Session
from isosne.explorer.session_file import restore_session, save_session
from isosne.explorer.settings import Settings
from isosne.neighbors.metric import Metric
from tests.conftest import refuses
from tests.unit.explorer.conftest import QUICK, wait_for

LINE = "isosne embed 'my table.csv' --id name"


def test_a_session_without_rows_says_so():
    with refuses(DataError, "No table is open. Open a table first."):
        Session().rows  # noqa: B018


def test_selections_are_sorted_counted_and_named(session):
    session.select([5, 3, 3])
    assert session.selection.tolist() == [3, 5]
    before = session.changes["selection"]
    session.select([3, 5])
    assert session.changes["selection"] == before
    session.name_selection(" odd ")
    session.select([5])
    session.name_selection("five")
    column = session.names_column()
    assert [column.words[code] for code in column.data[[2, 3, 5]]] == ["", "odd", "five"]


def test_clearing_ends_the_selection_and_the_question(session):
    session.select([1, 2])
    session.ask(2)
    session.clear()
    assert session.selection.tolist() == []
    assert session.asked is None


@pytest.mark.parametrize("text", ["8, 32", "[8, 32]", "psi=[8,32]", "(8,32)"])
def test_numbers_are_read_as_they_are_written_in_python(text):
    assert Settings("isolation", text).make_model().kernel.psi == [8, 32]


def test_a_name_needs_text_and_a_selection(session):
    with refuses(DataError, "No row is selected. Select rows with the lasso first."):
        session.name_selection("a")
    session.select([1])
    sentence = "name must not be empty. Type a name, then press the button again."
    with refuses(ParameterError, sentence):
        session.name_selection(" ")


def test_the_second_map_is_of_the_selected_rows_only(mapped):
    rows = np.arange(20, 40)
    mapped.select(rows)
    mapped.reembed()
    again = mapped.maps[1]
    assert again.run.join(60)
    _, Y = again.frame(60)
    assert np.isfinite(Y[rows]).all()
    assert np.isnan(np.delete(Y, rows, axis=0)).all()
    plain = QUICK.make_model().fit(mapped.rows.X[rows])
    np.testing.assert_array_equal(Y[rows], plain.embedding_)
    assert again.title == "Owner kernel, 20 selected rows"


def test_a_selection_of_three_rows_is_too_small_for_a_map(mapped):
    mapped.select([1, 2, 3])
    with refuses(
        DataError,
        "A map of a selection needs at least 4 rows; got 3. Select more rows with the lasso.",
    ):
        mapped.reembed()


def test_a_warm_start_begins_at_the_present_map(mapped):
    _, before = mapped.maps[0].frame(60)
    mapped.begin(0, Settings("gaussian", n_iter=160), is_warm=True)
    shown = mapped.maps[0]
    assert shown.is_warm
    np.testing.assert_array_equal(shown.run.model.start, before)
    assert shown.run.join(60)
    assert shown.status.state == "finished"


def test_a_map_of_another_program_becomes_the_second_map(mapped):
    Y = np.random.default_rng(0).normal(size=(60, 2))
    mapped.add_map(Y, "umap.csv")
    assert [shown.title for shown in mapped.maps] == ["Owner kernel", "umap.csv"]
    assert mapped.maps[1].status is None
    mapped.close_second()
    assert len(mapped.maps) == 1


def test_a_map_of_other_rows_is_refused(mapped):
    with refuses(
        DataError,
        "A map must have two finite coordinates for each of the 60 rows; got an array of shape "
        "(59, 2). Pass a map of the same table.",
    ):
        mapped.add_map(np.zeros((59, 2)), "other")


def test_points_move_while_a_run_goes_on_and_is_not_paused(session):
    session.begin(0, Settings(n_iter=100_000))
    shown = session.maps[0]
    n = session.rows.n_rows
    assert shown.n_moving == n
    wait_for(lambda: shown.run.status.state == RUNNING)
    assert shown.n_moving == n
    shown.run.pause()
    assert shown.n_moving == 0
    shown.run.stop()
    assert shown.run.join(60)
    assert shown.n_moving == 0


def test_every_change_gives_another_state(session):
    seen = [session.state]
    session.select(np.array([1, 2]))
    seen.append(session.state)
    session.ask(1)
    seen.append(session.state)
    session.begin(0, Settings())
    seen.append(session.state)
    assert session.maps[0].run.join(60)
    seen.append(session.state)
    assert session.state == seen[-1]
    assert len(set(seen)) == 5


def test_replacing_a_map_ends_its_run(session):
    session.begin(0, Settings(n_iter=100_000))
    first = session.maps[0].run
    session.begin(0, QUICK)
    assert first.join(60)
    assert first.status.state == "stopped"


def test_settings_that_cannot_be_used_leave_the_map_as_it_is(mapped):
    before = mapped.maps[0]
    with pytest.raises(ParameterError, match=r"^psi must be "):
        mapped.begin(0, Settings("isolation", size="1000"))
    assert mapped.maps == [before]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({}, f"{LINE} -o map.parquet"),
        (
            {"kernel": "isolation", "size": "8, 32", "seed": 3, "exaggeration": 2.5},
            f"{LINE} --kernel isolation --psi 8,32 --exaggeration 2.5 --seed 3 -o map.parquet",
        ),
        (
            {"kernel": "gaussian", "size": "50", "n_iter": 200, "metric": "cosine"},
            f"{LINE} --kernel gaussian --perplexity 50 --metric cosine --n-iter 200 -o map.parquet",
        ),
    ],
)
def test_the_command_of_a_map_has_all_its_settings(two_blobs, change, line):
    session = Session()
    data = from_python(two_blobs)
    session.open(data.__class__(**vars(data) | {"words": ("my table.csv", "--id", "name")}))
    session.add_model(Settings(**change).make_model().fit(two_blobs))
    assert session.command(0) == line


def test_the_command_says_what_it_does_not_tell(mapped):
    mapped.select(np.arange(10))
    mapped.reembed()
    assert mapped.maps[1].run.join(60)
    assert mapped.command(1) == (
        "isosne embed table.csv --n-iter 160 -o map2.parquet  # the data were passed in Python; "
        "of the 10 selected rows, saved as a table"
    )
    mapped.add_map(np.zeros((60, 2)), "other.npy")
    assert mapped.command(1) == "# other.npy: read from a file"


def test_settings_are_read_from_an_estimator():
    model = TSNE(IsolationKernel([8, 64], metric="cosine"), random_state=5, exaggeration=2.0)
    assert Settings.of(model) == Settings("isolation", "8,64", 2.0, 5, metric="cosine")
    assert Settings.of(TSNE("gaussian")) == Settings("gaussian")
    assert Settings.of(TSNE(schedule=Schedule.annealed(n_iter=900))) == Settings(n_iter=900)
    assert Settings.of(TSNE("precomputed")) is None


@pytest.mark.parametrize(
    ("model", "is_complete"),
    [
        (TSNE(random_state=0), True),
        (TSNE(objective=KL(), random_state=0), True),
        (TSNE(OwnerKernel(), random_state=0, n_jobs=1, verbose=True), True),
        (TSNE(IsolationKernel((8, 64)), random_state=3), True),
        (TSNE(), False),
        (TSNE(IsolationKernel(n_partitions=7), random_state=0), False),
        (TSNE(schedule="standard", random_state=0), False),
        (TSNE(start="random", random_state=0), False),
    ],
)
def test_settings_know_whether_they_are_all_of_an_estimator(model, is_complete):
    assert Settings.of(model).is_complete_for(model) == is_complete


def test_the_command_of_a_model_says_what_it_leaves_out(session):
    X = session.rows.X
    session.add_model(TSNE(schedule="paper", random_state=0).fit(X))
    assert session.command(0) == (
        "isosne embed table.csv --n-iter 1000 -o map.parquet  # the data were passed in Python; "
        "the model has further settings, which this command does not give"
    )
    affinities = np.ones((60, 60)) - np.eye(60)
    session.add_model(TSNE("precomputed", random_state=0).fit(affinities))
    assert session.command(0) == (
        "# Map of the model: its kernel cannot be chosen on the command line"
    )


def test_a_model_is_continued_without_changing_it(session):
    model = QUICK.make_model().fit(session.rows.X)
    before = model.embedding_.copy()
    session.add_model(model)
    run = session.maps[0].run
    assert (run.status.state, run.status.iteration) == ("finished", 160)
    np.testing.assert_array_equal(run.frame[1], before)
    run.more(20)
    assert run.join(60)
    assert (run.status.state, run.status.iteration) == ("finished", 180)
    np.testing.assert_array_equal(model.embedding_, before)
    assert model.callback is None
    np.testing.assert_array_equal(run.frame[1], model.continue_fit(20).embedding_)


def test_a_session_is_restored_from_its_file(mapped, tmp_path):
    mapped.maps[0].run.more(7)
    assert mapped.maps[0].run.join(60)
    assert mapped.command(0).endswith("the map shown has 167 steps")
    mapped.select(np.arange(5, 25))
    mapped.name_selection("some")
    mapped.reembed()
    assert mapped.maps[1].run.join(60)
    mapped.ask(7)
    mapped.paint("color")
    path = tmp_path / "session.isosne"
    save_session(mapped, path)
    other = Session()
    other.open(mapped.rows)
    restore_session(other, path)
    assert other.selection.tolist() == list(range(5, 25))
    assert list(other.names) == ["some"]
    assert (other.asked, other.color) == (7, "color")
    for ours, theirs in zip(mapped.maps, other.maps, strict=True):
        np.testing.assert_array_equal(ours.frame(60)[1], theirs.frame(60)[1])
        assert (ours.title, ours.settings) == (theirs.title, theirs.settings)
    assert [other.command(m) for m in (0, 1)] == [mapped.command(m) for m in (0, 1)]
    assert list(tmp_path.iterdir()) == [path]


def test_a_session_of_other_rows_is_not_restored(mapped, tmp_path, two_blobs):
    path = tmp_path / "session.isosne"
    save_session(mapped, path)
    other = Session()
    other.open(from_python(two_blobs[:50]))
    with refuses(
        DataError,
        f"The session {path} belongs to other rows: it was saved for data from Python, with 60 "
        "rows, and data from Python or the options that read it, such as --scale, differ. Open the "
        "table in the same way, or choose another session file.",
    ):
        restore_session(other, path)
    assert other.maps == []


def test_a_damaged_session_is_refused_and_nothing_changes(mapped, tmp_path):
    path = tmp_path / "session.isosne"
    save_session(mapped, path)
    path.write_bytes(path.read_bytes()[:-200])
    other = Session()
    other.open(mapped.rows)
    with pytest.raises(DataError, match="the file is damaged or not written by isosne"):
        restore_session(other, path)
    assert other.maps == []


def test_a_run_before_its_first_step_is_not_saved(session, tmp_path):
    session.begin(0, Settings("gaussian", size="30,31,32,33", n_iter=100_000))
    path = tmp_path / "session.isosne"
    save_session(session, path)
    other = Session()
    other.open(session.rows)
    restore_session(other, path)
    assert len(other.maps) <= 1


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
    session = Session()
    session.open(from_python(penguins))
    session.begin(0, QUICK)
    assert session.maps[0].run.join(60)
    plain = QUICK.make_model().fit(penguins)
    np.testing.assert_array_equal(session.maps[0].frame(40)[1], plain.embedding_)
    assert [column.name for column in session.rows.columns] == ["size", "color", "day"]
    session.select(np.arange(10, 30))
    session.reembed()
    assert session.maps[1].run.join(60)
    again = QUICK.make_model().fit(penguins[10:30])
    np.testing.assert_array_equal(session.maps[1].frame(40)[1][10:30], again.embedding_)


def test_neighbors_in_a_table_with_mixed_columns_are_gowers(penguins):
    session = Session()
    session.open(from_python(penguins))
    session.begin(0, QUICK)
    shown = session.maps[0]
    assert shown.run.join(60)
    assert session.metric_of(shown) == Metric("gower")
    measured = measure(session, shown, is_final=True, n_queries=None)
    expected = quality.report(penguins, shown.frame(40)[1], random_state=0)
    assert measured.auc == pytest.approx(expected.auc_rnx)
    assert "density" in list_choices(session)
