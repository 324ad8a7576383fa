"""Files of a reproduction: whole or not there, and known when finished."""

import json
from dataclasses import replace

import numpy as np

from isosne.paper.artifacts import format_table, is_finished, write_json, write_markdown
from tests.conftest import refuses


def test_a_table_in_markdown():
    assert format_table(["a", "b"], [["x", 1], ["y", 2.5]]) == (
        "| a | b |\n| --- | ---: |\n| x | 1 |\n| y | 2.5 |"
    )


def test_a_page_says_what_made_it(settings):
    write_markdown(settings, "page", "Title", ["One.", "Two."])
    lines = (settings.out / "page.md").read_text().splitlines()
    assert lines[0] == "# Title"
    assert "isosne" in lines[2]
    assert "numpy" in lines[2]
    assert lines[4:] == ["One.", "", "Two."]


def test_values_come_back_with_their_settings(settings):
    write_json(settings, "page", {"a": np.float32(0.5), "b": np.arange(2)})
    content = json.loads((settings.out / "page.json").read_text())
    assert content["values"] == {"a": 0.5, "b": [0, 1]}
    assert content["settings"] == settings.describe()
    plain = replace(settings, schedule=None).describe()
    assert plain == {"quick": True, "sets": [], "grid": None}


def test_a_result_is_finished_if_it_was_made_with_the_same_settings(settings):
    assert not is_finished(settings, "page")
    write_json(settings, "page", 1)
    assert is_finished(settings, "page")
    assert not is_finished(replace(settings, grid="paper"), "page")
    assert not is_finished(replace(settings, schedule=None), "page")
    (settings.out / "page.json").write_text("{")
    assert not is_finished(settings, "page")


def test_values_that_cannot_be_written_leave_the_file_as_it_was(settings):
    write_json(settings, "page", 1)
    before = (settings.out / "page.json").read_bytes()
    with refuses(TypeError, "object cannot be encoded as JSON"):
        write_json(settings, "page", object())
    assert (settings.out / "page.json").read_bytes() == before
    assert [path.name for path in settings.out.iterdir()] == ["page.json"]
