"""A job that writes tiles counts each row once, whatever happens."""

import json
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isosne import TSNE, Tiles, place_files
from isosne.errors import DataError, OutputError, ParameterError
from isosne.jobs import landmark_trust as landmark_trust_module
from isosne.jobs import part_bins as part_bins_module
from isosne.quality import trust
from isosne.sources import MixtureRows
from isosne.tiles import TileMap
from tests.unit.jobs.conftest import FEW, NAMES, rows_of
from tests.unit.jobs.test_place_files import contents, refusal, write_csv

KINDS = ["wren", None, "owl"]


def table_of(rows, first=0):
    n = len(rows)
    columns = {name: rows[:, NAMES.index(name)] for name in NAMES}
    kinds = [KINDS[(first + i) % 3] for i in range(n)]
    ages = [None if (first + i) % 7 == 0 else float(first + i) for i in range(n)]
    return pa.table({"kind": pa.array(kinds, pa.string()), "age": ages, **columns})


@pytest.fixture
def source(tmp_path, new_rows):
    (tmp_path / "in").mkdir()
    for k, rows in enumerate(np.split(new_rows, 5)):
        pq.write_table(table_of(rows, 14 * k), tmp_path / "in" / f"p{k}.parquet")
    return tmp_path / "in"


@pytest.fixture
def job(model_file, source, tmp_path):
    def run(output="out", tiles="tiles", **settings):
        known = {"label": "kind", "values": ["age", "b"], "levels": 2} | settings
        wanted = Tiles(tmp_path / tiles, **known)
        return place_files(model_file, source, tmp_path / output, tiles=wanted)

    return run


def test_tiles_show_the_rows_classes_and_means(job, tmp_path, expected, new_rows):
    assert job().n_outside == 0
    tiles = TileMap(tmp_path / "tiles")
    assert (tiles.n_rows, tiles.classes, tiles.values) == (70, ("", "owl", "wren"), ("age", "b"))
    left, right, bottom, top = tiles.extent
    edges = np.linspace(left, right, 513), np.linspace(bottom, top, 513)
    counts, _, _ = np.histogram2d(expected[:, 1], expected[:, 0], (edges[1], edges[0]))
    np.testing.assert_array_equal(tiles.counts(1), counts)
    sizes = tiles.class_counts(1).sum(axis=(0, 1))
    assert sizes.tolist() == [23, 23, 24]  # 70 rows in turn: wren, none, owl
    n = counts.clip(1)
    sums, _, _ = np.histogram2d(
        expected[:, 1], expected[:, 0], (edges[1], edges[0]), weights=new_rows[:, 1]
    )
    np.testing.assert_allclose(np.nan_to_num(tiles.means(1, "b")), sums / n, rtol=1e-6)
    total = np.nansum(tiles.means(1, "age") > 0)
    assert 50 < total <= 60  # rows that have an age, and pixels in which there is one


def test_tiles_can_be_made_of_a_job_that_is_done_and_its_results_stay(
    job, model_file, source, tmp_path
):
    job(tiles="at-once")
    place_files(model_file, source, tmp_path / "later")
    before = contents(tmp_path / "later")
    done = job(output="later", tiles="afterwards")
    assert done.is_complete
    assert contents(tmp_path / "later") == before
    assert contents(tmp_path / "afterwards") == contents(tmp_path / "at-once")


def test_any_order_of_the_parts_gives_the_same_bytes(job, tmp_path, source, model_file):
    job()
    names = sorted(path.name for path in source.iterdir())
    stored = tmp_path / "stored"
    source.rename(stored)
    source.mkdir()
    for name in reversed(names):  # one part after the other, the last first
        shutil.copy2(stored / name, source / name)
        job(output="out2", tiles="tiles2")
    assert contents(tmp_path / "tiles2") == contents(tmp_path / "tiles")


def test_a_job_that_is_done_changes_nothing(job, tmp_path):
    job()
    before = contents(tmp_path / "tiles")
    stamps = {path: path.stat().st_mtime_ns for path in (tmp_path / "tiles").rglob("*.tile")}
    assert job().n_placed == 0
    assert contents(tmp_path / "tiles") == before
    assert stamps == {path: path.stat().st_mtime_ns for path in stamps}


def test_what_is_lost_is_counted_again_and_once(job, tmp_path):
    job()
    before = contents(tmp_path / "tiles")
    (tmp_path / "tiles" / "_isosne" / "bins" / "p3.parquet.bins").unlink()
    (tmp_path / "tiles" / "tiles.json").unlink()
    assert job().n_placed == 1
    assert contents(tmp_path / "tiles") == before


