"""`isosne paper` and `isosne datasets`, without long runs."""

import re

from isosne.paper.registry import RESULTS


def test_data_sets_are_listed_with_where_they_come_from(here, isosne):
    (here / "wine.npz").touch()
    told = isosne("datasets", "--data", here).stdout
    assert re.search(r"^wine +178 +13 +3 +folder: wine.npz$", told, re.MULTILINE)
    assert len(told.splitlines()) == 22


def test_all_that_can_be_reproduced_is_listed(isosne):
    told = isosne("paper", "--list").stdout
    assert [line.split()[0] for line in told.splitlines()] == [*RESULTS, "all"]


def test_a_quick_figure_is_written_with_its_values(tmp_path, isosne):
    folder = tmp_path / "new" / "folder"
    found = isosne("paper", "cells", "--output", folder)
    assert found.stderr.endswith(f"Wrote {folder}\n")
    assert {path.name for path in folder.iterdir()} == {
        "cells.md",
        "cells.json",
        "cells-16.png",
        "cells-64.png",
    }
