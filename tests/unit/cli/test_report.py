"""`isosne report`: two maps on one page."""

from tests.unit.cli.conftest import COLUMNS, N_SHORT, SHORT

LINE = ("report", "wine.csv", *COLUMNS, *SHORT, "--scale", "minmax")


def test_a_report_of_a_table(wine, here, isosne):
    options = ("--kernel", "isolation", "--psi", 16, "--n-seeds", 2, "--title", "Wine")
    found = isosne(*LINE, *options, "-o", "report.html")
    *steps, last = found.stderr.splitlines()
    for number, line in enumerate(steps[::2]):
        kernel = "isolation" if number < 2 else "gaussian"
        named = f"{kernel} map {number % 2 + 1} of 2, step {N_SHORT} of {N_SHORT}  KL "
        assert line.startswith(named)
    assert steps[1::2] == ["Measuring the map"] * 4
    assert last == "Wrote report.html: 178 rows"
    page = (here / "report.html").read_text()
    for told in (
        "<dt>input</dt><dd>wine.csv, 178 rows, 13 columns</dd>",
        "<dt>scaling</dt><dd>minmax</dd>",
        "isosne report wine.csv -o report.html --n-seeds 2 --id bottle --label cultivar",
        "<dt>seeds</dt><dd>0, 1</dd>",
        "<dt>labels</dt><dd>column cultivar</dd>",
    ):
        assert told in page
    assert "<title>Wine</title>" in page
    assert "b177" in page
