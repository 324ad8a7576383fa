"""The extensions of the site: links that are checked, versions, and pictures that are found."""

import importlib
import re
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


@pytest.mark.parametrize("name", ["site", "0.2.0"])
def test_links_to_another_version_are_not_checked_and_all_others_are(name, tmp_path, extension):
    site = tmp_path / name
    site.mkdir()
    elements = ["../0.1.0/nowhere.html", "../0.3.0/nowhere.html", "nowhere.html"]
    write_site(site, "".join(f'<a href="{address}">' for address in elements))
    found = list(extension("internal_links").broken_links(site, ["0.2.0", "0.1.0"]))
    assert [address for _, address in found] == elements[1:]


@pytest.mark.parametrize(
    ("page", "address"),
    [
        ("faq.html", "../0.1.0/faq.html"),
        ("api/isosne.TSNE.html", "../../0.1.0/api/isosne.TSNE.html"),
        ("new.html", "../0.1.0/index.html"),
        ("api/isosne.new.html", "../../0.1.0/index.html"),
    ],
)
def test_a_version_is_linked_by_the_same_page_or_its_front_page(page, address, tmp_path, extension):
    for old in ("faq.html", "api/isosne.TSNE.html"):
        path = tmp_path / "0.1.0" / old
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", "utf-8")
    link = extension("published_versions").link_versions
    found = list(link(["0.2.0", "0.1.0"], "0.2.0", tmp_path / "0.2.0", page))
    assert [(v.name, v.is_present) for v in found] == [("0.2.0", True), ("0.1.0", False)]
    assert found[1].address == address


def test_a_version_that_is_not_listed_is_first(tmp_path, extension):
    found = extension("published_versions").link_versions(["0.1.0"], "dev", tmp_path, "faq.html")
    assert [(v.name, v.is_present) for v in found] == [("dev", True), ("0.1.0", False)]


@pytest.mark.parametrize("versions", [[], ["0.2.0", "0.1.0"]])
def test_the_sidebar_lists_the_versions_if_there_are_several(versions, tmp_path, extension):
    (tmp_path / "0.1.0").mkdir()
    (tmp_path / "0.1.0" / "index.html").write_text("", "utf-8")
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "index.rst").write_text("Title\n=====\n", "utf-8")
    settings = {
        "extensions": ["published_versions"],
        "html_theme": "furo",
        "html_sidebars": {"**": ["sidebar/versions.html"]},
        "published_versions": versions,
        "release": "0.2.0",
        "templates_path": [str(EXTENSIONS.parent / "_templates")],
    }
    site = tmp_path / "0.2.0"
    folders = (tmp_path / "source", None, site, tmp_path / "doctrees")
    extension("sphinx.application").Sphinx(*folders, "html", settings, status=None).build()
    text = (site / "index.html").read_text("utf-8")
    assert ("<strong>0.2.0</strong> (this one)" in text) == bool(versions)
    assert ('<a href="../0.1.0/index.html">0.1.0</a>' in text) == bool(versions)
    assert ("sidebar-versions" in text) == bool(versions)


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


def test_links_to_scripts_of_examples_lead_to_their_pages(extension):
    text = "See [one](../examples/gallery/kernels/plot_scales.py), [all](../examples/gallery)."
    assert extension("internal_links").link_example_pages(text) == (
        "See [one](gallery/kernels/plot_scales.rst), [all](gallery/index.rst)."
    )


def test_the_links_of_a_checkout_lead_to_files():
    docs = EXTENSIONS.parent
    for page in (*docs.rglob("*.md"), docs.parent / "README.md"):
        for target in re.findall(r"\]\(([^)#\s]+)[)#]", page.read_text()):
            if "://" not in target and not target.startswith(("mailto:", "api/")):
                assert (page.parent / target).exists(), (page, target)
