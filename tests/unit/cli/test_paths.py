"""Outputs that are inputs or other outputs: one sentence before the work, and nothing is lost."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.unit.cli.conftest import COLUMNS, SHORT

LINE = ("embed", "wine.csv", *COLUMNS, *SHORT, "-q")


@pytest.fixture
def refused(wine, isosne):
    """Run a line that must fail; return its sentence, and check that all files are as they were."""

    def run(*line):
        before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
        found = isosne(*line, code=2)
        assert {p: p.read_bytes() for p in Path().rglob("*") if p.is_file()} == before
        assert found.stderr.count("\n") == 1
        return found.stderr.removeprefix("Error: ").removesuffix("\n")

    return run


def test_the_input_is_not_overwritten(refused):
    assert refused(*LINE, "-o", "wine.csv") == (
        "--output must be another file than 'wine.csv'; got --output wine.csv. Choose another name."
    )


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_to_the_input_is_the_input(refused):
    Path("other.csv").symlink_to("wine.csv")
    line = (*LINE, "--force", "-o", "map.csv", "--save-model", "other.csv")
    assert refused(*line) == (
        "--save-model must be another file than 'wine.csv'; got --save-model other.csv. "
        "Choose another name."
    )


@pytest.mark.parametrize(
    ("options", "name", "other"),
    [
        (("--checkpoint", "./map.csv"), "checkpoint map.csv", "output map.csv"),
        (("--save-model", "sub/../map.csv"), "save-model sub/../map.csv", "output map.csv"),
        (("--save-model", "x", "--checkpoint", "x"), "save-model x", "checkpoint x"),
    ],
)
def test_two_outputs_are_two_files(refused, options, name, other):
    Path("sub").mkdir()
    assert refused(*LINE, "-o", "map.csv", *options) == (
        f"--{name.split()[0]} must be another file than --{other}; got --{name}. "
        "Choose another name."
    )


def test_the_provenance_of_a_map_is_an_output_too(refused, isosne):
    found = refused(*LINE, "-o", "map.csv", "--save-model", "map.csv.json")
    assert found == (
        "--save-model must be another file than --output map.csv.json; "
        "got --save-model map.csv.json. Choose another name."
    )
    Path("map.csv.json").write_text("{}")
    assert isosne(*LINE, "-o", "map.csv", code=1).stderr == (
        "Error: Cannot write map.csv.json: the file already exists. "
        "Choose another name, or pass --force to replace it.\n"
    )
    assert sorted(path.name for path in Path().iterdir()) == ["map.csv.json", "wine.csv"]


def test_files_of_a_folder_that_is_read_are_not_overwritten(refused):
    Path("data/day=1").mkdir(parents=True)
    pd.DataFrame(np.eye(4), columns=list("abcd")).to_parquet("data/part.0.parquet")
    for name in ("part.0.parquet", "map.parquet", "day=1/map.parquet"):
        line = ("embed", "data", *SHORT, "--force", "-o", f"data/{name}")
        assert refused(*line) == (
            f"--output must be outside 'data'; got --output data/{name}. Choose another name."
        )


@pytest.mark.parametrize(
    ("line", "other"),
    [
        (("place", "model.isosne", "wine.csv", "-o", "m.csv"), "'model.isosne'"),
        (("report", "wine.csv", "-o", "w.html"), "'wine.csv'"),
        (("plot", "map.csv", "--trust", "wine.csv", "-o", "w.png"), "--trust wine.csv"),
    ],
    ids=lambda line: line[0] if isinstance(line, tuple) else None,
)
def test_every_command_keeps_its_inputs(model, refused, line, other):
    model()
    Path(line[-1]).symlink_to(other.split()[-1].strip("'"))
    assert refused(*line, "--force") == (
        f"--output must be another file than {other}; got --output {line[-1]}. Choose another name."
    )
