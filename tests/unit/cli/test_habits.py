"""What people type first: an example table, a perplexity, a number of steps, a seed."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from isosne.files import read_map, read_table
from tests.unit.cli.conftest import SHORT


def test_the_first_commands_of_the_readme_can_be_pasted(here, isosne):
    assert isosne("datasets", "export", "wine").stderr == "Wrote wine.csv\n"
    table = read_table("wine.csv", id="id", label="target")
    np.testing.assert_array_equal(table.rows.read(slice(None)), load_wine().data)
    assert table.labels[[0, 177]].tolist() == ["class_0", "class_2"]
    line = ("--id", "id", "--label", "target", "--scale", "minmax", *SHORT, "-q")
    isosne("embed", "wine.csv", *line, "-o", "map.parquet")
    isosne("plot", "map.parquet", "-o", "map.png", "--dpi", 20)
    isosne("measure", "wine.csv", "map.parquet")


def test_an_example_is_written_where_asked_and_not_over_a_file(here, isosne):
    isosne("datasets", "export", "iris", "-o", "flowers.csv")
    table = read_table("flowers.csv", id="id", label="target")
    np.testing.assert_array_equal(table.rows.read(slice(None)), load_iris().data)
    assert "versicolor" in table.labels
    found = isosne("datasets", "export", "iris", "-o", "flowers.csv", code=1)
    assert found.stderr == (
        "Error: Cannot write flowers.csv: the file already exists. Choose another name, or pass "
        "--force to replace it.\n"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            (),
            (
                "NAME must be one of breast_cancer, digits, iris, wine. Pass for example: isosne "
                "datasets export wine."
            ),
        ),
        (
            ("vine",),
            (
                "NAME must be one of breast_cancer, digits, iris, wine; got 'vine'. Did you mean "
                "'wine'?"
            ),
        ),
        (
            ("wine", "-o", "wine.xls"),
            "path must end in .csv; got path='wine.xls'. Choose another name.",
        ),
    ],
)
def test_a_wrong_export_is_one_sentence(here, isosne, words, sentence):
    assert isosne("datasets", "export", *words, code=2).stderr == f"Error: {sentence}\n"


@pytest.mark.parametrize(
    ("options", "kernel"),
    [((), "owner"), (("--psi", "8"), "isolation"), (("--perplexity", "5"), "gaussian")],
)
def test_an_option_of_a_kernel_selects_the_kernel(wine, isosne, options, kernel):
    line = ("--label", "cultivar", "--id", "bottle", *SHORT, "-q", "-o", "map.parquet")
    isosne("embed", "wine.csv", *line, *options)
    about = read_map("map.parquet").provenance
    assert about["parameters"]["kernel"] == kernel
    assert about["plan"]["kernel"].lower().startswith(kernel)


def test_other_names_of_options(wine, isosne):
    line = ("--label", "cultivar", "--id", "bottle", "-q", "-o", "map.parquet")
    isosne("embed", "wine.csv", *line, "--max-iter", 200, "--seed", 4, "--init", "random")
    used = read_map("map.parquet").provenance["parameters"]
    assert (used["n_iter"], used["random_state"], used["start"]) == (200, 4, "random")


@pytest.mark.parametrize(
    ("words", "end"),
    [
        (
            ("embed", "wine.csv", "-o", "map.csv", "--kernel", "gausian"),
            (
                "'--kernel': 'gausian' is not one of 'owner', 'isolation', 'gaussian', 'adaptive', "
                "'knn'. Did you mean 'gaussian'?"
            ),
        ),
        (
            ("embed", "wine.csv", "-o", "map.csv", "--kernel", "it's"),
            (
                "'--kernel': \"it's\" is not one of 'owner', 'isolation', 'gaussian', 'adaptive', "
                "'knn'."
            ),
        ),
        (
            ("embed", "wine.csv", "-o", "map.csv", "--schedule", "Standart"),
            (
                "'--schedule': 'Standart' is not one of 'annealed', 'standard', 'paper', "
                "'opt_sne'. Did you mean 'standard'?"
            ),
        ),
    ],
)
def test_a_misspelled_choice_is_refused_with_the_one_that_was_meant(here, isosne, words, end):
    found = isosne(*words, code=2).stderr
    assert f"Error: Invalid value for {end}" in " ".join(found.split())
