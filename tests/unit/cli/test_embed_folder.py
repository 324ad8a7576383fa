"""`isosne embed --landmarks` of a folder: one output file per input file, resumable."""

import numpy as np
import pandas as pd
import pytest

from isosne import TSNE, place_files
from isosne.place.job import Job
from tests.unit.cli.conftest import COLUMNS, SHORT
from tests.unit.cli.test_interruption import interrupt_at  # noqa: F401  a fixture
from tests.unit.place.test_place_files import contents

LINE = ("embed", "in", *COLUMNS, "--scale", "minmax", "--landmarks", 90, *SHORT, "-o", "out")


@pytest.fixture
def folder(wine, here):
    """Wine in two Parquet files."""
    frame = pd.DataFrame(wine)
    (here / "in").mkdir()
    frame[:100].to_parquet(here / "in" / "a.parquet")
    frame[100:].to_parquet(here / "in" / "b.parquet")
    return here


def places(folder):
    """Return the placed rows of both files."""
    return [pd.read_parquet(f"{folder}/{name}.parquet").to_csv() for name in "ab"]


def test_every_file_is_placed_on_the_map_of_the_landmarks(folder, isosne, isosne_json, wine):
    found = isosne_json(*LINE)
    assert (found["n_rows"], found["is_complete"]) == (178, True)
    isosne(*LINE[:-2], "-o", "whole.parquet", "-q")
    whole = pd.read_parquet("whole.parquet")
    parts = pd.concat([pd.read_parquet(f"out/{name}.parquet") for name in "ab"])
    assert parts["bottle"].tolist() == wine["bottle"]
    assert parts["cultivar"].tolist() == wine["cultivar"]
    np.testing.assert_array_equal(parts[["x", "y"]], whole[["x", "y"]])


def test_the_folder_can_be_used_as_any_job(folder, isosne):
    isosne(*LINE, "-q")
    before = contents(folder / "out")
    model = "out/_isosne/model.isosne"
    assert len(TSNE.load(model).embedding_) == 90
    assert place_files(model, "in", "out", keep=["bottle", "cultivar"]).n_placed == 0
    assert contents(folder / "out") == before


def test_an_interrupted_fit_resumes(folder, isosne, interrupt_at, monkeypatch):  # noqa: F811
    isosne(*LINE[:-1], "undisturbed", "-q")
    interrupt_at(120)
    assert isosne(*LINE, "-q", code=130).stderr == (
        "Interrupted at step 120. Run the same command again to resume.\n"
    )
    state = "out/_isosne/fit.isosne"
    assert f"Resuming from step 120 ({state})\n" in isosne(*LINE).stderr
    assert places("out") == places("undisturbed")


def test_an_interrupted_placement_resumes(folder, isosne, isosne_json, monkeypatch):
    isosne(*LINE[:-1], "undisturbed", "-q")
    place = Job.place

    def interrupted(self, part, *others):
        if part.name == "b.parquet":
            raise KeyboardInterrupt
        return place(self, part, *others)

    with monkeypatch.context() as patch:
        patch.setattr(Job, "place", interrupted)
        assert isosne(*LINE, "-q", code=130).stderr == (
            "Interrupted after 1 of 2 files. Run the same command again to resume.\n"
        )
    assert isosne_json(*LINE)["n_placed"] == 1
    assert places("out") == places("undisturbed")


def test_other_options_are_refused_before_the_fit(folder, isosne):
    isosne(*LINE, "--exclude", "ash", "-q")
    before = contents(folder / "out")
    isosne(*LINE, "--exclude", "ash", "-q")
    assert isosne(*LINE, "--exclude", "hue", "-q", code=1).stderr == (
        "Error: Cannot write to out: the folder belongs to a different job: --exclude was 'ash', "
        "is now 'hue'. Choose another folder, or delete this one; nothing was changed.\n"
    )
    assert contents(folder / "out") == before
