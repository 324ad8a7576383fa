"""Errors: one sentence on standard error, the exit code, and no file left behind.

Sentences of the library are tested where they are raised; here, how they are printed, and what the
commands refuse themselves.
"""

import warnings
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from isosne.cli.messages import in_sentences, shows_tracebacks
from isosne.errors import DataError, IsosneWarning, ParameterError, keyword, spelled_by
from tests.unit.cli.conftest import COLUMNS, SHORT, spelling

WINE = ("wine.csv", *COLUMNS)
EMBED = ("embed", *WINE, *SHORT, "-q")
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
    with spelled_by(spelling("embed")):
        assert keyword(*parameter) == expected


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("dataset",), "No such command 'dataset'. Did you mean 'datasets'?"),
        ((*EMBED, "-o", "a.csv", "--psy", "4"), "No such option '--psy'. (Did you mean "),
        ((*EMBED, "-o", "a.csv", "--kernel", "gauss"), "'gauss' is not one of 'owner', 'iso"),
        ((*EMBED, "-o", "a.csv", "--n-jobs", "0"), "'--n-jobs': "),
        (
            (*EMBED, "-o", "a.csv", "--psi", "4", "--psi", "8"),
            "'--psi': given 2 times. Separate several values by commas.",
        ),
        ((*EMBED, "-o", "a.csv", "-o", "b.csv"), "'-o': given 2 times. Give it once."),
        (("plot", "map.csv", "--images", "no.npy", "-o", "a.html"), "'no.npy' does not exist."),
    ],
)
def test_wrong_lines_are_refused_by_click(wine, isosne, line, words):
    found = isosne(*line, code=2)
    assert words in " ".join(found.stderr.split())
    assert found.stdout == ""


REFUSED = {
    "embed without output": (
        EMBED,
        "--output must be given, unless --plan or --save-model is used. Add for example --output ",
    ),
    "embed to an unknown type": (
        (*EMBED, "-o", "map.txt"),
        " or .npy; got --output map.txt. The file type is chosen by the ending.",
    ),
    "embed with the option of another kernel": (
        (*EMBED, "-o", "a.csv", "--kernel", "owner", "--psi", 4),
        ("--psi must be left out with --kernel owner; got --psi 4. It is a parameter of "),
    ),
    "embed with a large psi": ((*EMBED, "-o", "a.csv", "--psi", 179), "--psi must be "),
    "embed with clusters of placed rows": (
        (*EMBED, "-o", "a.csv", "--landmarks", 50, "--clusters", 0.5),
        (
            "--clusters must be left out with --landmarks; got --clusters 0.5. Only rows that are "
            "embedded have such a column."
        ),
    ),
    "embed to standard output twice": (
        (*EMBED, "-o", "-", "--json"),
        ("--output must be a file if --json prints to standard output; got --output -. Write "),
    ),
    "embed with an unknown column": (
        ("embed", "wine.csv", "--id", "bottel", "--label", "cultivar", "-o", "a.csv"),
        "Did you mean 'bottle'?",
    ),
    "embed with mixed columns that are scaled": (
        (*EMBED, "-o", "a.csv", "--mixed", "--scale", "minmax"),
        ("--scale must be left out with --mixed, which uses all columns as they are; got "),
    ),
    "embed with a key": (
        (*EMBED, "-o", "a.csv", "--key", "X"),
        "--key must be left out for wine.csv, which holds one table; got --key X. ",
    ),
    "place a missing model": (
        ("place", "no.isosne", "wine.csv", "-o", "a.csv"),
        "MODEL must be a file that exists; got 'no.isosne'. ",
    ),
    "place a table with the options of a folder": (
        ("place", "model.isosne", "wine.csv", "-o", "a.csv", "--share", "1/2"),
        "--share must be left out unless --output is a folder; got --share 1/2. Leave out --share.",
    ),
    "place a folder with a share that is none": (
        ("place", "model.isosne", "wine.csv", "-o", "out", "--share", "3/2"),
        "--share must be K/N with K from 1 to N; ",
    ),
    "measure a missing map": (
        ("measure", *WINE, "nomap.csv"),
        "MAP must be a file that exists; got 'nomap.csv'. ",
    ),
    "measure with both from standard input": (
        ("measure", "-", "-"),
        ("MAP must be a file if TABLE is read from standard input; got '-'. Save one of "),
    ),
    "sweep by a measure without labels": (
        (
            "sweep",
            "wine.csv",
            "--exclude",
            "cultivar",
            "--id",
            "bottle",
            "-o",
            "a.csv",
            "--measure",
            "knn_accuracy",
        ),
        (
            "--measure must be used together with --label; got --measure knn_accuracy. Add --label "
            "COLUMN, or choose a measure that needs no labels."
        ),
    ),
    "report of maps with an option of maps to compute": (
        ("report", *WINE, "--map", "map.csv", "--psi", 4, "-o", "a.html"),
        ("--psi must be left out if --map is given, which embeds nothing; got --psi 4. Leave "),
    ),
    "report to another type": (
        ("report", *WINE, "-o", "a.pdf"),
        "--output must end in .html or .htm; got --output a.pdf. ",
    ),
    "plot a color without a table": (
        ("plot", "map.csv", "--color", "hue", "-o", "a.png"),
        "--color must be used together with --table, or be a column of the map; got --color hue. ",
    ),
    "plot a table without a color": (
        ("plot", "map.csv", "--table", "wine.csv", "-o", "a.png"),
        "--table must be used together with --color for a picture; got --table wine.csv. ",
    ),
    "plot a page in a style": (
        ("plot", "map.csv", "--style", "dark", "-o", "a.html"),
        "--style must be left out for a page; got --style dark. Write a file that ends in .png,",
    ),
    "export an unknown set": (("datasets", "export", "wines"), "Did you mean 'wine'?"),
}


@pytest.mark.parametrize(("line", "sentence"), REFUSED.values(), ids=REFUSED)
def test_wrong_use_is_one_sentence_and_leaves_nothing_behind(model, isosne, line, sentence):
    model()
    before = sorted(Path().rglob("*"))
    found = isosne(*line, code=2)
    assert found.stdout == ""
    last = found.stderr.splitlines()[-1]
    assert last.startswith("Error: ")
    assert sentence in last
    assert sorted(Path().rglob("*")) == before


def test_missing_values_are_refused_with_the_ways_to_go_on(wine, here, isosne):
    text = (here / "wine.csv").read_text().splitlines()
    text[3] = text[3].rpartition(",")[0] + ","
    (here / "wine.csv").write_text("\n".join(text) + "\n")
    found = isosne(*EMBED, "-o", "map.csv", code=1)
    assert "pass --missing drop to leave out the rows. To keep these rows, pass --mixed." in (
        found.stderr.replace("a data frame (pandas, polars or pyarrow) to TSNE, or ", "").replace(
            " on the command line", ""
        )
    )
