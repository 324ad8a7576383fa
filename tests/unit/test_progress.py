"""Progress: which output gets a bar, what it shows, and how often."""

import io
import re
import sys
from types import SimpleNamespace

import pytest

from isosne import _progress
from isosne._progress import Clock, Lines, NotebookBar, RichBar, Silence, TqdmBar, make_progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(_progress.time, "monotonic", lambda: clock.now)
    return clock


def installed(monkeypatch, *names):
    monkeypatch.setattr(_progress, "find_spec", lambda name: name in names or None)


def test_a_terminal_gets_the_best_bar_that_is_installed(open_terminal, monkeypatch):
    open_terminal()
    assert isinstance(make_progress(print, quiet=False), RichBar)
    assert isinstance(make_progress(print, quiet=True), Silence)
    installed(monkeypatch, "tqdm")
    assert isinstance(make_progress(print, quiet=False), TqdmBar)
    installed(monkeypatch)
    assert isinstance(make_progress(print, quiet=False), Lines)


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


@pytest.mark.parametrize("make", [RichBar, TqdmBar])
def test_a_bar_shows_steps_details_and_the_time_left(make, open_terminal):
    screen = open_terminal()
    bar = make()
    bar.begin("step", 500)
    bar.advance(200, "phase 1 of 2, objective 1.2345")
    bar.advance(500)
    bar.end()
    shown = screen.lines()[-1]
    assert shown.startswith("step")
    assert "500/500" in shown
    assert "phase 1 of 2, objective 1.2345" in shown
    assert re.search(r"0?0:00(:00 left)?", shown)


@pytest.mark.parametrize("make", [RichBar, TqdmBar])
def test_work_that_was_done_before_counts(make, open_terminal):
    screen = open_terminal()
    bar = make()
    bar.begin("map", 4)
    bar.end()
    bar.begin("step", 500, first=300)  # the next piece of work
    bar.advance(301)
    bar.end()
    assert "301/500" in screen.lines()[-1]


class Handle:
    """Stands for what IPython's display returns."""

    def __init__(self):
        self.shown = []

    def update(self, value):
        self.shown.append(value._repr_html_())


def test_a_notebook_gets_html_at_most_ten_times_a_second(clock, monkeypatch):
    handle = Handle()

    def display(value, *, display_id):
        assert display_id
        handle.update(value)
        return handle

    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    bar = NotebookBar()
    bar.end()  # of a run that failed before its first step
    bar.begin("step", 1000)
    for step in range(1, 1000):  # 10 s
        clock.now += 0.01
        bar.advance(step, "objective 1.5000")
    assert 90 <= len(handle.shown) <= 101
    assert repr(bar) == "step 999 of 1,000, objective 1.5000, 0 s left"
    bar.advance(1000)
    bar.end()
    assert handle.shown[0].endswith(
        "<progress value='0' max='1000'></progress> step 0 of 1,000</div>"
    )
    last = (
        "<progress value='1000' max='1000'></progress> step 1,000 of 1,000, objective 1.5000</div>"
    )
    assert handle.shown[-1].endswith(last)


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
    assert isinstance(make_progress(print, quiet=False), NotebookBar)


def test_the_time_left_follows_the_pace(clock):
    watch = Clock(10, 0)
    clock.now += 4
    assert watch.seconds_left(2) == 16
    assert watch.is_due(2, 1)
    assert not watch.is_due(3, 1)
    assert watch.is_due(10, 1)
