"""`isosne embed`: a CSV with text labels, other tables, landmarks, streams."""

import json
import re

import numpy as np
import pytest

from isosne import TSNE, IsolationKernel, OwnerKernel, __version__
from isosne.rows import read_map
from tests.unit.cli.conftest import COLUMNS, N_SHORT, SHORT, points_of, short_tsne


def test_the_everyday_line(wine, isosne):
    found = isosne("embed", "wine.csv", *COLUMNS, "--cell-size", 16, "-o", "map.parquet")
    drawn = read_map("map.parquet")
    assert drawn.ids.tolist() == wine["bottle"]
    assert drawn.labels.tolist() == wine["cultivar"]
    model = TSNE(OwnerKernel(cell_size=16), random_state=0).fit(points_of(wine))
    assert np.array_equal(drawn.embedding, model.embedding_)
    assert found.stdout == ""
    assert "affinities  sparse, 33 exact neighbors per point" in found.stderr
    *_, end, last = found.stderr.splitlines()
    assert re.fullmatch(rf"{model.n_iter_} steps in \d+\.\d s", end)
    wrote = rf"Wrote map.parquet: 178 rows, {model.n_iter_} steps, KL 0\.\d{{4}}, \d+\.\d s"
    assert re.fullmatch(wrote, last)


def test_a_map_says_how_it_was_made(wine, isosne):
    line = ("embed", "wine.csv", *COLUMNS, "--max-iter", N_SHORT, "--cell-size", "4,16")
    isosne(*line, "--seed", 7, "-o", "map.csv")
    made = read_map("map.csv").provenance
    assert made["version"] == __version__
    assert made["input"]["source"] == "wine.csv"
    assert made["input"]["shape"] == [178, 13]
    assert len(made["input"]["fingerprint"]) == 32
    assert made["table"] == {"id": "bottle", "label": "cultivar"}
    assert made["parameters"]["cell_size"] == "4,16"
    assert made["parameters"]["random_state"] == 7
    assert made["plan"]["affinities"] == "sparse"
    assert made["parameters"]["n_iter"] == made["n_iter"] == N_SHORT
    assert made["date"].endswith("+00:00")


def test_one_object_for_machines(wine, isosne):
    found = isosne("embed", "wine.csv", *COLUMNS, *SHORT, "-o", "map.feather", "--json", "--quiet")
    told = json.loads(found.stdout)
    assert told["output"] == "map.feather"
    assert told["n_rows"] == 178
    assert told["kl_divergence"] == read_map("map.feather").provenance["kl_divergence"]
    assert found.stderr == ""


def test_a_data_set_by_its_name(here, isosne):
    isosne("embed", "iris", *SHORT, "-o", "map.csv", "--kernel", "gaussian")
    drawn = read_map("map.csv")
    assert drawn.ids.tolist() == list(range(150))
    assert drawn.labels[0] == "setosa"


def test_blocks_of_placed_rows_make_one_map(here, two_blobs, isosne, monkeypatch):
    np.save("blobs.npy", two_blobs)
    line = ("embed", "blobs.npy", *SHORT, "--landmarks", 20, "-q")
    isosne(*line, "-o", "whole.csv")
    monkeypatch.setattr("isosne.cli.models.BLOCK_ROWS", 7)
    isosne(*line, "-o", "blocks.csv")
    assert np.array_equal(read_map("whole.csv").embedding, read_map("blocks.csv").embedding)


def test_scaled_columns_have_the_same_weight(wine, isosne):
    note = (
        "Note: Column 'proline' dominates the distances: its standard deviation is 388 times that "
        "of the median column. Pass --scale minmax to give all columns the same weight.\n"
    )
    line = ("embed", "wine.csv", *COLUMNS, *SHORT, "--kernel", "isolation", "--psi", 16)
    assert note in isosne(*line, "-o", "raw.csv").stderr
    assert "Note" not in isosne(*line, "--scale", "minmax", "-o", "scaled.csv").stderr
    X = points_of(wine)
    X = (X - X.min(axis=0)) * (1 / (X.max(axis=0) - X.min(axis=0)))
    expected = short_tsne(IsolationKernel(psi=16)).fit_transform(X)
    assert np.array_equal(read_map("scaled.csv").embedding, expected)


