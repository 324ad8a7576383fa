"""Bad input: one sentence on standard error, its exit code, and nothing left behind."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isosne.errors import ParameterError
from tests.unit.cli.conftest import write_csv

COLUMNS = ("--label", "cultivar", "--id", "bottle")
LINE = ("embed", "wine.csv", *COLUMNS, "-o", "map.csv", "-q")


@pytest.fixture
def refused(wine, isosne):
    """Run a line that must fail; return its sentence, and see that it left nothing behind."""

    def run(*line, code):
        before = sorted(Path().rglob("*"))
        found = isosne(*line, code=code)
        assert found.stdout == ""
        assert found.stderr.count("\n") == 1
        assert sorted(Path().rglob("*")) == before
        return found.stderr.removeprefix("isosne: ").removesuffix("\n")

    return run


def with_cells(wine, changes):
    changed = {name: list(column) for name, column in wine.items()}
    for name, row, cell in changes:
        changed[name][row] = cell
    write_csv(Path("wine.csv"), changed)


def test_a_file_that_is_missing(refused):
    assert refused("embed", "wines.csv", "-o", "map.csv", "-q", code=2) == (
        "A table must be a file that exists; there is no 'wines.csv'. Did you mean 'wine.csv'?"
    )


def test_a_map_or_a_model_that_is_missing(refused):
    assert refused("measure", "wine.csv", "wine.parquet", code=2) == (
        "A map must be a file that exists; there is no 'wine.parquet'. Correct the path."
    )
    assert refused("transform", "w.isosne", "wine.csv", "-o", "x.csv", code=2) == (
        "A model must be a file that exists; there is no 'w.isosne'. Correct the path."
    )


def test_a_picture_of_more_pixels_than_any_screen(refused):
    Path("map.csv").write_text("")
    assert refused("plot", "map.csv", "--dpi", "100000", "-o", "map.png", code=2) == (
        "--dpi must be a number from 1 to 2400; got '100000'. Correct it."
    )


def test_a_value_of_a_grid_is_refused_before_the_first_map(refused):
    line = ("sweep", "wine.csv", *COLUMNS, "--psi", "4,1000", "-o", "sweep.csv", "-q")
    assert refused(*line, code=2).startswith(
        "psi must be an integer from 2 to n_samples; got --psi 1000 with n_samples=178."
    )


def test_a_reproduction_of_a_set_that_nobody_knows(refused):
    assert refused("paper", "results", "--quick", "--sets", "nope", "--out", "p", code=2) == (
        "name must be one of the paper's data sets or of the data folder's; got 'nope'. "
        "isosne datasets lists them."
    )


def test_a_reproduction_where_nobody_may_write(refused):
    found = refused("paper", "cells", "--out", "wine.csv/p", code=1)
    assert found.startswith("The output must go where one may write; wine.csv/p cannot be written")


def test_a_file_that_is_empty(refused):
    Path("empty.csv").touch()
    assert refused("embed", "empty.csv", "-o", "map.csv", "-q", code=1) == (
        "empty.csv must hold a table; it is empty. Write it again."
    )


def test_standard_input_that_is_empty(isosne, here):
    found = isosne("embed", "-", "-o", "map.csv", "-q", input=b"", code=1)
    assert found.stderr == (
        "isosne: standard input must hold a table; it is empty. "
        "Pipe a CSV or an Arrow stream into it.\n"
    )


@pytest.mark.parametrize("command", ["embed", "sweep", "report", "transform"])
def test_an_unknown_column(refused, isosne, command):
    first, last = (), "map.csv"
    if command == "transform":
        isosne(*LINE[:-3], "-o", "first.csv", "--save-model", "model.isosne", "-q")
        first = ("model.isosne",)
    if command == "report":
        last = "map.html"
    line = (command, *first, "wine.csv", "--label", "cultivr", "--id", "bottle", "-o", last, "-q")
    assert refused(*line, code=2) == (
        "label must name a column of wine.csv; got 'cultivr'. Did you mean 'cultivar'?"
    )


def test_labels_that_all_differ(refused):
    line = ("embed", "wine.csv", "--label", "bottle", "--exclude", "cultivar", "-o", "map.csv")
    assert refused(*line, "-q", code=1) == (
        "label must name a column of classes; 'bottle' has 178 different values in 178 rows. "
        "Name another column, or pass this one as id."
    )


def test_ids_that_repeat(refused):
    line = ("embed", "wine.csv", "--id", "cultivar", "--exclude", "bottle", "-o", "map.csv", "-q")
    assert "'cultivar' has 'Grignolino' 71 times" in refused(*line, code=1)


def test_text_where_numbers_should_be(wine, refused):
    with_cells(wine, [("hue", 40, "red")])
    sentence = (
        "Every value must be a finite number; wine.csv has 'red' in line 42, column 'hue'. "
        "Write numbers as 1234.5 or 1.2e3, or exclude the column."
    )
    assert refused(*LINE, code=1) == refused(*LINE, "--missing", "drop", code=1) == sentence


def test_columns_of_text(refused):
    assert refused("embed", "wine.csv", "-o", "map.csv", "-q", code=1) == (
        "Every column must be numeric; wine.csv has others: 'bottle' (text), 'cultivar' (text). "
        "Exclude them (--exclude bottle --exclude cultivar), or pass --text-columns leave_out."
    )


def test_values_that_are_missing_are_counted(wine, refused):
    with_cells(wine, [("hue", 40, "nan"), ("ash", 50, ""), ("ash", 51, "NA")])
    assert refused(*LINE, code=1) == (
        "Every value must be a finite number; wine.csv has a missing value in line 42, column "
        "'hue'; 3 of the values read are not finite. Impute such values, exclude the column, or "
        "leave out the rows (--missing drop)."
    )


def test_no_row_with_all_values(wine, refused):
    with_cells(wine, [("hue", row, "NA") for row in range(178)])
    assert refused(*LINE, "--missing", "drop", code=1) == (
        "At least one row must have all its values; each of the 178 rows of wine.csv lacks one, "
        "178 of them in column 'hue'. Exclude that column, or impute such values."
    )


def test_an_unknown_way_with_missing_values(refused):
    assert refused(*LINE, "--missing", "keep", code=2) == (
        "missing must be one of refuse, drop; got 'keep'. "
        "'drop' leaves out the rows that lack a value."
    )


def test_nulls_of_parquet(wine, refused):
    pq.write_table(pa.table({"a": [1.0, None, 3.0], "b": [1.0, 2.0, 3.0]}), "null.parquet")
    assert refused("embed", "null.parquet", "-o", "map.csv", "-q", code=1).startswith(
        "Every value must be a finite number; null.parquet has a missing value in row 1 (the first "
        "is row 0), column 'a'."
    )


def test_an_output_that_exists(refused):
    Path("map.csv").write_text("mine")
    assert refused(*LINE, code=1) == (
        "The output must not exist yet; map.csv does. "
        "Choose another name, or replace it with --force."
    )
    assert Path("map.csv").read_text() == "mine"


def test_force_replaces(wine, isosne):
    Path("map.csv").write_text("mine")
    isosne(*LINE, "--force")
    assert Path("map.csv").read_text().startswith("# isosne: ")


def test_an_output_in_no_folder(refused):
    assert refused("embed", "wine.csv", "-o", "no/map.csv", "-q", code=1) == (
        "The output must lie in a folder that exists; there is no no. Make the folder first."
    )


def test_an_output_where_nobody_may_write(refused):
    locked = Path("/proc/1") if os.geteuid() == 0 else Path("locked")
    if not locked.exists():
        locked.mkdir(mode=0o500)
    found = refused("embed", "wine.csv", *COLUMNS, "-o", locked / "map.csv", "-q", code=1)
    assert found.startswith("The output must go where one may write; ")


@pytest.mark.parametrize("option", ["--save-model", "--checkpoint"])
def test_what_cannot_be_kept_is_refused_before_the_work(refused, option):
    assert refused(*LINE, option, "no/file.isosne", code=1).startswith(
        "The output must lie in a folder that exists"
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ("--psi", "abc"),
            "psi must be auto, a number of cells, a share of the rows, or several with commas",
        ),
        (
            ("--kernel", "gaussian", "--perplexity", "auto"),
            "perplexity must be a number, or several with commas between; got 'auto'.",
        ),
        (("--psi", "1"), "psi must be 'auto', an integer from 2 to n_samples"),
        (("--perplexity", "30"), "--perplexity belongs to the kernel gaussian; got --kernel isol"),
        (("--kernel", "gauss"), "kernel must be one of isolation, gaussian, adaptive, knn; got"),
        (("--forces", "trees"), "forces must be one of auto, exact, mesh, tree; got 'trees'."),
        (("--schedule", "fast"), "schedule must be one of standard, paper, opt_sne; got 'fast'."),
        (("--objective", "foo"), "objective must be one of kl, nerv, jse; got 'foo'."),
        (("--start", "foo"), "start must be one of auto, pca, spectral, random; got 'foo'."),
        (
            ("--landmarks", "999"),
            "landmarks must be an integer from 2 to 178; got --landmarks 999.",
        ),
        (("--landmarks-only",), "--landmarks-only needs --landmarks; got none."),
        (("--memory-limit", "much"), "--memory-limit must be a number of bytes or a size such as"),
        (("--scale", "max"), "scale must be one of none, minmax, standard; got 'max'."),
        (("--n-jobs", "0"), "--n-jobs must be an integer from 1 up; got '0'. Correct it."),
        (("--random-state=-1",), "--random-state must be an integer from 0 up; got '-1'. Correct"),
        (("--landmarks", "abc"), "--landmarks must be an integer; got 'abc'. Correct it."),
        (("--dof", "x"), "--dof must be a number; got 'x'. Correct it."),
        (("--every", "0", "--checkpoint", "run"), "every must be an integer from 1 up"),
        (("--every", "50"), "--every needs --checkpoint; got none. Add --checkpoint FILE, or"),
        (("--landmark-choice", "uniform"), "--landmark-choice needs --landmarks; got none."),
        (
            ("--landmark-choice", "x", "--landmarks", "60"),
            "--landmark-choice must be one of uniform, spread; got 'x'.",
        ),
        (("--p", "2"), "--p belongs to the metric minkowski; got --metric euclidean. Add"),
        (("--key", "X"), "--key names an array of a .npz, .zarr or .h5ad; got --key X with wine"),
    ],
)
def test_options_with_a_value_that_their_rule_does_not_allow(refused, options, sentence):
    assert refused(*LINE, *options, code=2).startswith(sentence)


def test_a_map_and_an_object_on_one_output(refused):
    assert refused("embed", "wine.csv", *COLUMNS, "-o", "-", "--json", code=2) == (
        "--json prints on standard output; got the map there too (--output -). "
        "Write the map to a file."
    )


def test_a_checkpoint_of_another_run_is_left_alone(wine, isosne, refused):
    isosne(*LINE, "--checkpoint", "run.isosne")
    kept = Path("run.isosne").read_bytes()
    Path("map.csv").unlink()
    assert refused(*LINE, "--checkpoint", "run.isosne", "--psi", "9", code=1).startswith(
        "The checkpoint run.isosne must be of the same run; the parameter kernel is another now."
    )
    assert Path("run.isosne").read_bytes() == kept


def test_scaling_sparse_rows(here, isosne):
    from scipy.sparse import eye_array, save_npz

    save_npz("eye.npz", eye_array(30).tocsr())
    found = isosne("embed", "eye.npz", "--scale", "minmax", "-o", "map.csv", code=2)
    assert found.stderr == (
        "isosne: scale needs a table of columns; got sparse rows. Leave it out, or scale them "
        "before.\n"
    )


def test_rows_that_all_agree_are_mapped_or_refused_in_a_sentence(here, isosne):
    np.save("same.npy", np.ones((20, 3)))
    isosne("embed", "same.npy", "-o", "map.csv", "-q")


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_traceback_only_on_demand(here, isosne, place):
    line = ["embed", "nothing.csv", "-o", "map.csv"]
    line = ["--debug", *line] if place == "before" else [*line, "--debug"]
    assert isinstance(isosne(*line, code=1).exception, ParameterError)


def test_a_fault_of_the_program_is_a_sentence_too(wine, refused, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("isosne.TSNE.fit", fail)
    assert refused(*LINE, code=1) == (
        "This is a fault of the program: ZeroDivisionError: by zero. "
        "Please report it, with what the same command says with --debug."
    )


def test_memory_that_is_used_up(wine, refused, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("isosne.TSNE.fit", fail)
    assert refused(*LINE, code=1).startswith("The run needs more memory than there is.")
