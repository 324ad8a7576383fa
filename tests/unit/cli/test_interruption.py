"""Ctrl-C: the last state is kept, and the message says where."""

import signal
from pathlib import Path

import numpy as np
import pytest

import isosne.cli.app
from isosne._files import AtomicFile, whole_file
from isosne.cli import main
from isosne.cli.messages import Watch
from isosne.rows import MapWriter, read_map
from tests.unit.cli.conftest import COLUMNS, N_SHORT, SHORT

LOUD = ("embed", "wine.csv", *COLUMNS, *SHORT)
LINE = (*LOUD, "-q")


@pytest.fixture(autouse=True)
def heeded():
    """Heed Ctrl-C, which a shell lets its background jobs ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
        "Interrupted at step 120; wrote the map so far to map.csv. "
        "Use --checkpoint FILE to make a run resumable.\n"
    )
    drawn = read_map("map.csv")
    assert drawn.ids.tolist() == wine["bottle"]
    assert drawn.provenance["stopped_at"] == "step 120"
    assert drawn.provenance["n_iter"] == 120


def test_a_checkpoint_goes_on_to_the_same_map(wine, isosne, interrupt_at):
    kept = ("--checkpoint", "run.isosne", "-o", "map.csv")
    isosne(*LINE, "-o", "whole.csv")
    interrupt_at(120)
    found = isosne(*LINE, *kept, code=130)
    assert found.stderr == (
        "Interrupted at step 120; the state is in run.isosne. "
        "Run the same command again to resume.\n"
    )
    assert not Path("map.csv").exists()
    assert "Resuming from step 120 (run.isosne)\n" in isosne(*LOUD, *kept).stderr
    assert np.array_equal(read_map("map.csv").embedding, read_map("whole.csv").embedding)


def test_ctrl_c_before_the_first_step(wine, isosne, monkeypatch):
    def press(*_, **__):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("isosne.TSNE.fit", press)
    found = isosne(*LINE, "-o", "map.csv", code=130)
    assert found.stderr == "Interrupted; no file was written.\n"
    assert not Path("map.csv").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.fixture
def interrupt_placing(monkeypatch):
    """Press Ctrl-C when the second block of rows is written."""
    monkeypatch.setattr("isosne.cli.models.BLOCK_ROWS", 50)
    write = MapWriter.write

    def write_and_press(self, Y):
        if self.n_rows == 50:
            raise KeyboardInterrupt
        write(self, Y)

    monkeypatch.setattr(MapWriter, "write", write_and_press)


def test_the_same_command_goes_on_when_a_model_is_to_be_kept_too(
    wine, isosne, interrupt_placing, monkeypatch
):
    kept = ("--checkpoint", "run.isosne", "--save-model", "model.isosne")
    line = (*LOUD, "--landmarks", 60, *kept, "-o", "map.csv")
    assert isosne(*line, code=130).stderr.endswith("Interrupted; wrote run.isosne.\n")
    monkeypatch.setattr("isosne.cli.models.BLOCK_ROWS", 1000)
    found = isosne(*line)
    assert f"The run in run.isosne is complete ({N_SHORT} steps)\n" in found.stderr
    assert len(read_map("map.csv").ids) == 178
    assert Path("model.isosne").exists()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_that_ends_the_program_leaves_no_temporary_file(here, monkeypatch, name):
    number = getattr(signal, name)
    before = signal.signal(number, signal.SIG_DFL)

    def write(prog_name):
        with whole_file(here / "map.csv"):
            signal.raise_signal(number)

    monkeypatch.setattr(isosne.cli.app, "app", write)
    try:
        with pytest.raises(SystemExit) as caught:
            main()
        assert signal.getsignal(number) is signal.SIG_DFL  # a second one ends the program at once
    finally:
        signal.signal(number, before)
    assert caught.value.code == 128 + number
    assert list(here.iterdir()) == []


def test_ctrl_c_after_a_file_is_complete_names_the_file(wine, isosne, monkeypatch):
    commit = AtomicFile.commit

    def press(self):
        if self.path.suffix == ".json":
            raise KeyboardInterrupt
        commit(self)

    monkeypatch.setattr(AtomicFile, "commit", press)
    found = isosne(*LINE, "-o", "map.csv", code=130)
    assert found.stderr == "Interrupted; wrote map.csv.\n"