def test_standard_input_and_standard_output(wine, here, isosne):
    table = (here / "wine.csv").read_bytes()
    found = isosne("embed", "-", *COLUMNS, *SHORT, "-o", "-", input=table)
    (here / "piped.csv").write_text(found.stdout)
    isosne("embed", "wine.csv", *COLUMNS, *SHORT, "-o", "map.csv", "-q")
    piped, drawn = read_map("piped.csv"), read_map("map.csv")
    assert np.array_equal(piped.embedding, drawn.embedding)
    assert piped.ids.tolist() == drawn.ids.tolist()
    assert f"Wrote the map to standard output: 178 rows, {N_SHORT} steps, KL " in found.stderr


def test_the_first_commands_of_the_tutorial_can_be_pasted(here, isosne):
    assert isosne("datasets", "export", "wine").stderr == "Wrote wine.csv\n"
    line = ("--id", "id", "--label", "target", "--scale", "minmax", *SHORT, "-q")
    isosne("embed", "wine.csv", *line, "-o", "map.parquet")
    isosne("plot", "map.parquet", "-o", "map.png", "--dpi", 20)
    isosne("measure", "wine.csv", "map.parquet")


@pytest.mark.parametrize(
    ("options", "kernel"),
    [((), "owner"), (("--psi", "8"), "isolation"), (("--perplexity", "5"), "gaussian")],
)
def test_an_option_of_a_kernel_selects_the_kernel(wine, isosne_json, options, kernel):
    planned = isosne_json("embed", "wine.csv", *COLUMNS, "--plan", *options)
    assert planned["kernel"].lower().startswith(kernel)


def test_labels_guide_a_map(wine, isosne):
    line = ("embed", "wine.csv", *COLUMNS, *SHORT, "--label-weight", 0.4)
    isosne(*line, "-o", "guided.parquet")
    drawn = read_map("guided.parquet")
    assert drawn.provenance["parameters"]["label_weight"] == 0.4
    model = short_tsne(OwnerKernel(label_weight=0.4)).fit(points_of(wine), wine["cultivar"])
    np.testing.assert_array_equal(drawn.embedding, model.embedding_)
    unlabeled = ("embed", "wine.csv", "--id", "bottle", "--exclude", "cultivar")
    told = isosne(*unlabeled, "--label-weight", 0.4, "-o", "a.csv", code=2)
    assert "--label must name the column with the labels that guide the map" in told.stderr
    told = isosne(*line, "--kernel", "gaussian", "-o", "a.csv", code=2)
    assert "--label-weight must be left out with this kernel" in told.stderr


def test_a_column_of_weights_is_no_feature(wine, isosne):
    line = ("embed", "wine.csv", *COLUMNS, *SHORT)
    isosne(*line, "--weight", "alcohol", "-o", "weighted.parquet")
    drawn = read_map("weighted.parquet")
    assert drawn.provenance["parameters"]["sample_weight"] == "alcohol"
    assert drawn.provenance["table"]["exclude"] == ["alcohol"]
    others = points_of({name: values for name, values in wine.items() if name != "alcohol"})
    model = short_tsne().fit(others, sample_weight=wine["alcohol"])
    np.testing.assert_array_equal(drawn.embedding, model.embedding_)
    told = isosne(*line, "--weight", "alcool", "-o", "a.csv", code=2)
    assert "--weight must name a column of wine.csv; got --weight alcool" in told.stderr
    told = isosne(*line, "--weight", "cultivar", "-o", "a.csv", code=1)
    assert "--weight must hold 178 positive numbers" in told.stderr
