"""`isosne explore`: what it refuses, what it prints, and how it ends."""

import json
import signal
import subprocess
import sys

import pytest

from tests.unit.cli.conftest import COLUMNS

THREE, BESIDE = "--map a.csv --map b.csv --map c.csv", "Two maps are shown side by side."
LINE = ("explore", "wine.csv", *COLUMNS, "--scale", "minmax")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            (*LINE, *THREE.split()),
            f"Error: --map must be given at most twice; got {THREE}. {BESIDE}",
        ),
        (
            ("explore", "-"),
            "Error: TABLE must be a file or a data set; got '-'. Save the table to a file.",
        ),
        (
            ("explore", "wines.csv"),
            "Error: TABLE must be a file that exists; got 'wines.csv'. Did you mean 'wine.csv'?",
        ),
    ],
)
def test_wrong_use_is_told_before_anything_is_served(wine, isosne, words, sentence):
    assert isosne(*words, code=2).stderr.splitlines()[-1] == sentence


def test_a_map_of_other_rows_is_refused(wine, isosne, here):
    (here / "map.csv").write_text("id,x,y\nb000,0,0\nb001,1,1\n")
    found = isosne(*LINE, "--map", "map.csv", "-q", code=1)
    assert found.stderr == (
        "Error: A map must have one point for each of the 178 rows of wine.csv; it has 2 points. "
        "Pass a map of all rows.\n"
    )


def test_a_model_of_other_rows_is_refused(wine, isosne, here, two_blobs):
    from isosne import TSNE

    TSNE(random_state=0).fit(two_blobs).save(here / "model.isosne")
    found = isosne(*LINE, "--model", "model.isosne", "-q", code=1)
    assert found.stderr == (
        "Error: A map must have two coordinates for each of the 178 rows; got an array of shape "
        "(60, 2). Pass a map or a model of the same table.\n"
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
