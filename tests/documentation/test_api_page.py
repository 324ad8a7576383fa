"""The API reference: every public name has a page, with an example that runs as a doctest."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.contract.public_interface import ERRORS, MODULES

API = Path(__file__).parents[2] / "docs" / "api.md"
RAISED = [f"isosne.errors.{name}" for name in ERRORS]


def find(name):
    """Return the object with a name such as isosne.quality.compare."""
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


def public_names():
    """Return the names that the modules of isosne declare public."""
    return [f"{module}.{name}" for module in MODULES for name in import_module(module).__all__]


def test_the_page_lists_every_public_name_once():
    listed = re.findall(r"^   (isosne\.[\w.]+)$", API.read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(public_names() + RAISED)


@pytest.mark.parametrize("name", public_names())
def test_a_public_name_has_an_example(name):
    assert "\nExamples\n--------\n>>> " in inspect.getdoc(find(name))


@pytest.mark.parametrize("name", RAISED)
def test_an_error_or_warning_says_when_it_occurs(name):
    assert inspect.getdoc(find(name)).splitlines()[0].endswith(".")
