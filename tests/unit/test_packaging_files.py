"""Recipe, entry and documents for publishing, which repeat what pyproject.toml says."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from isosne import __version__

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
EXTRAS = PROJECT["optional-dependencies"]
OTHER_NAMES = {"matplotlib": "matplotlib-base", "dask": "dask-core"}
"""Packages that have another name on conda-forge, or a smaller package that is enough."""


def requirements(lines):
    """Return name and bounds of each requirement, as conda-forge names it."""
    found = [Requirement(line) for line in lines]
    return {
        OTHER_NAMES.get(r.name, r.name): {str(bound) for bound in r.specifier}
        for r in found
        if r.name != "isosne"
    }


def conda_requirements(lines):
    found = {}
    for line in lines:
        name, _, bounds = line.partition(" ")
        found[name] = set(bounds.split(","))
    return found


@pytest.fixture
def recipe():
    return yaml.safe_load((ROOT / "packaging" / "recipe" / "recipe.yaml").read_text())


def test_the_recipe_requires_what_the_project_requires(recipe):
    needed = recipe["requirements"]
    run = conda_requirements(needed["run"])
    assert run.pop("python") == {PROJECT["requires-python"]}
    assert run == requirements(PROJECT["dependencies"])
    optional = conda_requirements(needed["run_constraints"])
    assert optional == requirements(chain(*EXTRAS.values()))


def test_every_file_that_repeats_the_version_has_this_one(recipe):
    entry = yaml.safe_load((ROOT / "packaging" / "scverse" / "meta.yaml").read_text())
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert recipe["context"]["version"] == entry["version"] == citation["version"] == __version__
    assert re.search(rf"^## {__version__} ", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert PROJECT["dynamic"] == ["version"]


def test_the_recipe_names_the_project_and_the_program(recipe):
    assert recipe["package"]["name"] == PROJECT["name"]
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["about"]["license"] == PROJECT["license"]
    ((name, target),) = PROJECT["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {target}"]
    assert recipe["build"]["noarch"] == "python"
    host = conda_requirements(recipe["requirements"]["host"])
    build = SETTINGS["build-system"]["requires"]
    assert requirements(build).items() <= host.items()


def test_the_entry_for_scverse_agrees_with_the_project():
    entry = yaml.safe_load((ROOT / "packaging" / "scverse" / "meta.yaml").read_text())
    for name in ("name", "license"):
        assert entry[name] == PROJECT[name]
    assert entry["description"].startswith(f"{PROJECT['description']}.\n")
    assert entry["install"] == {"pypi": PROJECT["name"]}
    assert {"dimensionality reduction", "visualization"} <= set(entry["tags"])
    assert entry["category"] == "ecosystem"
    markers = SETTINGS["tool"]["pytest"]["ini_options"]["markers"]
    tiers = [line.partition(":")[0] for line in markers if "scikit-learn" not in line]
    assert entry["test_command"].endswith(f'pytest -m "not ({" or ".join(tiers)})"')
    # Required by the list, and known only when the project is published.
    assert not {"project_home", "documentation_home", "contact"} & set(entry)


def test_the_page_lists_every_extra_with_its_packages():
    text = (ROOT / "docs" / "install.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", text, re.MULTILINE))
    assert set(rows) == set(EXTRAS)
    for extra, told in rows.items():
        names = [Requirement(line) for line in EXTRAS[extra]]
        if extra == "all":
            continue
        for requirement in names:
            shown = requirement.name if requirement.name != "isosne" else ""
            assert shown in told, (extra, requirement)
            assert all(f"`{other}`" in told for other in requirement.extras if not shown)


def test_all_means_every_extra():
    (everything,) = map(Requirement, EXTRAS["all"])
    assert everything.extras == set(EXTRAS) - {"all"}
