"""`isosne paper` and `isosne datasets`, without long runs."""

import re

import pytest
from typer.testing import CliRunner

from isosne.cli.app import app
from isosne.paper.registry import RESULTS

runner = CliRunner()


def isosne(*arguments):
    return runner.invoke(app, [str(argument) for argument in arguments])


def test_data_sets_are_listed_with_where_they_come_from(tmp_path):
    (tmp_path / "wine.npz").touch()
    found = isosne("datasets", "--data", tmp_path)
    assert found.exit_code == 0
    assert re.search(r"^wine +178 +13 +3 +folder: wine.npz$", found.stdout, re.MULTILINE)
    assert len(found.stdout.splitlines()) == 22


def test_a_data_folder_that_is_not_there_is_wrong_use(tmp_path):
    found = isosne("datasets", "--data", tmp_path / "nowhere")
    assert found.exit_code == 2
    assert found.stderr == (
        f"isosne: folder must name a folder that exists; got '{tmp_path / 'nowhere'}'. "
        "Correct the path, or leave it out to fetch the sets from OpenML.\n"
    )


def test_all_that_can_be_made_is_listed():
    found = isosne("paper", "--list")
    assert found.exit_code == 0
    names = [line.split()[0] for line in found.stdout.splitlines()]
    assert names == [*RESULTS, "all"]


def test_a_name_and_a_folder_are_needed(tmp_path):
    for arguments in ((), ("results",), ("--out", tmp_path)):
        found = isosne("paper", *arguments)
        assert found.exit_code == 2
        assert "Name what to make and the folder: isosne paper results --out DIR" in found.stderr


def test_an_unknown_name_is_wrong_use_and_the_nearest_is_suggested(tmp_path):
    found = isosne("paper", "result", "--out", tmp_path)
    assert found.exit_code == 2
    known = ", ".join(RESULTS)
    assert found.stderr == (
        f"isosne: name must be 'all' or one of {known}; got 'result'. Did you mean 'results'?\n"
    )


@pytest.mark.parametrize("option", [("--grid", "fine"), ("--sets", "wines"), ("--jobs", "0")])
def test_wrong_options_are_wrong_use(tmp_path, option):
    found = isosne("paper", "results", "--out", tmp_path, *option)
    assert found.exit_code == 2
    assert "Traceback" not in found.stderr


def test_a_quick_figure_is_written_with_its_values(tmp_path):
    out = tmp_path / "new" / "folder"
    found = isosne("paper", "cells", "--out", out)
    assert found.exit_code == 0, found.stderr
    assert found.stderr.endswith(f"The results are in {out}\n")
    assert {path.name for path in out.iterdir()} == {
        "cells.md",
        "cells.json",
        "cells-16.png",
        "cells-64.png",
    }
