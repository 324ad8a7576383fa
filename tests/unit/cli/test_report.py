"""`isosne report`: two maps on one page."""

from tests.unit.cli.conftest import COLUMNS, N_SHORT, SHORT

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
