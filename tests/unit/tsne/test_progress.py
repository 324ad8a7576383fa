"""What a fit with ``verbose=True`` shows, and what it logs without."""

import logging
import re

import pytest

from isosne import Phase, Schedule
from tests.conftest import make

TWO = Schedule((Phase(60), Phase(40)))


def test_a_terminal_shows_the_plan_and_then_a_bar(two_blobs, open_terminal):
    screen = open_terminal()
    model = make(verbose=True, schedule=TWO).fit(two_blobs)
    *plan, bar, last = screen.lines()
    expected = str(model.plan_).splitlines()
    assert plan[: len(expected)] == expected
    objective = model.trace_[-1, 1]
    assert re.search(rf"100/100 .*phase 2 of 2, objective {objective:.4f}\]", bar)
    assert re.fullmatch(r"100 steps in \d+\.\d s", last)


def test_lines_name_the_phase_if_there_are_several(two_blobs, capfd):
    model = make(verbose=True, schedule=TWO).fit(two_blobs)
    line = f"step 100 of 100  phase 2 of 2, objective {model.kl_divergence_:.4f}  0 s left"
    assert line in capfd.readouterr().err.splitlines()
    model.continue_fit(50)
    line = f"step 150 of 150  objective {model.kl_divergence_:.4f}  0 s left"
    assert line in capfd.readouterr().err.splitlines()


def test_the_bar_ends_if_the_run_does(two_blobs, open_terminal):
    screen = open_terminal()

    def stop(state):
        raise KeyboardInterrupt

    model = make(verbose=True, schedule=TWO, callback=stop)
    with (
        pytest.warns(RuntimeWarning, match="^Interrupted at step 1;"),
        pytest.raises(KeyboardInterrupt),
    ):
        model.fit(two_blobs)
    assert screen.lines()[-1].startswith("1 steps in 0.")


def test_the_log_has_every_value_of_the_objective(two_blobs, caplog):
    with caplog.at_level(logging.INFO, "isosne"):
        model = make(schedule=TWO).fit(two_blobs)
    told = [record.getMessage() for record in caplog.records]
    assert told[0] == str(model.plan_)
    steps = [line for line in told if line.startswith("step")]
    assert [int(line.split()[1]) for line in steps] == [50, 100]
    for line, value in zip(steps, model.trace_[:, 1], strict=True):
        assert re.fullmatch(rf"step +\d+   objective {value:.4f}   \d\.\d s", line)
