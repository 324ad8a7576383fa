"""Errors: one sentence on standard error, the exit code, and no file left behind.

Sentences of the library are tested where they are raised; here they must be printed as the
library words them, with options in place of keywords.
"""

import os
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from scipy.sparse import eye_array, save_npz
from typer.testing import CliRunner

from isosne import TSNE, IsolationKernel, Mesh, OwnerKernel, Schedule, datasets
from isosne._files import check_writable
from isosne.cli.messages import in_sentences, shows_tracebacks
from isosne.errors import DataError, IsosneWarning, ParameterError, keyword
from isosne.files import MapWriter, read_map, read_table
from isosne.files.table_reader import check_exists
from isosne.paper.registry import reproduce
from isosne.paper.settings import Settings
from isosne.quality import report
from isosne.sources.scaled import Scale
from isosne.tsne.input_data import TABLES
from isosne.tsne.memory_budget import memory_available
from tests.unit.cli.conftest import (
    COLUMNS,
    SHORT,
    points_of,
    sentence_of,
    spelling,
    write_csv,
)

ROLES = {"label": "cultivar", "id": "bottle"}
LINE = ("embed", "wine.csv", *COLUMNS, *SHORT, "-o", "map.csv", "-q")


@pytest.fixture
def refused(wine, isosne):
    """Run a line that must fail; return its sentence, and check that it left nothing behind."""

    def run(*line, code):
        before = sorted(Path().rglob("*"))
        found = isosne(*line, code=code)
        assert found.stdout == ""
        assert found.stderr.startswith("Error: ")
        assert found.stderr.count("\n") == 1
        assert sorted(Path().rglob("*")) == before
        return found.stderr.removeprefix("Error: ").removesuffix("\n")

    return run


def with_cells(wine, changes):
    changed = {name: list(column) for name, column in wine.items()}
    for name, row, cell in changes:
        changed[name][row] = cell
    write_csv(Path("wine.csv"), changed)


# How sentences are printed.


@pytest.fixture
def small():
    """An application of one command, which raises or warns."""

    def make(command):
        application = typer.Typer()

        @application.callback()
        def main(debug: bool = False) -> None:
            shows_tracebacks.set(debug)

        application.command("run")(in_sentences(command, spelling("embed")))
        return lambda *line: CliRunner().invoke(application, [*line, "run"])

    return make


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (
            ParameterError("psi", "be at least 2", 1, "Choose a larger psi."),
            2,
            "--psi must be at least 2; got --psi 1. Choose a larger psi.",
        ),
        (
            DataError("The file is damaged. Copy it again."),
            1,
            "The file is damaged. Copy it again.",
        ),
        (OSError("No space left on device"), 1, "No space left on device"),
        (
            ZeroDivisionError("by zero"),
            1,
            (
                "Internal error: ZeroDivisionError: by zero. "
                "Please report it with the output of --debug."
            ),
        ),
        (
            MemoryError(),
            1,
            (
                "Out of memory. Embed fewer rows with --landmarks, or set --memory-limit, so that "
                "isosne chooses methods that fit."
            ),
        ),
    ],
)
def test_an_error_is_one_sentence_and_a_traceback_only_with_debug(small, error, code, sentence):
    def fail() -> None:
        raise error

    run = small(fail)
    found = run()
    assert found.exit_code == code
    assert found.stderr == f"Error: {sentence}\n"
    assert run("--debug").exception is error


