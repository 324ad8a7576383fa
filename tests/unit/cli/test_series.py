"""Maps that stay comparable: embed and plot --align-to, and extend."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isosne import TSNE, Alignment, plots
from isosne.rows import MapWriter, read_map
from tests.unit.cli.conftest import COLUMNS, SHORT, points_of, short_tsne, write_csv

LINE = ("embed", "later.csv", *COLUMNS, *SHORT)


@pytest.fixture
def later(model, here):
    """A map of all wine, and a table that lacks the first 30 bottles, in another order."""
    wine = model()
    order = np.random.default_rng(0).permutation(148) + 30
    columns = {name: [values[i] for i in order] for name, values in wine.items()}
    write_csv(here / "later.csv", columns)
    return columns


@pytest.fixture
def new(model, here):
    """The model of all wine, and a table of 20 bottles that are a little different."""
    wine = model()
    columns = {
        name: [f"new {v}" for v in values[:20]] if name == "bottle" else values[:20]
        for name, values in wine.items()
    }
    columns["alcohol"] = [value + 0.1 for value in columns["alcohol"]]
    write_csv(here / "new.csv", columns)
    return columns


def test_rows_stay_near_their_places(later, isosne):
    found = isosne(*LINE, "--align-to", "map.csv", "-o", "later_map.csv")
    drawn, before = read_map("later_map.csv"), read_map("map.csv")
    ids = {"ids": later["bottle"], "previous_ids": before.ids}
    expected = short_tsne(align_to=Alignment(before.embedding, **ids)).fit(points_of(later))
    assert np.array_equal(drawn.embedding, expected.embedding_)
    moved = expected.displacement_.mean()
    assert found.stderr.endswith(
        "148 rows had a place on the previous map; their mean distance from it is "
        f"{100 * moved:.1f} % of the radius of the map.\n"
    )
    assert "alignment   148 of 148 rows have a place on the previous map" in found.stderr
    assert drawn.provenance["parameters"]["align_to"] == "map.csv"
    assert drawn.provenance["alignment"] == {
        "n_matched": 148,
        "strength": 10.0,
        "scale": expected.alignment_.scale,
        "mean_displacement": pytest.approx(moved),
    }


def test_new_rows_join_the_map_of_a_model(new, isosne):
    line = ("extend", "model.isosne", "new.csv", "--map", "map.csv", "--n-iter", 20)
    found = isosne(*line, "-o", "all.csv", "--save-model", "all.isosne")
    frame = pd.DataFrame(points_of(new), columns=list(new)[2:])
    model = TSNE.load("model.isosne").extend(frame, n_iter=20)
    everything, before = read_map("all.csv"), read_map("map.csv")
    assert np.array_equal(everything.embedding, model.embedding_)
    assert everything.ids.tolist() == [*before.ids, *new["bottle"]]
    assert everything.labels.tolist() == [*before.labels, *new["cultivar"]]
    assert everything.provenance["command"] == "extend"
    assert everything.provenance["n_far"] == len(model.far_)
    assert np.array_equal(TSNE.load("all.isosne").embedding_, model.embedding_)
    assert re.search(
        r"Wrote all.csv: 198 rows, 20 steps, KL 0\.\d{4}, \d+\.\d s\n178 rows had a place on the "
        rf"previous map; their mean distance from it is {100 * model.displacement_.mean():.1f} % "
        r"of the radius of the map\.\n$",
        found.stderr,
    )


def test_without_a_map_rows_are_counted(new, isosne_json):
    found = isosne_json("extend", "model.isosne", "new.csv", "--n-iter", 5, "-o", "all.feather")
    assert found["n_rows"] == 198
    assert found["alignment"]["strength"] == 30.0
    everything = read_map("all.feather")
    assert everything.ids.tolist() == list(range(198))
    assert everything.labels is None


def test_many_rows_that_are_far_from_all_others_are_a_warning(new, here, isosne):
    new["alcohol"] = [value + 1000 for value in new["alcohol"]]
    write_csv(here / "new.csv", new)
    line = ("extend", "model.isosne", "new.csv", "--map", "map.csv", "--n-iter", 5, "-q")
    assert isosne(*line, "-o", "all.csv").stderr == (
        "Warning: 20 of 20 new rows are farther from their nearest fitted row than 99 % of the "
        "fitted rows are from theirs; about 0 are expected. Their positions may be "
        "arbitrary. The column far marks them.\n"
    )
    assert read_map("all.csv").columns["far"].tolist() == [0] * 178 + [1] * 20


def test_a_map_of_other_rows_and_missing_identifiers_are_refused(new, here, isosne):
    line = ("extend", "model.isosne", "new.csv", "-o", "all.csv", "-q")
    np.save("few.npy", np.zeros((5, 2)))
    assert isosne(*line, "--map", "few.npy", code=1).stderr == (
        "Error: The map must be that of the model; it has 5 points, and the model has 178. Pass "
        "the map that was written with the model.\n"
    )
    write_csv(here / "new.csv", {name: v for name, v in new.items() if name != "bottle"})
    assert isosne(*line, "--map", "map.csv", code=2).stderr == (
        "Error: --id must name the column with the row identifiers of the table, as the map has "
        "some; got no --id. Add --id COLUMN.\n"
    )
    assert not Path("all.csv").exists()


def test_a_map_is_laid_onto_another_before_it_is_drawn(later, isosne, monkeypatch):
    drawn = []
    monkeypatch.setattr(plots, "plot_map", lambda Y, *_, **__: drawn.append(Y))
    monkeypatch.setattr(plots, "save_figure", lambda *_, **__: None)
    Y = read_map("map.csv")
    turned = Y.embedding @ np.array([[0, 3], [3, 0]], np.float32) + 5  # mirrored, 3 times as large
    with MapWriter("turned.csv", Y.ids, 2, {}) as writer:
        writer.write(turned)
    found = isosne("plot", "turned.csv", "--align-to", "map.csv", "-o", "map.png")
    assert "Aligned by 178 common points: residual 0.0 % of the radius, scale 0.333, mirrored" in (
        found.stderr
    )
    np.testing.assert_allclose(drawn[0], Y.embedding, atol=1e-3)
