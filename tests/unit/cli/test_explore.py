"""`isosne explore`: what it refuses, what it prints, and how it ends."""

import json
import signal
import subprocess
import sys

import pytest

from tests.unit.cli.conftest import COLUMNS

LINE = ("explore", "wine.csv", *COLUMNS, "--scale", "minmax")


def test_a_map_of_other_rows_is_refused(wine, isosne, here):
    (here / "map.csv").write_text("id,x,y\nb000,0,0\nb001,1,1\n")
    found = isosne(*LINE, "--map", "map.csv", "-q", code=1)
    assert found.stderr == (
        "Error: A map must have one point for each of the 178 rows of wine.csv; it has 2 points. "
        "Pass a map of all rows.\n"
    )


@pytest.mark.slow
def test_ctrl_c_ends_the_server_and_other_machines_are_served_with_a_warning(wine, here):
    words = (*LINE, "--host", "0.0.0.0", "--json", "--no-browser")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # A job in the background of a shell is started with Ctrl-C ignored.
    pipes["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen([sys.executable, "-m", "isosne", *words], **pipes) as process:
        assert json.loads(process.stdout.readline())["address"].startswith("http://")
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 0, said
    assert (
        "Note: The page can be opened from other machines, by anyone who has its address. The "
        "connection is not encrypted. Leave out --host to serve 127.0.0.1 only." in said
    )
    assert said.splitlines()[-1] == "Ended."
