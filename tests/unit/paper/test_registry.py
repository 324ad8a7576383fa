"""Names of results, and making all of them."""

import pytest

from isosne.errors import ParameterError
from isosne.paper import registry
from isosne.paper.outputs import write_values
from isosne.paper.registry import Result, describe, reproduce


def test_every_name_has_a_line():
    lines = describe().splitlines()
    assert [line.split()[0] for line in lines] == [*registry.RESULTS, "all"]


def test_an_unknown_name_without_a_near_one_points_to_the_list(settings):
    with pytest.raises(ParameterError, match=r"isosne paper --list shows the names\.$"):
        reproduce("xyz", settings)


def test_all_leaves_what_is_finished_as_it_is(settings, monkeypatch):
    made = []

    def result(name):
        def make(given):
            made.append(name)
            write_values(given, name, name)

        return Result("here", "this", make)

    monkeypatch.setattr(registry, "RESULTS", {name: result(name) for name in ("a", "b", "c")})
    write_values(settings, "b", "from before")
    reproduce("all", settings)
    assert made == ["a", "c"]
    reproduce("all", settings)
    assert made == ["a", "c"]