def test_a_warning_is_one_sentence_too(small):
    def warn() -> None:
        warnings.warn("Some points are isolated.", IsosneWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        found = small(warn)()
    assert found.exit_code == 0
    assert found.stderr == "Warning: Some points are isolated.\n"


@pytest.mark.parametrize("place", ["before", "after"])
def test_debug_comes_before_the_command_or_after_it(here, isosne, place):
    line = ["embed", "nothing.csv", "-o", "map.csv"]
    line = ["--debug", *line] if place == "before" else [*line, "--debug"]
    assert isinstance(isosne(*line, code=1).exception, ParameterError)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (f"got {keyword('psi', 1)}. Raise it.", "got --psi 1. Raise it."),
        (f"got {keyword('psi', [8, 64])}.", "got --psi 8,64."),
        (f"Pass {keyword('exclude', ['a b', 'c'])}.", "Pass --exclude 'a b' --exclude c."),
        (f"Raise {keyword('memory_limit')} to 6 kB.", "Raise --memory-limit to 6 kB."),
        (f"got {keyword('theta', -0.5)}.", "got --theta -0.5."),
        (f"got {keyword('id', None)}.", "got no --id."),
        (f"got {keyword('columns', [])}.", "got no --columns."),
        (f"Pass {keyword('force', True)}.", "Pass --force."),
        (f"got {keyword('header', False)}.", "got no --header."),
        (f"got {keyword('output', len)}.", "got --output <built-in function len>."),
        (f"got {keyword('source', 'w.csv')}; {keyword('source')}.", "got 'w.csv'; TABLE."),
        (f"got {keyword('random_state', 0)}.", "got --random-state 0."),
        (
            f"got {keyword('name', 'iris')}; {keyword('accuracy', 2)}",
            "got 'iris'; --mesh-accuracy 2",
        ),
        (f"got {keyword('n_samples', 178)}.", "got n_samples=178."),
        (f"got {keyword('n_queries', 9)}.", "got n_queries=9."),  # an option of measure only
        ("the file psi=1 is damaged", "the file psi=1 is damaged"),
    ],
)
def test_parameters_are_spelled_as_options_of_the_command(sentence, expected):
    assert DataError(sentence).worded(spelling("embed")) == expected


def test_each_command_has_its_own_options():
    sentence = f"{keyword('n_queries', 9)}, {keyword('psi', 9)}, {keyword('map_file')}"
    assert DataError(sentence).worded(spelling("measure")) == "--n-queries 9, psi=9, MAP"


# Typer's own refusals.


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("papers",), "No such command 'papers'. Did you mean 'paper'?"),
        ((*LINE, "--psy", "4"), "No such option: --psy (Possible options: "),
        (("paper", "cells", "--out", "p"), "No such option: --out (Possible options: --output)"),
        (("paper", "cells", "--jobs", "2"), "No such option: --jobs (Possible options: --n-jobs)"),
        (("embed", "wine.csv"), "Missing option '--output'"),
        ((*LINE, "--kernel", "gauss"), "'--kernel': "),
        ((*LINE, "--forces", "trees"), "'--forces': "),
        ((*LINE, "--schedule", "fast"), "'--schedule': "),
        ((*LINE, "--objective", "foo"), "'--objective': "),
        ((*LINE, "--start", "foo"), "'--start' / '--init': "),
        ((*LINE, "--missing", "keep"), "'--missing': "),
        ((*LINE, "--scale", "max"), "'--scale': "),
        ((*LINE, "--landmark-choice", "x", "--landmarks", "60"), "'--landmark-choice': "),
        ((*LINE, "--n-jobs", "0"), "'--n-jobs': "),
        ((*LINE, "--random-state=-1"), "'--random-state' / '--seed': "),
        ((*LINE, "--landmarks", "abc"), "'--landmarks': "),
        ((*LINE, "--dof", "x"), "'--dof': "),
        (("plot", "map.csv", "--dpi", "100000", "-o", "map.png"), "'--dpi': "),
        (("paper", "results", "--output", "p", "--grid", "fine"), "'--grid': "),
        (("paper", "results", "--output", "p", "--n-jobs", "0"), "'--n-jobs': "),
        (("sweep", "wine.csv", "--measure", "beauty", "-o", "s.csv"), "'--measure': "),
    ],
)
def test_what_typer_refuses_is_wrong_use(wine, isosne, line, words):
    found = isosne(*line, code=2)
    assert words in found.stderr
    assert "Traceback" not in found.stderr
    assert [path.name for path in Path().iterdir()] == ["wine.csv"]


# Options that do not go together, and values that only the command line knows.

