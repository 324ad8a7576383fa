"""Names of results, and making all of them."""

from isosne.errors import ParameterError
from isosne.paper import registry
from isosne.paper.artifacts import write_json
from isosne.paper.registry import Result, describe, reproduce
from tests.conftest import refuses


def test_every_name_has_a_line():
    lines = describe().splitlines()
    assert [line.split()[0] for line in lines] == [*registry.RESULTS, "all"]


def test_an_unknown_name_without_a_near_one_lists_all(settings):
    names = ", ".join(registry.RESULTS)
    sentence = f"name must be 'all' or one of {names}; got name='xyz'. Choose one of these names."
    with refuses(ParameterError, sentence):
        reproduce("xyz", settings)


def test_a_near_name_is_suggested(settings):
    names = ", ".join(registry.RESULTS)
    sentence = f"name must be 'all' or one of {names}; got name='growht'. Did you mean 'growth'?"
    with refuses(ParameterError, sentence):
        reproduce("growht", settings)


def test_all_leaves_what_is_finished_as_it_is(settings, monkeypatch):
    made = []

    def result(name):
        def make(given):
            made.append(name)
            write_json(given, name, name)

        return Result("here", "this", make)

    monkeypatch.setattr(registry, "RESULTS", {name: result(name) for name in ("a", "b", "c")})
    write_json(settings, "b", "from before")
    reproduce("all", settings)
    assert made == ["a", "c"]
    reproduce("all", settings)
    assert made == ["a", "c"]
