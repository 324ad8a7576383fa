"""Progress: which output gets a bar, what it shows, and how often."""

import io
import re
import sys
from types import SimpleNamespace

import pytest

from isosne import _progress
from isosne._progress import Bar, Lines, Progress, make_progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(_progress.time, "monotonic", lambda: clock.now)
    return clock


def test_a_terminal_gets_a_bar(open_terminal):
    open_terminal()
    assert isinstance(make_progress(print, quiet=False), Bar)
    assert isinstance(make_progress(print, quiet=True), Progress)


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_files_and_windows_without_a_terminal_get_lines(stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    assert isinstance(make_progress(print, quiet=False), Lines)
    _progress.print_line("Lines need no terminal.")
    assert stream is None or stream.getvalue() == "Lines need no terminal.\n"


def test_lines_come_every_two_seconds_and_at_the_end(clock):
    lines = []
    progress = Lines(lines.append)
    progress.begin("step", 2000, first=1000)
    for done, now, detail in (
        (1001, 100.1, "early"),
        (1250, 103, "KL 2.0000"),
        (1300, 104, "too soon"),
        (1400, 106, None),  # nothing to tell
        (1500, 106, ""),
        (2000, 106.5, "KL 1.0000"),
    ):
        clock.now = now
        progress.advance(done, detail)
    progress.end()
    assert lines == [
        "step 1,250 of 2,000  KL 2.0000  9 s left",  # 250 of 1000 in 3 s
        "step 1,500 of 2,000  6 s left",
        "step 2,000 of 2,000  KL 1.0000  0 s left",
    ]


def test_a_bar_shows_steps_details_and_the_time_left(open_terminal):
    screen = open_terminal()
    bar = Bar()
    bar.end()  # of a run that failed before its first step
    bar.begin("step", 500, first=100)
    bar.advance(200, "phase 1 of 2, objective 1.2345")
    bar.advance(500)
    bar.end()
    shown = screen.lines()[-1]
    assert shown.startswith("step")
    assert "500/500" in shown
    assert "phase 1 of 2, objective 1.2345" in shown
    assert re.search(r"00:00", shown)


def test_a_kernel_is_a_notebook_and_a_shell_is_none(monkeypatch):
    for shell, expected in (
        (None, False),
        (SimpleNamespace(), False),
        (SimpleNamespace(kernel=1), True),
    ):
        fake = SimpleNamespace(get_ipython=lambda shell=shell: shell)
        monkeypatch.setitem(sys.modules, "IPython", fake)
        assert _progress.is_notebook() is expected
    monkeypatch.delitem(sys.modules, "IPython")
    assert not _progress.is_notebook()
    monkeypatch.setitem(sys.modules, "IPython", fake)
    assert isinstance(make_progress(print, quiet=False), Bar)