TOGETHER = "--{0} must be used together with --{1}; got --{2}. Add --{1}, or leave out --{0}."


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ("--kernel", "isolation", "--psi", "abc"),
            (
                "--psi must be auto, a number of cells, a fraction of the rows, or several of "
                "these with commas; got --psi abc. Write for example --psi 16 or --psi 8,64."
            ),
        ),
        (
            ("--cell-size", "abc"),
            (
                "--cell-size must be auto, a number of points, a fraction of the rows, or several "
                "with commas; got --cell-size abc. Write for example --cell-size 16 or "
                "--cell-size 8,64."
            ),
        ),
        (
            ("--kernel", "gaussian", "--perplexity", "auto"),
            (
                "--perplexity must be a number, or several with commas; got --perplexity auto. "
                "Write for example --perplexity 16 or --perplexity 8,64."
            ),
        ),
        (
            ("--kernel", "owner", "--perplexity", "30"),
            (
                "--perplexity must be left out with --kernel owner; got --perplexity 30. "
                "It is a parameter of --kernel gaussian."
            ),
        ),
        (
            ("--kernel", "owner", "--psi", "16"),
            (
                "--psi must be left out with --kernel owner; got --psi 16. "
                "It is a parameter of --kernel isolation."
            ),
        ),
        (
            ("--k", "30"),
            (
                "--k must be left out with --kernel owner; got --k 30. "
                "It is a parameter of --kernel adaptive or --kernel knn."
            ),
        ),
        (("--p", "2"), TOGETHER.format("p", "metric minkowski", "p 2.0")),
        (
            ("--schedule", "paper"),
            (
                "--n-iter must be used together with --schedule annealed or --schedule standard; "
                "got --n-iter 260. Add --schedule annealed, or leave out --n-iter."
            ),
        ),
        (
            ("--neighbors", "exact"),
            TOGETHER.format("neighbors", "affinities sparse", "neighbors exact"),
        ),
        (
            ("--mesh-accuracy", "0.1"),
            TOGETHER.format("mesh-accuracy", "forces mesh", "mesh-accuracy 0.1"),
        ),
        (("--theta", "0.1"), TOGETHER.format("theta", "forces tree", "theta 0.1")),
        (
            ("--landmarks-only",),
            (
                "--landmarks-only must be used together with --landmarks; got --landmarks-only. "
                "Add for example --landmarks 10000."
            ),
        ),
        (
            ("--landmark-choice", "uniform"),
            (
                "--landmark-choice must be used together with --landmarks; got "
                "--landmark-choice uniform. Add for example --landmarks 10000."
            ),
        ),
        (
            ("--every", "50"),
            (
                "--every must be used together with --checkpoint; got --every 50. "
                "Add --checkpoint FILE, or leave out --every."
            ),
        ),
        (
            ("--key", "X"),
            (
                "--key must be left out for wine.csv, which holds one table; got --key X. "
                "It names an array of a .npz, .zarr or .h5ad file."
            ),
        ),
        (
            ("-o", "-", "--json"),
            (
                "--output must be a file if --json prints to standard output; got --output -. "
                "Write the map to a file, or leave out --json."
            ),
        ),
        (
            ("-o", "map.jpg"),
            (
                "--output must end in .parquet, .csv, .npz, .npy, .feather, .arrow or .h5ad; got "
                "--output map.jpg. The file type is chosen by the ending."
            ),
        ),
    ],
)
def test_options_of_embed(refused, options, sentence):
    assert refused(*LINE, *options, code=2) == sentence


def test_a_choice_of_auto_goes_with_everything(wine_set, isosne):
    assert isosne("plan", "wine", "--neighbors", "auto").stderr == ""


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            ("sweep", "wine.csv", "--text-columns", "leave_out", "--measure", "knn_accuracy"),
            (
                "--measure must be used together with --label; got --measure knn_accuracy. "
                "Add --label COLUMN, or choose a measure that needs no labels."
            ),
        ),
        (
            ("sweep", "wine.csv", *COLUMNS, "--kernel", "isolation", "--psi", "4,x"),
            (
                "--psi must be auto, a number of cells, a fraction of the rows, or several of "
                "these with commas; got --psi 4,x. Write for example --psi 16 or --psi 8,64."
            ),
        ),
        (
            ("sweep", "wine.csv", *COLUMNS, "--cell-size", "4,x"),
            (
                "--cell-size must be auto, a number of points, a fraction of the rows, or several "
                "with commas; got --cell-size 4,x. Write for example --cell-size 16 or "
                "--cell-size 8,64."
            ),
        ),
        (
            ("plot", "map.parquet", "--table", "wine.csv", "-o", "map.png"),
            (
                "--table must be used together with --color for a picture; got --table wine.csv. "
                "Add --color COLUMN, or write an .html page, which shows all columns."
            ),
        ),
        (
            ("plot", "map.parquet", "-o", "map.jpg"),
            (
                "--output must end in .png, .svg, .pdf, .html or .htm; got --output map.jpg. "
                "The file type is chosen by the ending."
            ),
        ),
        (
            ("plot", "-", "--trust", "-", "-o", "map.png"),
            (
                "--trust must be a file if MAP is read from standard input; got --trust -. "
                "Save one of them to a file."
            ),
        ),
        (
            ("measure", "-", "-"),
            (
                "MAP must be a file if TABLE is read from standard input; got '-'. "
                "Save one of them to a file."
            ),
        ),
        (
            ("paper", "--output", "p"),
            (
                "NAME must be given, unless --list is used. "
                "Run for example isosne paper results --output FOLDER."
            ),
        ),
        (
            ("paper", "results"),
            (
                "--output must be given, unless --list is used. "
                "Run for example isosne paper results --output FOLDER."
            ),
        ),
    ],
)
def test_options_of_other_commands(refused, line, sentence):
    if line[0] == "sweep":
        line = (*line, "-o", "sweep.csv", "-q")
    assert refused(*line, code=2) == sentence