def test_csv_files_and_arrays_have_tiles_too(model_file, new_rows, tmp_path):
    table = table_of(new_rows)
    for name in ("csv", "npy"):
        (tmp_path / name).mkdir()
    write_csv(tmp_path / "csv" / "x.csv", table)
    np.save(tmp_path / "npy" / "x.npy", new_rows)
    tiles = Tiles(tmp_path / "t1", label="kind", values=["age", "b"], levels=1)
    place_files(model_file, tmp_path / "csv", tmp_path / "o1", tiles=tiles)
    found = TileMap(tmp_path / "t1")
    assert found.classes == ("", "owl", "wren")
    assert found.class_counts(0).sum(axis=(0, 1)).tolist() == [23, 23, 24]
    tiles = Tiles(tmp_path / "t2", levels=1)
    place_files(model_file, tmp_path / "npy", tmp_path / "o2", tiles=tiles)
    np.testing.assert_array_equal(TileMap(tmp_path / "t2").counts(0), found.counts(0))


def test_rows_by_name_are_parts(tmp_path):
    mixture = MixtureRows(90, 3, 4)
    model = TSNE(random_state=0, schedule=FEW).fit(mixture.read(slice(0, 90)))
    model.save(tmp_path / "model.isosne")
    parts = mixture.split(40)
    tiles = Tiles(tmp_path / "tiles", label="label", levels=1)
    where = tmp_path / "model.isosne", parts, tmp_path / "out"
    done = place_files(*where, keep=["label"], tiles=tiles)
    assert (done.n_parts, done.n_rows) == (3, 90)
    sizes = TileMap(tmp_path / "tiles").class_counts(0).sum(axis=(0, 1))
    assert sizes.tolist() == np.bincount(mixture.side["label"]()).tolist()
    found = pd.concat([pd.read_parquet(tmp_path / "out" / name) for name in parts])
    np.testing.assert_array_equal(found[["x", "y"]], model.place(mixture))
    np.testing.assert_array_equal(found["label"], mixture.side["label"]())
    other = MixtureRows(90, 3, 4, random_state=1).split(40)
    settings = {"model": where[0], "source": other, "output": where[2], "keep": ["label"]}
    assert refusal(DataError, place_files, **settings) == (
        "The input of a job must not change; 'part-00000.parquet' has changed since it was placed: "
        "its content is different. Restore it, or choose another output folder."
    )


@pytest.mark.parametrize(
    "parts", [{"x.parquet": 3}, {"x": MixtureRows(3)}, {"/x.npy": MixtureRows(3)}]
)
def test_parts_that_are_no_rows_are_refused(model_file, tmp_path, parts):
    settings = {"model": model_file, "source": parts, "output": tmp_path / "out"}
    said = refusal(ParameterError, place_files, **settings)
    assert said.startswith(
        "source must have results of isosne.sources.open_rows or MixtureRows as values, by the "
        "names of output files that end in one of .parquet, .feather, .arrow, .csv, .npy; got "
    )
    assert said.endswith("Write for example {'part-0.parquet': open_rows(X)}.")
    assert refusal(DataError, place_files, **settings | {"source": {}}) == (
        "The input must have at least one part; got none. Pass rows by name."
    )


def test_trust_is_the_fraction_of_landmarks_that_stay_near(job, tmp_path, model_file, new_rows):
    job(trust=True, values=[])
    tiles = TileMap(tmp_path / "tiles")
    assert tiles.values == ("trust",)
    model = TSNE.load(model_file)
    Y = model.place(new_rows)
    found = []
    for first in range(0, 70, 14):  # every 16th row of each part: its first
        X = np.vstack([new_rows[first : first + 1], model.kernel_.X_fit_])
        embedding = np.vstack([Y[first : first + 1], model.embedding_])
        found.append(trust(X, embedding, 10).agreement[0])
    known = sum(tiles.means(1, "trust")[np.isfinite(tiles.means(1, "trust"))])
    assert known == pytest.approx(sum(found))


def test_trust_of_the_approximate_search_is_about_the_same(model_file, new_rows, monkeypatch):
    model = TSNE.load(model_file)
    from isosne.sources import open_rows

    Y, rows = model.place(new_rows), open_rows(pd.DataFrame(new_rows, columns=NAMES))
    exact = landmark_trust_module.LandmarkTrust(model).of_rows(rows, 0, Y)
    monkeypatch.setattr(landmark_trust_module, "MOST_EXACT", 10)
    found = landmark_trust_module.LandmarkTrust(model).of_rows(rows, 0, Y)
    np.testing.assert_allclose(found[::16], exact[::16], atol=0.2)
    assert np.isnan(found[1:16]).all()


