"""Errors: one sentence on standard error, the exit code, and no file left behind.

Sentences of the library are tested where they are raised; here, how they are printed, and what the
commands refuse themselves.
"""

import warnings
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from isosne.cli.app import app
from isosne.cli.messages import in_sentences, shows_tracebacks, spelling_of
from isosne.errors import DataError, IsosneWarning, ParameterError, keyword, spelled_by
from tests.unit.cli.conftest import COLUMNS, N_SHORT

WINE = f"wine.csv {' '.join(COLUMNS)}"
EMBED = f"embed {WINE} --n-iter {N_SHORT} -q"
NO_TABLE = (
    "must be a table, not a map that isosne wrote; got 'map.csv'. Name the table of the map, "
    "wine.csv. To map the coordinates themselves, pass --columns x --columns y."
)
INTERNAL = (
    "Internal error: ZeroDivisionError: by zero. "
    "Please report it with the output of isosne --debug COMMAND."
)
MEMORY = (
    "Out of memory. Embed fewer rows with --landmarks, or set --memory-limit, so that isosne "
    "chooses methods that fit."
)


@pytest.fixture
def small():
    """An application of one command, which raises or warns."""

    def make(command):
        @click.command
        @click.option("--debug", is_flag=True)
        def application(debug):
            shows_tracebacks.set(debug)
            with in_sentences([]):
                command()

        return lambda *line: CliRunner().invoke(application, line)

    return make


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (ParameterError("psi", "be at least 2", 1), 2, "psi must be at least 2; got psi=1."),
        (DataError("The file is damaged."), 1, "The file is damaged."),
        (OSError("No space left on device"), 1, "No space left on device"),
        (ZeroDivisionError("by zero"), 1, INTERNAL),
        (MemoryError(), 1, MEMORY),
    ],
)
def test_an_error_is_one_sentence_and_a_traceback_only_with_debug(small, error, code, sentence):
    def fail():
        raise error

    run = small(fail)
    found = run()
    assert found.exit_code == code
    assert found.stderr == f"Error: {sentence}\n"
    assert run("--debug").exception is error


def test_a_warning_is_one_sentence_too(small):
    def warn():
        warnings.warn("Some points are isolated.", IsosneWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        found = small(warn)()
    assert found.exit_code == 0
    assert found.stderr == "Warning: Some points are isolated.\n"


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        (("psi",), "--psi"),
        (("psi", 1), "--psi 1"),
        (("psi", [8, 64]), "--psi 8,64"),
        (("exclude", ["a b", "c"]), "--exclude 'a b' --exclude c"),
        (("id", None), "no --id"),
        (("force", True), "--force"),
        (("source", "w.csv"), "'w.csv'"),
        (("source",), "TABLE"),
        (("n_queries", 9), "n_queries=9"),  # an option of measure only
    ],
)
def test_parameters_are_spelled_as_options_of_the_command(parameter, expected):
    with spelled_by(spelling_of(app.commands["embed"].params)):
        assert keyword(*parameter) == expected


UNKNOWN = {
    "dataset": "No such command 'dataset'. Did you mean 'datasets'?",
    f"{EMBED} -o a.csv --psy 4": "No such option '--psy'. (Did you mean ",
    f"{EMBED} -o a.csv --kernel gauss": "'gauss' is not one of 'owner', 'iso",
    f"{EMBED} -o a.csv --n-jobs 0": "'--n-jobs': ",
    f"{EMBED} --psi 4 --psi 8": "'--psi': given 2 times. Separate several values by commas.",
    f"{EMBED} -o a.csv -o b.csv": "'-o': given 2 times. Give it once.",
    "explore": "Missing argument 'TABLE'.",
    "plot map.csv --images no.npy -o a.html": "'no.npy' does not exist.",
}


@pytest.mark.parametrize(("line", "words"), UNKNOWN.items())
def test_wrong_lines_are_refused_by_click(wine, isosne, line, words):
    found = isosne(*line.split(), code=2)
    assert words in " ".join(found.stderr.split())
    assert found.stdout == ""


