"""The extensions of the site: links that are checked, and pictures that are found."""

import importlib
from pathlib import Path

import pytest
from IPython.display import Image

from isosne.plots import plot_map

EXTENSIONS = Path(__file__).parents[2] / "docs" / "_ext"
SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]


@pytest.fixture
def extension(monkeypatch):
    """A function that imports an extension by name."""
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    return importlib.import_module


@pytest.mark.parametrize(
    "element",
    [
        '<a href="other.html">',
        '<a href="other.html#there">',
        '<a href="#here">',
        '<a href="deep/">',
        '<a href="https://example.org/nowhere">',
        '<a href="mailto:someone@example.org">',
        '<img src="data:image/gif;base64,AAAA">',
        '<img src="a%20b.png" srcset="a%20b.png 1x, a%20b.png 2x">',
    ],
)
def test_a_link_that_leads_somewhere_is_not_reported(element, tmp_path, extension):
    write_site(tmp_path, element)
    assert not list(extension("internal_links").broken_links(tmp_path))


@pytest.mark.parametrize(
    ("element", "address"),
    [
        ('<a href="nowhere.html">', "nowhere.html"),
        ('<a href="other.html#nowhere">', "other.html#nowhere"),
        ('<a href="#nowhere">', "#nowhere"),
        ('<img src="nowhere.png">', "nowhere.png"),
        ('<img srcset="a%20b.png 1x, nowhere.png 2x">', "nowhere.png"),
        ('<script src="nowhere.js">', "nowhere.js"),
    ],
)
def test_a_link_that_leads_nowhere_is_reported_with_its_page(element, address, tmp_path, extension):
    write_site(tmp_path, element)
    found = list(extension("internal_links").broken_links(tmp_path))
    assert found == [(Path("index.html"), address)]


def write_site(folder, element):
    """Write a page with an element, and what it may lead to."""
    (folder / "deep").mkdir()
    (folder / "a b.png").write_bytes(b"")
    (folder / "deep" / "index.html").write_text("", "utf-8")
    (folder / "other.html").write_text('<p id="there"></p>', "utf-8")
    (folder / "index.html").write_text(f'<p id="here">{element}</p>', "utf-8")


def show(value, folder, extension):
    """Return what the gallery writes for the last value of a block."""
    variables = {
        "example_globals": {"___": value},
        "image_path_iterator": iter([folder / "picture_001.png"]),
    }
    text = extension("gallery_pictures").scrape(None, variables, {"src_dir": str(folder)})
    return text, sorted(path.name for path in folder.iterdir())


def test_a_block_that_ends_with_a_figure_gets_its_picture_in_two_sizes(tmp_path, extension):
    text, files = show(plot_map(SQUARE).figure, tmp_path, extension)
    assert files == ["picture_001.png", "picture_001_2_00x.png"]
    assert "picture_001.png" in text
    assert "picture_001_2_00x.png 2.00x" in text


def test_a_block_that_ends_with_an_animation_gets_it(tmp_path, extension):
    text, files = show(Image(b"GIF89a", format="gif"), tmp_path, extension)
    assert files == ["picture_001.gif"]
    assert "picture_001.gif" in text


@pytest.mark.parametrize("value", [None, 3.0, "text"])
def test_a_block_that_ends_with_another_value_gets_no_picture(value, tmp_path, extension):
    assert show(value, tmp_path, extension) == ("", [])
