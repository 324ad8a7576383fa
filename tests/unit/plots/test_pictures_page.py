"""docs/pictures.md: its code runs, its figures are those of the code."""

import re
from pathlib import Path

import pytest

from isosne.plots.paint import spread_colors
from tests.reference.colors import VIEWS
from tests.unit.plots.test_palette import grid_of_classes, nearest_distance

PAGE = Path(__file__).parents[3] / "docs" / "pictures.md"


@pytest.mark.slow
def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/pictures.md", "exec"), names)
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {"names.png", "trust.png", "paper.pdf", "dark.png", "map.html"}


def test_the_table_of_colors_is_what_the_code_gives():
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    assert [n for n, _ in rows] == ["16", "25", "40", "60"]
    for n, figures in rows:
        classes, Y = grid_of_classes(int(n))
        found = [
            f"{nearest_distance(paint, Y, views):.1f}"
            for views in (["normal"], VIEWS)
            for paint in (classes, spread_colors(classes, Y))
        ]
        assert found == figures.split(" | ")