# Values that the library refuses.


@pytest.mark.parametrize(
    ("options", "call"),
    [
        (("--n-iter", "150"), lambda: Schedule.annealed(n_iter=150)),
        (
            ("--n-iter", "250", "--schedule", "standard"),
            lambda: Schedule.standard(n_iter=250),
        ),
        (("--forces", "mesh", "--mesh-accuracy", "2"), lambda: Mesh(2.0)),
        (
            ("--kernel", "isolation", "--psi", "1"),
            lambda: IsolationKernel(psi=1).fit(np.eye(178)),
        ),
        (("--cell-size", "1000"), lambda: OwnerKernel(cell_size=1000).fit(np.eye(178))),
        (("--landmarks", "999"), lambda: TSNE(landmarks=999).plan(np.eye(178))),
        (("--memory-limit", "much"), lambda: memory_available("much")),
        (
            ("--every", "0", "--checkpoint", "run"),
            lambda: TSNE().fit(np.eye(178), checkpoint="run", every=0),
        ),
    ],
    ids=[
        *("n_iter", "n_iter of standard", "mesh_accuracy", "psi", "cell_size"),
        *("landmarks", "memory_limit", "every"),
    ],
)
def test_options_that_the_library_refuses(refused, options, call):
    assert refused(*LINE, *options, code=2) == sentence_of(call)


@pytest.mark.parametrize(
    ("options", "kernel"),
    [
        (("--cell-size", "4,1000"), OwnerKernel(cell_size=1000)),
        (("--kernel", "isolation", "--psi", "4,1000"), IsolationKernel(psi=1000)),
    ],
    ids=["owner", "isolation"],
)
def test_a_value_of_a_grid_is_refused_before_the_first_map(refused, options, kernel):
    line = ("sweep", "wine.csv", *COLUMNS, *options, "-o", "sweep.csv", "-q")
    assert refused(*line, code=2) == sentence_of(lambda: kernel.fit(np.eye(178)), "sweep")


def test_what_does_not_fit_in_memory(refused):
    line = ("plan", "wine.csv", *COLUMNS, "--affinities", "dense", "--memory-limit", "1kB")
    model = TSNE(affinities="dense", memory_limit="1kB")
    rows = read_table("wine.csv", **ROLES).rows
    assert refused(*line, code=2) == sentence_of(lambda: model.plan(rows), "plan")


def test_more_points_to_evaluate_than_there_are(model, isosne):
    X, Y = points_of(model()), read_map("map.csv").embedding
    found = isosne("measure", "wine.csv", "map.csv", "--n-queries", 999, code=2)
    sentence = sentence_of(lambda: report(X, Y, n_queries=999), "measure")
    assert found.stderr == f"Error: {sentence}\n"


def test_results_of_the_paper(refused, here):
    settings = Settings(here / "p", sets=("nope",))
    for name, options, code in (("result", (), 2), ("results", ("--sets", "nope"), 2)):
        line = ("paper", name, *options, "--output", "p")
        call = lambda: reproduce(name, settings)  # noqa: B023, E731  called at once
        assert refused(*line, code=code) == sentence_of(call, "paper")


def test_a_data_folder_that_does_not_exist(refused):
    sentence = sentence_of(lambda: datasets.describe(folder="nowhere"), "datasets")
    assert refused("datasets", "--data", "nowhere", code=2) == sentence


# Tables, maps and models.


