"""Pages that a reader follows from top to bottom: their code runs and prints what they show."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from isosne.cli.app import app

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(.*)\n(?::caption:.*\n)?((?:.*\n)*?)```\n(\s*)", re.M)
PAGES = {
    "README.md": 1,
    "docs/index.md": 2,
    "docs/tutorial.md": 9,
    "docs/how-to.md": 15,
    "docs/is-this-cluster-real.md": 1,
}
"""Pages, with the number of blocks of code that they have at least."""


def split(text):
    """Return the blocks of a page that run, each with the output that follows it, if any."""
    found = [(*match.groups(), match.start(), match.end()) for match in BLOCK.finditer(text)]
    ends = {end for *_, end in found}
    runs = []
    for kind, code, _, start, _ in found:
        if kind.endswith("python") or code.startswith("isosne "):
            runs.append([kind, code, None])
        elif start in ends and runs and kind == "":
            runs[-1][2] = code
    return runs


def run_commands(code):
    """Run the commands of a block; return what they print on standard output."""
    lines = [line for line in code.replace("\\\n", " ").splitlines() if line.startswith("isosne ")]
    printed = ""
    for line in lines:
        found = CliRunner().invoke(app, line.split()[1:])
        assert found.exit_code == 0, (line, found.stderr)
        printed += found.stdout
    return printed


@pytest.mark.gallery
@pytest.mark.parametrize(("page", "n_least"), PAGES.items())
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(
    page, n_least, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    blocks = split((ROOT / page).read_text("utf-8"))
    names = {"__name__": "__main__"}
    n_run = 0
    for kind, code, output in blocks:
        if "isosne explore" in code or "my.csv" in code:
            continue
        n_run += 1
        if kind.endswith("python"):
            exec(compile(code, page, "exec"), names)
            printed = capsys.readouterr().out
        else:
            printed = run_commands(code)
        if output is not None:
            assert printed == output, code
    assert n_run >= n_least
