"""The public interface is what the record says: no name or default changes by accident."""

import inspect
import re
from itertools import zip_longest
from pathlib import Path

import pytest

import isosne
from tests.contract.public_interface import ERRORS, MODULES, RECORD, lines

STABILITY = Path(__file__).parents[2] / "docs" / "stability.md"
ADVICE = (
    "The public interface has changed. If it is meant to, see docs/stability.md for what the "
    "version allows, and run: python -m tests.contract.public_interface"
)


def changes():
    """Return the lines in which the interface and the record differ."""
    recorded = RECORD.read_text("utf-8").splitlines()
    return [pair for pair in zip_longest(recorded, lines()) if pair[0] != pair[1]]


def test_the_interface_is_the_recorded_one():
    assert not changes(), f"{ADVICE}\n{changes()[:3]}"


@pytest.mark.parametrize("change", ["default", "name"])
def test_a_changed_signature_is_noticed(monkeypatch, change):
    found = inspect.signature(isosne.nearest_neighbors)
    last = list(found.parameters.values())[-1]
    other = last.replace(default="other") if change == "default" else last.replace(name="other")
    changed = found.replace(parameters=[*list(found.parameters.values())[:-1], other])
    monkeypatch.setattr(isosne.nearest_neighbors, "__signature__", changed, raising=False)
    ((before, after),) = changes()
    assert before.startswith("nearest_neighbors(")
    assert "other" in after


def test_the_page_tells_how_stable_each_module_is():
    rows = re.findall(r"^\| `(isosne[.\w]*)` \| (\w+) \|", STABILITY.read_text("utf-8"), re.M)
    assert [name for name, _ in rows] == [*MODULES, "isosne.errors"]
    assert {level for _, level in rows} == {"Stable", "Provisional"}
    assert len(ERRORS) > 5
