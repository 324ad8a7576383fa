"""The Python code of the pages that a reader follows from top to bottom."""

import re
from pathlib import Path

import pytest

from isosne.datasets import export

DOCS = Path(__file__).parents[2] / "docs"
CODE = re.compile(r"^```(?:python|\{code-block\} python\n:caption:.*)\n(.*?)^```", re.M | re.S)

PAGES = [("index", 1), ("tutorial", 3), ("how-to", 15), ("is-this-cluster-real", 1)]


@pytest.mark.gallery
@pytest.mark.parametrize(("page", "n_least"), PAGES)
def test_the_code_of_a_page_runs(page, n_least, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    export("wine")
    blocks = CODE.findall((DOCS / f"{page}.md").read_text("utf-8"))
    assert len(blocks) >= n_least
    exec("\n".join(blocks), {"__name__": "__main__"})
