"""The example in the help of each command runs as it is printed."""

import re
import shlex
from importlib import import_module
from types import SimpleNamespace

import pytest

from isosne.cli.app import COMMANDS
from isosne.datasets import export

NAMES = [command.name for group in COMMANDS.values() for command in group]
BEFORE = (
    "embed wine.csv --label target --scale standard -o map.parquet --save-model model.isosne -q"
)


class Ended:
    def wait(self):
        raise KeyboardInterrupt


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_the_help_runs(name, here, isosne, monkeypatch):
    if name != "datasets":
        export("wine", here / "wine.csv")
    if name not in ("datasets", "embed"):
        isosne(*shlex.split(BEFORE))
        header, *lines = (here / "wine.csv").read_text().splitlines()
        new = [f"{int(line.split(',')[0]) + 500},{line.split(',', 1)[1]}" for line in lines[:9]]
        (here / "new.csv").write_text("\n".join([header, *new]) + "\n")
    if name == "explore":
        waiting = SimpleNamespace(Event=Ended)
        monkeypatch.setattr(import_module("isosne.cli.explore"), "threading", waiting)
    told = isosne(name, "--help", terminal_width=1000).stdout
    line = shlex.split(re.search(r"Example: isosne (.*)", told)[1])
    if name == "explore":
        line.append("--no-browser")
    if name in ("report", "sweep"):
        line += ["--n-iter", "260"]
    if name == "report":
        line += ["--n-seeds", "1"]
    found = isosne(*line)
    # No example maps the row number, or columns of which one hides the others.
    assert "numbers the rows" not in found.stderr
    assert "dominates the distances" not in found.stderr