REFUSED = {
    EMBED: "--output must be given, unless --plan or --save-model is used. Add for example --out",
    f"{EMBED} -o map.txt": " or .npy; got --output map.txt. The file type is chosen by the ending.",
    f"{EMBED} -o a.csv --kernel owner --psi 4": (
        "--psi must be left out with --kernel owner; got --psi 4. It is a parameter of "
    ),
    f"{EMBED} -o a.csv --psi 179": "--psi must be ",
    f"{EMBED} -o a.csv --landmarks 50 --clusters 0.5": (
        "--clusters must be left out with --landmarks; got --clusters 0.5. Only rows that are "
        "embedded have such a column."
    ),
    f"{EMBED} -o - --json": (
        "--output must be a file if --json prints to standard output; got --output -. Write "
    ),
    "embed wine.csv --id bottel --label cultivar -o a.csv": "Did you mean 'bottle'?",
    f"{EMBED} -o a.csv --mixed --scale minmax": (
        "--scale must be left out with --mixed, which uses all columns as they are; got "
    ),
    f"{EMBED} -o a.csv --key X": (
        "--key must be left out for wine.csv, which holds one table; got --key X. "
    ),
    "embed map.csv -o a.csv": f"TABLE {NO_TABLE}",
    "report map.csv -o a.html": f"TABLE {NO_TABLE}",
    "explore -": "TABLE must be a file or a data set; got '-'. Save the table to a file.",
    "explore wine.csv --map a --map b --map c": "--map must be given at most twice; got --map a",
    "place no.isosne wine.csv -o a.csv": "MODEL must be a file that exists; got 'no.isosne'. ",
    "place model.isosne wine.csv -o a.csv --share 1/2": (
        "--share must be left out unless --output is a folder; got --share 1/2. Leave out --share."
    ),
    "place model.isosne wine.csv -o out --share 3/2": "--share must be K/N with K from 1 to N; ",
    f"measure {WINE} nomap.csv": "MAP must be a file that exists; got 'nomap.csv'. ",
    "measure - -": (
        "MAP must be a file if TABLE is read from standard input; got '-'. Save one of "
    ),
    "sweep wine.csv --exclude cultivar --id bottle -o a.csv --measure knn_accuracy": (
        "--measure must be used together with --label; got --measure knn_accuracy. Add --label "
        "COLUMN, or choose a measure that needs no labels."
    ),
    f"report {WINE} --map map.csv --psi 4 -o a.html": (
        "--psi must be left out if --map is given, which embeds nothing; got --psi 4. Leave "
    ),
    f"report {WINE} -o a.pdf": "--output must end in .html or .htm; got --output a.pdf. ",
    "plot map.csv --color hue -o a.png": (
        "--color must be used together with --table, or be a column of the map; got --color hue. "
    ),
    "plot map.csv --table wine.csv -o a.png": (
        "--table must be used together with --color for a picture; got --table wine.csv. "
    ),
    "plot map.csv --style dark -o a.html": (
        "--style must be left out for a page; got --style dark. Write a file that ends in .png,"
    ),
    "datasets export wines": "Did you mean 'wine'?",
}


@pytest.mark.parametrize(("line", "sentence"), REFUSED.items())
def test_wrong_use_is_one_sentence_and_leaves_nothing_behind(model, isosne, line, sentence):
    model()
    before = sorted(Path().rglob("*"))
    found = isosne(*line.split(), code=2)
    assert found.stdout == ""
    last = found.stderr.splitlines()[-1]
    assert last.startswith("Error: ")
    assert sentence in last
    assert sorted(Path().rglob("*")) == before


def test_missing_values_are_refused_with_the_ways_to_go_on(wine, here, isosne):
    text = (here / "wine.csv").read_text().splitlines()
    text[3] = text[3].rpartition(",")[0] + ","
    (here / "wine.csv").write_text("\n".join(text) + "\n")
    for line, last in {
        f"{EMBED} -o map.csv": "or --mixed on the command line.\n",
        f"report {WINE} -o report.html -q": "To keep these rows, pass --mixed.\n",
    }.items():
        said = isosne(*line.split(), code=1).stderr
        assert "pass --missing drop to leave out the rows." in said
        assert said.endswith(last)
