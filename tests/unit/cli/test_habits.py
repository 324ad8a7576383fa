"""What people type first: an example table, a perplexity, a number of steps, a seed."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from isosne.rows import read_map, read_table
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
    isosne("embed", "wine.csv", *line, "--max-iter", 200, "--seed", 4)
    used = read_map("map.parquet").provenance["parameters"]
    assert (used["n_iter"], used["random_state"]) == (200, 4)
