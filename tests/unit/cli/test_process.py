"""The program as others start it: exit codes, separate streams, pipes, signals, a terminal."""

import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

from isosne.rows import read_map
from tests.unit.cli.conftest import COLUMNS, N_SHORT, SHORT

PROGRAM = (sys.executable, "-m", "isosne")
LINE = ("embed", "wine.csv", *COLUMNS)


def test_a_map_goes_through_pipes_and_a_terminal_gets_a_bar(wine, here):
    """Standard error is one end of a pseudo-terminal; success is code 0."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    line = [*PROGRAM, *map(str, ("embed", "-", *COLUMNS, *SHORT)), "-o", "-"]
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm"}
    with (
        (here / "wine.csv").open("rb") as table,
        (here / "map.csv").open("wb") as drawn,
        subprocess.Popen(
            line, stdin=table, stdout=drawn, stderr=theirs, env=environment
        ) as process,
    ):
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    assert process.returncode == 0
    assert read_map("map.csv").ids.tolist() == wine["bottle"]
    assert b"step" not in (here / "map.csv").read_bytes()
    assert f"{N_SHORT}/{N_SHORT}".encode() in shown
    assert b"KL 0." in shown or b"KL 1." in shown


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux says so when the other end is closed
        return b""


def test_a_full_disk_under_the_log_does_not_end_a_run(wine):
    with Path("/dev/full").open("wb") as full:
        line = [*PROGRAM, *map(str, (*LINE, *SHORT)), "-o", "map.csv"]
        assert subprocess.run(line, stderr=full).returncode == 0
    assert len(read_map("map.csv").ids) == 178
