"""The program as others start it: exit codes, separate streams, pipes, signals, a terminal."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from isosne.files import read_map

PROGRAM = (sys.executable, "-m", "isosne")
COLUMNS = ("--label", "cultivar", "--id", "bottle")


def run(*arguments, **settings):
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, **settings)


def test_a_map_goes_through_pipes(wine, here):
    with (here / "wine.csv").open("rb") as table:
        found = run("embed", "-", *COLUMNS, "-o", "-", stdin=table)
    assert found.returncode == 0, found.stderr
    (here / "map.csv").write_bytes(found.stdout)
    assert read_map("map.csv").ids.tolist() == wine["bottle"]
    assert b"step 750 of 750" in found.stderr
    assert b"step" not in found.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("embed", "wine.csv", *COLUMNS, "-o", "map.csv", "-q"), 0),
        (("embed", "wine.csv", "-o", "map.csv", "-q"), 1),
        (("embed", "nothing.csv", "-o", "map.csv"), 2),
        (("embed", "wine.csv", *COLUMNS), 2),
        (("embed", "wine.csv", "--psy", "4", "-o", "map.csv"), 2),
    ],
)
def test_exit_codes(wine, arguments, code):
    found = run(*arguments)
    assert found.returncode == code
    assert found.stdout == b""
    assert b"Traceback" not in found.stderr


@pytest.mark.slow
def test_sigint_keeps_the_map_so_far(here):
    np.save("points.npy", np.random.default_rng(0).normal(size=(6000, 10)))
    line = [*PROGRAM, "embed", "points.npy", "-o", "map.csv"]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True) as process:
        for said in process.stderr:
            if said.startswith("step"):
                process.send_signal(signal.SIGINT)
                break
        last = process.stderr.read().splitlines()[-1]
    assert process.returncode == 130
    assert last.startswith("isosne: Stopped from the keyboard at step ")
    assert len(read_map("map.csv").ids) == 6000
    assert [path.name for path in Path().iterdir() if path.name.startswith(".")] == []


def test_a_terminal_gets_a_bar(wine):
    """Standard error is one end of a pseudo-terminal."""
    ours, theirs = pty.openpty()
    line = [*PROGRAM, "embed", "wine.csv", *COLUMNS, "-o", "map.csv"]
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm"}
    with subprocess.Popen(line, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    assert process.returncode == 0
    assert b"750/750" in shown
    assert b"phase 2 of 2   KL 0." in shown


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux says so when the other end is closed
        return b""
