"""`isosne report`: two maps on one page."""

from html import escape

import numpy as np
from sklearn.preprocessing import minmax_scale

from isosne import OwnerKernel
from isosne.cli.tables import open_table
from isosne.explorer.data import from_table
from isosne.structure import label_test
from tests.unit.cli.conftest import COLUMNS, N_SHORT, SHORT, points_of, short_tsne, write_csv

LINE = ("report", "wine.csv", *COLUMNS, *SHORT, "--scale", "minmax")


def test_a_report_of_a_table(wine, here, isosne):
    options = ("--kernel", "isolation", "--psi", 16, "--n-seeds", 2, "--title", "Wine")
    found = isosne(*LINE, *options, "-o", "report.html")
    assert found.stderr.splitlines() == [
        f"4 maps: step {4 * N_SHORT:,} of {4 * N_SHORT:,}  0 s left",
        "Wrote report.html: 178 rows",
    ]
    page = (here / "report.html").read_text()
    for told in (
        "<dt>input</dt><dd>wine.csv, 178 rows, 13 columns</dd>",
        "<dt>scaling</dt><dd>minmax</dd>",
        "isosne report wine.csv --label cultivar --id bottle --n-iter 260 --scale minmax --kernel ",
        "<dt>seeds</dt><dd>0, 1</dd>",
        "<dt>labels</dt><dd>column cultivar</dd>",
    ):
        assert told in page
    assert "<title>Wine</title>" in page
    assert "b177" in page


def test_notes_on_columns_are_on_the_page_and_in_explore(here, isosne):
    rng = np.random.default_rng(0)
    columns = {"row": list(range(40)), "<b>": (1e4 * rng.normal(size=40)).tolist()}
    write_csv(here / "t.csv", columns | {name: rng.normal(size=40).tolist() for name in "cdef"})
    isosne("report", "t.csv", "--n-iter", 260, "--n-seeds", 1, "-o", "r.html", "-q")
    page = (here / "r.html").read_text()
    assert escape("Column 'row' numbers the rows (0, 1, 2, ...)") in page
    assert escape("Column '<b>' dominates the distances") in page
    _, table = open_table("t.csv", {}, None)
    shown = from_table(table, table, "t.csv", (None, None), ("t.csv",))
    assert shown.notes == table.rows.notes
    assert len(shown.notes) == 2


def test_a_guided_map_is_shown_beside_the_label_test(wine, here, isosne):
    options = ("--cell-size", "4,16", "--n-seeds", 1, "--label-weight", 0.3, "--clusters", 0.5)
    isosne(*LINE, *options, "-o", "report.html")
    page, X = (here / "report.html").read_text(), minmax_scale(points_of(wine))
    model = short_tsne(OwnerKernel((4, 16), label_weight=0.3))
    scores = str(label_test(model, X, wine["cultivar"]))
    assert f"<b>Labels guide the first map.</b> 10-NN accuracy (R^2 of numbers): {scores}." in page
    accuracy = model.fit(X, wine["cultivar"]).report(X, wine["cultivar"]).classes.knn_accuracy
    assert f"{accuracy:.3f}" in page
