"""`isosne embed`: every everyday line, on wine as a CSV with text labels."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather
from scipy.sparse import csr_array, save_npz

from isosne import TSNE, IsolationKernel, __version__
from isosne.files import read_map

COLUMNS = ("--label", "cultivar", "--id", "bottle")


def points(wine):
    return np.column_stack([values for name, values in list(wine.items())[2:]])


def test_the_everyday_line(wine, isosne):
    found = isosne("embed", "wine.csv", *COLUMNS, "--psi", 16, "-o", "map.parquet")
    drawn = read_map("map.parquet")
    assert drawn.ids.tolist() == wine["bottle"]
    assert drawn.labels.tolist() == wine["cultivar"]
    model = TSNE(IsolationKernel(psi=16), random_state=0).fit(points(wine))
    assert np.array_equal(drawn.embedding, model.embedding_)
    assert found.stdout == ""
    assert "affinities  dense" in found.stderr
    assert "step 750 of 750   phase 2 of 2   KL 0." in found.stderr
    assert "The map of 178 rows is in map.parquet: 750 steps, objective 0." in found.stderr


def test_a_map_says_how_it_was_made(wine, isosne):
    isosne("embed", "wine.csv", *COLUMNS, "--psi", "8,64", "--random-state", 7, "-o", "map.csv")
    made = read_map("map.csv").provenance
    assert made["version"] == __version__
    assert made["input"]["source"] == "wine.csv"
    assert made["input"]["shape"] == [178, 13]
    assert len(made["input"]["fingerprint"]) == 32
    assert made["table"] == {"id": "bottle", "label": "cultivar"}
    assert made["parameters"]["psi"] == "8,64"
    assert made["parameters"]["random_state"] == 7
    assert made["plan"]["affinities"] == "dense"
    assert made["n_iter"] == 750
    assert made["date"].endswith("+00:00")


def test_one_object_for_machines(wine, isosne):
    found = isosne("embed", "wine.csv", *COLUMNS, "-o", "map.npz", "--json", "--quiet")
    told = json.loads(found.stdout)
    assert told["output"] == "map.npz"
    assert told["n_rows"] == 178
    assert told["kl_divergence"] == read_map("map.npz").provenance["kl_divergence"]
    assert found.stderr == ""


def test_quiet_says_nothing(wine, isosne):
    found = isosne("embed", "wine.csv", *COLUMNS, "-o", "map.csv", "-q")
    assert found.stdout == found.stderr == ""


def test_a_data_set_by_its_name(wine_set, isosne):
    isosne("embed", "wine", "-o", "map.csv", "--kernel", "gaussian")
    drawn = read_map("map.csv")
    assert drawn.ids.tolist() == list(range(178))
    assert drawn.labels[0] == "Barolo"


@pytest.mark.parametrize("ending", [".npy", ".npz", ".parquet", ".feather"])
def test_every_kind_of_table(here, two_blobs, isosne, ending):
    if ending == ".npy":
        np.save("blobs.npy", two_blobs)
    elif ending == ".npz":
        np.savez("blobs.npz", X=two_blobs)
    else:
        table = pa.table({f"f{c}": two_blobs[:, c] for c in range(5)})
        write = feather.write_feather if ending == ".feather" else pq.write_table
        write(table, f"blobs{ending}")
    isosne("embed", f"blobs{ending}", "-o", "map.csv", "-q")
    expected = TSNE(random_state=0).fit_transform(two_blobs)
    assert np.array_equal(read_map("map.csv").embedding, expected)


def test_sparse_rows(here, two_blobs, isosne):
    counts = csr_array(np.maximum(two_blobs.round(), 0))
    save_npz("counts.npz", counts)
    isosne("embed", "counts.npz", "-o", "map.csv", "-q")
    assert np.array_equal(read_map("map.csv").embedding, TSNE(random_state=0).fit_transform(counts))


def test_landmarks_are_mapped_and_every_row_is_placed_in_order(wine, isosne):
    line = ("embed", "wine.csv", *COLUMNS, "--landmarks", 60, "--psi", 16)
    kept = ("--checkpoint", "run.isosne", "-o", "map.parquet")
    found = isosne(*line, "--memory-limit", "1.5GB", *kept)
    assert re.search(r" s to map 60 landmarks, [\d.]+ s to place all rows\.\n$", found.stderr)
    isosne(*line, "--landmarks-only", "-o", "landmarks.parquet")
    drawn, landmarks = read_map("map.parquet"), read_map("landmarks.parquet")
    assert drawn.ids.tolist() == wine["bottle"]
    assert drawn.labels.tolist() == wine["cultivar"]
    model = TSNE(IsolationKernel(psi=16), landmarks=60, random_state=0).fit(points(wine))
    assert landmarks.ids.tolist() == [wine["bottle"][i] for i in model.landmark_indices_]
    assert landmarks.labels.tolist() == [wine["cultivar"][i] for i in model.landmark_indices_]
    assert np.array_equal(landmarks.embedding, model.embedding_)
    assert np.array_equal(drawn.embedding, model.place(points(wine)))


def test_landmarks_without_ids_keep_their_row_numbers(here, two_blobs, isosne):
    np.save("blobs.npy", two_blobs)
    isosne("embed", "blobs.npy", "--landmarks", 20, "--landmarks-only", "-o", "map.csv", "-q")
    model = TSNE(landmarks=20, random_state=0).fit(two_blobs)
    assert read_map("map.csv").ids.tolist() == model.landmark_indices_.tolist()


def test_blocks_of_placed_rows_make_one_map(here, two_blobs, isosne, monkeypatch):
    np.save("blobs.npy", two_blobs)
    isosne("embed", "blobs.npy", "--landmarks", 20, "-o", "whole.csv", "-q")
    monkeypatch.setattr("isosne.cli.placing.BLOCK_ROWS", 7)
    isosne("embed", "blobs.npy", "--landmarks", 20, "-o", "blocks.csv", "-q")
    assert np.array_equal(read_map("whole.csv").embedding, read_map("blocks.csv").embedding)


def test_a_finished_checkpoint_gives_the_same_map(wine, isosne):
    line = ("embed", "wine.csv", *COLUMNS, "--checkpoint", "run.isosne", "--every", 300, "-q")
    isosne(*line, "-o", "first.csv")
    isosne(*line, "-o", "second.csv")
    assert np.array_equal(read_map("first.csv").embedding, read_map("second.csv").embedding)


def test_scaled_columns_have_the_same_weight(wine, isosne):
    note = (
        "isosne: note: Column 'proline' spreads 388 times as wide as a usual one, and decides who "
        "is near. --scale minmax gives all columns the same weight.\n"
    )
    line = ("embed", "wine.csv", *COLUMNS, "--psi", 16)
    assert note in isosne(*line, "-o", "raw.csv").stderr
    assert "note" not in isosne(*line, "--scale", "minmax", "-o", "scaled.csv").stderr
    X = points(wine)
    X = (X - X.min(axis=0)) * (1 / (X.max(axis=0) - X.min(axis=0)))
    expected = TSNE(IsolationKernel(psi=16), random_state=0).fit_transform(X)
    assert np.array_equal(read_map("scaled.csv").embedding, expected)


def test_columns_left_out_are_named(wine, isosne):
    line = ("embed", "wine.csv", "--text-columns", "leave_out", "-o", "map.csv")
    found = isosne(*line)
    assert "isosne: note: Left out, as not numeric: 'bottle', 'cultivar'.\n" in found.stderr
    assert read_map("map.csv").provenance["table"] == {"text_columns": "leave_out"}


def test_columns_can_be_chosen(wine, isosne):
    line = ("embed", "wine.csv", "--columns", "alcohol", "--columns", "hue", "--id", "bottle")
    isosne(*line, "-o", "map.csv", "-q")
    assert read_map("map.csv").provenance["input"]["shape"] == [178, 2]


def test_three_dimensions_and_another_schedule(wine, isosne):
    line = ("embed", "wine.csv", *COLUMNS, "--n-components", 3, "--schedule", "opt_sne")
    isosne(*line, "--exaggeration", 2, "-o", "map.npz", "-q")
    assert read_map("map.npz").embedding.shape == (178, 3)


def test_standard_input_and_standard_output(wine, here, isosne):
    table = (here / "wine.csv").read_bytes()
    found = isosne("embed", "-", *COLUMNS, "--psi", 16, "-o", "-", input=table)
    (here / "piped.csv").write_text(found.stdout)
    isosne("embed", "wine.csv", *COLUMNS, "--psi", 16, "-o", "map.csv", "-q")
    piped, drawn = read_map("piped.csv"), read_map("map.csv")
    assert np.array_equal(piped.embedding, drawn.embedding)
    assert piped.ids.tolist() == drawn.ids.tolist()
    assert "The map of 178 rows is on standard output" in found.stderr


def test_coordinates_alone_are_written_with_a_note(here, two_blobs, isosne):
    np.save("blobs.npy", two_blobs)
    line = ("embed", "blobs.npy", "--save-model", "model.isosne", "-o", "map.npy")
    note = (
        "isosne: note: map.npy holds coordinates alone, which measure and plot do not take; they "
        "read .parquet, .csv and .npz.\n"
    )
    assert isosne(*line).stderr.endswith(note)
    placed = isosne("transform", "model.isosne", "blobs.npy", "-o", "map.npy", "--force")
    assert placed.stderr.endswith(note)
