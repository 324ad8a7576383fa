"""Notes on columns that distort a map: their words, and where Python shows them."""

import warnings

import numpy as np
import pandas as pd
import pytest

from isosne import TSNE, Schedule
from isosne.errors import ColumnsWarning
from isosne.layout.schedules import Phase
from isosne.rows import open_rows
from isosne.tables.columns import read_columns
from isosne.tables.notes import table_notes

N = 40
RNG = np.random.default_rng(0)
PLAIN = {name: RNG.normal(size=N).round(3).tolist() for name in ("width", "height", "depth")}
SHORT = {"schedule": Schedule((Phase(3),)), "random_state": 0}
NUMBERING = (
    "Column 'row' numbers the rows (1, 2, 3, ...), and is used as a feature. "
    "Leave it out if it identifies the rows."
)


def frame(**columns):
    return pd.DataFrame({**columns, **PLAIN})


def notes_of(table):
    """Return the notes on a mixed table."""
    return table_notes(table, read_columns(table)[0])


def test_row_numbers_are_noted():
    assert table_notes(frame(row=range(1, N + 1))) == (NUMBERING,)


def test_a_column_that_the_user_has_named_may_number_the_rows():
    assert table_notes(frame(row=range(N)), known=["row"]) == ()


def test_a_wide_column_is_noted():
    wide = [1e4 * value for value in PLAIN["width"]]
    (note,) = table_notes(frame(price=wide))
    assert note.startswith("Column 'price' dominates the distances: its standard deviation is ")
    assert note.endswith(
        "Scale the columns, for example with MinMaxScaler of scikit-learn, to give all columns "
        "the same weight."
    )


@pytest.mark.parametrize("make", [np.asarray, lambda table: pd.DataFrame(np.asarray(table))])
def test_columns_without_names_are_not_examined(make):
    rows = open_rows(make(frame(row=range(N), price=1e4 * np.arange(N))))
    assert table_notes(rows) == ()


def test_identifiers_are_noted():
    table = frame(name=[f"n{i}" for i in range(N)], group=["a", "b"] * (N // 2))
    (note,) = notes_of(table)
    assert note == (
        "Column 'name' is left out: most texts are distinct, as identifiers are. "
        "To use such a column, convert it to a categorical type."
    )


def test_decimal_commas_are_suspected_and_not_called_identifiers():
    texts = {name: [str(v).replace(".", ",") for v in PLAIN[name]] for name in PLAIN}
    (note,) = notes_of(pd.DataFrame({"kind": ["a", "b"] * (N // 2), **texts}))
    assert note == (
        f"Columns 'width', 'height', 'depth' hold text such as {texts['width'][0]!r}: decimal "
        "commas? Convert them to numbers, as pandas.read_csv does with decimal=','."
    )


@pytest.mark.parametrize("others", [{}, {"group": ["a", "b"] * (N // 2)}], ids=["numbers", "mixed"])
def test_a_fit_warns_once_of_each_note_and_the_plan_lists_it(others):
    table = frame(row=range(1, N + 1), **others)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = TSNE(**SHORT).fit(table)
    assert [(w.category, str(w.message)) for w in caught] == [(ColumnsWarning, NUMBERING)]
    assert caught[0].filename == __file__
    assert model.plan_.notes == (NUMBERING,)
    assert f"note        {NUMBERING}" in str(model.plan_)


def test_a_plan_does_not_warn_and_has_the_notes():
    assert TSNE().plan(frame(row=range(1, N + 1))).notes == (NUMBERING,)


def test_notes_are_saved_with_the_model(tmp_path):
    with pytest.warns(ColumnsWarning):
        TSNE(**SHORT).fit(frame(row=range(1, N + 1))).save(tmp_path / "m.isosne")
    assert TSNE.load(tmp_path / "m.isosne").plan_.notes == (NUMBERING,)


def test_rows_of_a_file_are_examined(tmp_path):
    frame(row=range(1, N + 1)).to_csv(tmp_path / "table.csv", index=False)
    with pytest.warns(ColumnsWarning, match="numbers the rows"):
        TSNE(**SHORT).fit(tmp_path / "table.csv")


def test_the_plan_of_a_mixed_table_lists_its_columns():
    plan = TSNE().plan(frame(group=["a", "b"] * (N // 2)))
    kinds = ("group category (2)", "width number", "height number", "depth number")
    assert plan.columns == kinds
    assert f"columns     {'; '.join(kinds)}" in str(plan)


def test_a_plan_prints_the_first_columns_of_a_wide_table():
    table = pd.DataFrame({f"c{i}": ["a", "b"] * 20 for i in range(33)})
    assert str(TSNE().plan(table)).count("category (2)") == 30
    assert "; c29 category (2); and 3 more\n" in str(TSNE().plan(table))
