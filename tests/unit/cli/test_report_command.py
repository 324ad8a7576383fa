"""`isosne report`: two maps on one page."""

from isosne.cli.progress import Lines
from tests.unit.cli.conftest import COLUMNS, N_SHORT, SHORT

LINE = ("report", "wine.csv", *COLUMNS, *SHORT, "--scale", "minmax")


def test_an_interrupted_report_leaves_no_file(wine, here, isosne, monkeypatch):
    advance = Lines.advance

    def press(self, done, detail=None):
        advance(self, done, detail)
        if done == 50:
            raise KeyboardInterrupt

    monkeypatch.setattr(Lines, "advance", press)
    found = isosne(*LINE, "-o", "report.html", code=130)
    assert found.stderr == "Interrupted; no file was written.\n"


def test_a_report_of_a_table(wine, here, isosne):
    found = isosne(*LINE, "--psi", 16, "--title", "Wine", "-o", "report.html")
    first, measuring, second, again, last = found.stderr.splitlines()
    assert first.startswith(f"isolation map, step {N_SHORT} of {N_SHORT}  KL ")
    assert second.startswith(f"gaussian map, step {N_SHORT} of {N_SHORT}  KL ")
    assert measuring == again == "Measuring the map"
    assert last == "Wrote report.html: 178 rows"
    page = (here / "report.html").read_text()
    for told in (
        "<dt>input</dt><dd>wine.csv, 178 rows, 13 columns</dd>",
        "<dt>scaling</dt><dd>minmax</dd>",
        "isosne report wine.csv -o report.html --id bottle --label cultivar --scale minmax",
        "<dt>labels</dt><dd>column cultivar</dd>",
    ):
        assert told in page
    assert "<title>Wine</title>" in page
    assert "b177" in page