@pytest.mark.parametrize(
    ("line", "call"),
    [
        (("embed", "wines.csv", "-o", "x.csv"), lambda: read_table("wines.csv")),
        (
            ("measure", "wine.csv", "w.parquet"),
            lambda: check_exists(Path("w.parquet"), "map_file"),
        ),
        (
            ("transform", "w.isosne", "wine.csv", "-o", "x.csv"),
            lambda: check_exists(Path("w.isosne"), "model_file"),
        ),
    ],
    ids=["table", "map", "model"],
)
def test_a_file_that_does_not_exist(refused, line, call):
    assert refused(*line, code=2) == sentence_of(call, line[0])


@pytest.mark.parametrize(
    ("line", "call"),
    [
        (("embed", "empty.csv", "-o", "x.csv"), lambda: read_table("empty.csv")),
        (("measure", "wine.csv", "wine.csv", *COLUMNS), lambda: read_map("wine.csv")),
        (
            ("transform", "wine.csv", "wine.csv", "-o", "x.csv"),
            lambda: TSNE.load("wine.csv"),
        ),
    ],
    ids=["table", "map", "model"],
)
def test_a_file_that_holds_something_else(refused, line, call):
    Path("empty.csv").touch()
    assert refused(*line, code=1) == sentence_of(call, line[0])


def test_standard_input_that_is_empty(here, isosne):
    found = isosne("embed", "-", "-o", "map.csv", "-q", input=b"", code=1)
    assert found.stderr.startswith("Error: ")
    assert "standard input" in found.stderr
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["embed", "sweep", "report", "transform"])
def test_an_unknown_column(model, refused, command):
    model()
    first = ("model.isosne",) if command == "transform" else ()
    output = "x.html" if command == "report" else "x.csv"
    line = (command, *first, "wine.csv", "--label", "cultivr", "--id", "bottle", "-o", output)
    sentence = sentence_of(lambda: read_table("wine.csv", **ROLES | {"label": "cultivr"}), command)
    assert refused(*line, "-q", code=2) == sentence
    assert sentence.endswith("Did you mean 'cultivar'?")


def test_an_unknown_column_to_color_by(model, refused):
    model()
    line = ("plot", "map.csv", "--color", "alcohl", "--table", "wine.csv", "-o", "map.png")
    assert refused(*line, code=2).endswith("Did you mean 'alcohol'?")


def test_a_column_of_the_model_that_the_table_lacks(model, here, isosne):
    wine = dict(model())
    wine["alcohl"] = wine.pop("alcohol")
    write_csv(here / "new.csv", wine)
    found = isosne("transform", "model.isosne", "new.csv", "-o", "x.csv", code=2)
    assert found.stderr == (
        "Error: TABLE must have the column 'alcohol', which the model was fitted on; "
        "got 'new.csv'. Did you mean 'alcohl'?\n"
    )


def test_another_number_of_columns_than_the_model_has(model, isosne):
    model("--scale", "minmax")
    np.save("narrow.npy", np.ones((5, 3)))
    found = isosne("transform", "model.isosne", "narrow.npy", "-o", "x.csv", code=2)
    assert found.stderr.startswith("Error: ")
    assert "13" in found.stderr
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "roles"),
    [
        (("--label", "bottle", "--exclude", "cultivar"), {"label": "bottle"}),
        (("--id", "cultivar", "--exclude", "bottle"), {"id": "cultivar"}),
        ((), {}),
    ],
    ids=["labels-all-differ", "ids-repeat", "text-columns"],
)
def test_columns_that_cannot_serve(refused, options, roles):
    exclude = options[3::2]
    found = refused("embed", "wine.csv", *options, "-o", "map.csv", "-q", code=1)
    assert found == sentence_of(lambda: read_table("wine.csv", **roles, exclude=exclude))


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ([("hue", 40, "red")], "refuse"),
        ([("hue", 40, "red")], "drop"),
        ([("hue", 40, "nan"), ("ash", 50, ""), ("ash", 51, "NA")], "refuse"),
        ([("hue", row, "NA") for row in range(178)], "drop"),
    ],
    ids=["text", "text-is-not-missing", "missing", "no-complete-row"],
)
def test_values_that_are_no_finite_numbers(wine, refused, changes, missing):
    with_cells(wine, changes)
    found = refused(*LINE, "--missing", missing, code=1)

    def read():
        read_table("wine.csv", **ROLES, missing=missing).rows.read(slice(None))

    hint = f" {TABLES}" if changes[0][2] == "nan" else ""
    assert found == sentence_of(read) + hint


