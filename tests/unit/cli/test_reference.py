"""docs/cli.md says what the commands say."""

import re
import runpy
from pathlib import Path

from isosne.datasets import export

DOCS = Path(__file__).parents[3] / "docs"


def test_the_reference_is_what_the_code_gives():
    written = runpy.run_path(str(DOCS / "generate_cli.py"))["render"]()
    advice = "Run python docs/generate_cli.py."
    assert (DOCS / "cli.md").read_text() == written, advice


def test_examples_name_the_columns_of_the_exported_table(tmp_path):
    header = export("wine", tmp_path / "wine.csv").read_text().splitlines()[0].split(",")
    pages = [page.read_text() for page in DOCS.glob("*.md")]
    lines = [line for page in pages for line in page.splitlines() if " wine.csv" in line]
    named = [name for line in lines for name in re.findall(r"--(?:id|label|color) (\w+)", line)]
    assert len(named) > 10
    assert set(named) <= set(header)
