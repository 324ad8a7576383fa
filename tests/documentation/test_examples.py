"""The gallery: every example runs without files or a network of its own, and shows a picture."""

import ast
import socket

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from tests.documentation.blocks import EXAMPLES, GALLERY, run, split_blocks

SECTIONS = sorted({path.parent.name for path in EXAMPLES})
LONGEST = 120
"""Lines of an example; most have half as many."""


def is_picture(value):
    """Return whether a value is one of those that docs/_ext/gallery_pictures.py shows."""
    return isinstance(value, Figure) or type(value).__module__ == "IPython.core.display"


@pytest.fixture
def away(tmp_path, monkeypatch):
    """An empty folder to run in, without a network or a screen."""

    def refuse(*_):
        raise OSError("An example must not use the network.")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    with mpl.rc_context():
        mpl.use("agg")
        yield tmp_path
        plt.close("all")


@pytest.mark.gallery
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # scanpy with new matplotlib
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_shows_a_picture_and_leaves_no_file(path, away):
    shown = run(path)
    assert any(map(is_picture, shown)) or plt.get_fignums()
    assert not list(away.iterdir())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_a_text_and_few_lines(path):
    source = path.read_text("utf-8")
    title, line, blank, *text = ast.get_docstring(ast.parse(source)).splitlines()
    assert line == "=" * len(title)
    assert blank == ""
    assert text
    assert len(source.splitlines()) <= LONGEST


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_has_a_header(section):
    title, line, *_ = (GALLERY / section / "GALLERY_HEADER.rst").read_text("utf-8").splitlines()
    assert line == "-" * len(title)


def test_the_gallery_has_at_least_twenty_examples_with_different_names():
    assert len({path.stem for path in EXAMPLES}) == len(EXAMPLES) >= 20


def test_blocks_are_split_at_their_marks():
    source = "a = 1\na\n\n# %%\n# Text.\n\nb = 2\n\n# %%\n# The end."
    lengths = [len(block.body) for block in split_blocks(source)]
    assert lengths == [2, 1, 0]
