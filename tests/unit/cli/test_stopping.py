"""Ctrl-C keeps the last state, and says where."""

import signal
from pathlib import Path

import numpy as np
import pytest

from isosne.cli.watching import Watch
from isosne.files import MapWriter, read_map

LINE = ("embed", "wine.csv", "--label", "cultivar", "--id", "bottle", "-q")


@pytest.fixture
def interrupt_at(monkeypatch):
    """Press Ctrl-C during a step."""

    def press(*steps):
        see = Watch._see

        def see_and_press(self, state):
            if state.iteration in steps:
                signal.raise_signal(signal.SIGINT)
            return see(self, state)

        monkeypatch.setattr(Watch, "_see", see_and_press)

    return press


def test_the_map_so_far_is_kept(wine, isosne, interrupt_at):
    interrupt_at(120)
    found = isosne(*LINE, "-o", "map.csv", code=130)
    assert found.stderr == (
        "isosne: Stopped from the keyboard at step 120; the map so far is in map.csv. "
        "With --checkpoint a run can go on.\n"
    )
    drawn = read_map("map.csv")
    assert drawn.ids.tolist() == wine["bottle"]
    assert drawn.provenance["stopped_at"] == "step 120"
    assert drawn.provenance["n_iter"] == 120


def test_a_checkpoint_goes_on_to_the_same_map(wine, isosne, interrupt_at):
    line = (*LINE, "--checkpoint", "run.isosne", "-o", "map.csv")
    isosne(*LINE, "-o", "whole.csv")
    interrupt_at(120)
    found = isosne(*line, code=130)
    assert found.stderr == (
        "isosne: Stopped from the keyboard at step 120; the state is in run.isosne. "
        "Give the same command again to go on from it.\n"
    )
    assert not Path("map.csv").exists()
    assert "Going on from step 120 of run.isosne.\n" in isosne(*line[:6], *line[7:]).stderr
    assert np.array_equal(read_map("map.csv").embedding, read_map("whole.csv").embedding)


def test_ctrl_c_before_the_first_step(wine, isosne, monkeypatch):
    def press(*_, **__):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("isosne.TSNE.fit", press)
    found = isosne(*LINE, "-o", "map.csv", code=130)
    assert found.stderr == "isosne: Stopped from the keyboard; no file was written.\n"
    assert not Path("map.csv").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.fixture
def interrupt_placing(monkeypatch):
    """Press Ctrl-C when the second block of places is written."""
    monkeypatch.setattr("isosne.cli.placing.BLOCK_ROWS", 50)
    write = MapWriter.write

    def write_and_press(self, Y):
        if self.n_rows == 50:
            raise KeyboardInterrupt
        write(self, Y)

    monkeypatch.setattr(MapWriter, "write", write_and_press)


def test_ctrl_c_while_rows_are_placed_keeps_the_landmarks(wine, isosne, interrupt_placing):
    found = isosne(*LINE, "--landmarks", 60, "-o", "map.csv", code=130)
    assert found.stderr == (
        "isosne: Stopped from the keyboard at the placing of rows; the 60 landmarks only are in "
        "map.csv. With --checkpoint a run can go on.\n"
    )
    assert len(read_map("map.csv").ids) == 60


def test_the_same_command_goes_on_when_a_model_is_to_be_kept_too(
    wine, isosne, interrupt_placing, monkeypatch
):
    kept = ("--checkpoint", "run.isosne", "--save-model", "model.isosne")
    line = (*LINE[:-1], "--landmarks", 60, *kept, "-o", "map.csv")
    found = isosne(*line, code=130)
    assert found.stderr.endswith(
        "isosne: Stopped from the keyboard at the placing of rows; the state is in run.isosne. "
        "Give the same command again to go on from it.\n"
    )
    monkeypatch.setattr("isosne.cli.placing.BLOCK_ROWS", 1000)
    found = isosne(*line)
    assert "All 750 steps are in run.isosne already.\n" in found.stderr
    assert len(read_map("map.csv").ids) == 178
    assert Path("model.isosne").exists()


def test_a_stream_that_has_begun_is_left_as_it_is(wine, isosne, interrupt_placing):
    found = isosne(*LINE, "--landmarks", 60, "-o", "-", code=130)
    assert found.stderr == "isosne: Stopped from the keyboard; no file was written.\n"
    assert found.stdout.count("# isosne") == 1