def test_rows_outside_are_counted_and_reported(model_file, tmp_path, monkeypatch, new_rows):
    monkeypatch.setattr("isosne.tiles.grid.MARGIN", -0.2)
    (tmp_path / "in").mkdir()
    np.save(tmp_path / "in" / "x.npy", new_rows)
    tiles = Tiles(tmp_path / "tiles", levels=2)
    done = place_files(model_file, tmp_path / "in", tmp_path / "out", tiles=tiles)
    found = TileMap(tmp_path / "tiles")
    assert 0 < done.n_outside == found.n_outside
    assert found.counts(1).sum() == 70 - done.n_outside


def test_a_part_without_rows_is_counted(job, source, tmp_path):
    pq.write_table(table_of(rows_of(0)), source / "empty.parquet")
    job()
    assert TileMap(tmp_path / "tiles").n_rows == 70


def test_other_parameters_are_refused(job, tmp_path):
    job()
    for change, told in (
        ({"label": None}, "the label was kind, is now None. "),
        ({"values": ["b"]}, "the list of value columns was 'age', 'b', is now 'b'. "),
        ({"trust": True}, "the choice of trust was False, is now True. "),
        ({"levels": 3}, "the number of levels was 2, is now 3. "),
    ):
        assert refusal(OutputError, job, **change) == (
            f"Cannot write to {tmp_path / 'tiles'}: the folder belongs to a different job: {told}"
            "Choose another folder, or delete this one; nothing was changed."
        )


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"levels": 9}, "levels must be "),
        ({"values": "age"}, "values must be a list of different column names; got values='age'. "),
        ({"values": ["b", "b"]}, "values must be a list of different column names; "),
        ({"values": ["trust"], "trust": True}, "values must be a list of different column names; "),
        ({"label": "kid"}, "got label='kid'. Did you mean 'kind'?"),
        ({"values": ["agee"]}, "got values='agee'. Did you mean 'age'?"),
        ({"values": ["kind"]}, "p0.parquet has text; got values='kind'. Choose another column."),
        ({"tiles": "out"}, "tiles must be a folder apart from the output, "),
        ({"tiles": "in/t"}, "tiles must be a folder apart from the input, "),
    ],
)
def test_parameters_are_checked(job, settings, sentence):
    assert sentence in refusal(ParameterError, job, **settings)


def test_too_many_classes_are_refused_as_soon_as_they_are_seen(job, tmp_path, monkeypatch):
    monkeypatch.setattr(part_bins_module, "MOST_CLASSES", 2)
    said = refusal(DataError, job)
    assert said == (
        f"The label must have at most 2 classes; {tmp_path / 'in' / 'p0.parquet'} has more. "
        "Choose another column, or merge rare classes."
    )
    monkeypatch.setattr(part_bins_module, "MOST_CLASSES", 100)
    job(label="b", tiles="t2")  # 70 numbers are 70 classes
    monkeypatch.setattr(part_bins_module, "MOST_CLASSES", 20)
    assert "at most 20 classes; the input has more. " in refusal(
        DataError, job, label="b", tiles="t2"
    )


def test_maps_of_another_dimension_have_no_tiles(tmp_path, new_rows):
    TSNE(n_components=1, random_state=0, schedule=FEW).fit(new_rows).save(tmp_path / "m.isosne")
    np.save(tmp_path / "x.npy", new_rows)
    where = {"source": tmp_path / "x.npy", "output": tmp_path / "out", "tiles": tmp_path / "t"}
    assert refusal(ParameterError, place_files, model=tmp_path / "m.isosne", **where) == (
        "tiles must be None for a map of 1 dimension(s); "
        f"got tiles={str(tmp_path / 't')!r}. Tiles show maps of two dimensions."
    )


def test_tiles_that_are_not_complete_say_so(job, source, tmp_path):
    path = source / "p3.parquet"
    good = path.read_bytes()
    path.write_bytes(good[:-9])
    refusal(DataError, job)
    with pytest.raises(DataError) as caught:
        TileMap(tmp_path / "tiles")
    assert str(caught.value) == (
        f"The tiles in {tmp_path / 'tiles'} are not complete: rows are still being placed, or the "
        "job was interrupted. Run isosne place again to complete them."
    )


def test_the_header_names_the_job_and_its_extent(job, tmp_path):
    job()
    header = json.loads((tmp_path / "tiles" / "tiles.json").read_text())
    assert header["isosne"] == "tiles"
    assert header["form"] == 1
    assert len(header["job"]) == 64
    assert len(header["extent"]) == 3