def test_nulls_of_parquet(refused):
    pq.write_table(pa.table({"a": [1.0, None, 3.0], "b": [1.0, 2.0, 3.0]}), "null.parquet")
    found = refused("embed", "null.parquet", "-o", "map.csv", "-q", code=1)
    sentence = sentence_of(lambda: read_table("null.parquet").rows.read(slice(None)))
    assert found == f"{sentence} {TABLES}"


def test_sparse_rows_are_not_scaled(here, isosne):
    save_npz("eye.npz", eye_array(30).tocsr())
    found = isosne("embed", "eye.npz", "--scale", "minmax", "-o", "map.csv", code=2)
    call = lambda: Scale.of("minmax", read_table("eye.npz").rows)  # noqa: E731
    assert found.stderr == f"Error: {sentence_of(call)}\n"


def test_rows_that_are_all_equal_are_embedded(here, isosne):
    np.save("same.npy", np.ones((20, 3)))
    isosne("embed", "same.npy", *SHORT, "-o", "map.csv", "-q")


@pytest.fixture
def two_columns(wine):
    """A map of wine with the identifiers of its rows."""
    with MapWriter("map.parquet", wine["bottle"], 2, {}) as writer:
        writer.write(points_of(wine)[:, :2])


@pytest.mark.usefixtures("two_columns")
def test_identifiers_of_the_map_need_a_column(refused):
    line = ("measure", "wine.csv", "map.parquet", "--exclude", "bottle", "--label", "cultivar")
    assert refused(*line, code=2) == (
        "--id must name the column of wine.csv with the row identifiers of the map, such as "
        "'b000'; got no --id. Add --id COLUMN."
    )


@pytest.mark.usefixtures("two_columns")
def test_points_that_are_not_in_the_table(wine, here, refused):
    write_csv(here / "part.csv", {name: column[:100] for name, column in wine.items()})
    assert refused("measure", "part.csv", "map.parquet", *COLUMNS, code=1) == (
        "Every point of the map must be a row of the table; 78 of 178 are not in part.csv, such "
        "as 'b100'. Pass the table that the map was made from, and its identifiers with --id."
    )


@pytest.mark.usefixtures("two_columns")
def test_rows_that_do_not_fit_in_memory(refused):
    line = ("measure", "wine.csv", "map.parquet", *COLUMNS, "--memory-limit", "1kB")
    assert refused(*line, code=2) == (
        "--memory-limit must be at least 18.5 kB to hold the rows of wine.csv in memory; 1 kB is "
        "available. Raise the limit, or use a table with fewer rows."
    )


# Outputs.


def test_an_output_that_exists_is_replaced_only_with_force(wine, refused, isosne):
    Path("map.csv").write_text("mine")
    assert refused(*LINE, code=1) == sentence_of(lambda: check_writable(Path("map.csv")))
    assert Path("map.csv").read_text() == "mine"
    isosne(*LINE, "--force")
    assert Path("map.csv").read_text().startswith("id,label,x,y\n")


@pytest.mark.parametrize("option", ["-o", "--save-model", "--checkpoint"])
def test_an_output_in_a_folder_that_does_not_exist(refused, option):
    found = refused(*LINE, option, "no/map.csv", code=1)
    assert found == sentence_of(lambda: check_writable(Path("no/map.csv")))


@pytest.mark.parametrize("command", ["embed", "paper"])
def test_an_output_without_permission(refused, command):
    locked = Path("/proc/1") if os.geteuid() == 0 else Path("locked")
    if not locked.exists():
        locked.mkdir(mode=0o500)
    line = (*LINE, "-o", locked / "map.csv") if command == "embed" else ("paper", "cells")
    if command == "paper":
        line, locked = (*line, "--output", "wine.csv/p"), Path("wine.csv/p")
    assert str(locked) in refused(*line, code=1)


def test_a_checkpoint_of_another_run_is_left_alone(wine, isosne, refused):
    isosne(*LINE, "--checkpoint", "run.isosne")
    kept = Path("run.isosne").read_bytes()
    Path("map.csv").unlink()
    found = refused(*LINE, "--checkpoint", "run.isosne", "--cell-size", "9", code=1)
    assert "run.isosne" in found
    assert "kernel" in found
    assert Path("run.isosne").read_bytes() == kept
