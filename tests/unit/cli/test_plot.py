"""`isosne plot`: pictures and pages, by the ending of the output; colors, images, looks."""

import json
import re

import numpy as np
import pytest

from isosne import pages, quality
from isosne.rows import MapWriter

COARSE = ("--dpi", 20)
"""Where the picture itself is not the claim."""
STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".html": b"<!doctype html>"}


@pytest.fixture
def wine_map(wine):
    """A map of wine with labels: two of its columns."""
    provenance = {"table": {"id": "bottle", "label": "cultivar"}}
    Y = np.column_stack([wine["alcohol"], wine["flavanoids"]])
    labels = wine["cultivar"]
    with MapWriter("map.parquet", wine["bottle"], 2, provenance, labels=labels) as writer:
        writer.write(Y)
    return wine


@pytest.fixture
def about(here):
    """What the script of the page map.html knows."""

    def read():
        (told,) = re.findall(r'id="about">(.*?)</script>', (here / "map.html").read_text())
        return json.loads(told)

    return read


@pytest.mark.parametrize("ending", STARTS)
def test_every_kind_of_picture(wine_map, here, isosne, ending):
    found = isosne("plot", "map.parquet", "-o", f"map{ending}")
    assert found.stdout == ""
    assert found.stderr == f"Wrote map{ending}: 178 points\n"
    content = (here / f"map{ending}").read_bytes()
    assert content[: len(STARTS[ending])].lower() == STARTS[ending].lower()


def test_labels_of_the_map_are_its_colors(wine_map, drawn, isosne):
    isosne("plot", "map.parquet", "-o", "map.png", "--title", "Wine", *COARSE)
    assert drawn[0]["color"].to_list() == wine_map["cultivar"]
    assert drawn[0]["color"].name == "cultivar"  # the title of the legend
    assert drawn[0]["title"] == "Wine"


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ((), "cultivar"),
        (("--trust", "wine.csv"), "trust"),
        (("--table", "wine.csv", "--color", "proline"), "proline"),
        (("--table", "wine.csv", "--color", "cultivar"), "cultivar"),
    ],
)
def test_a_page_opens_with_what_was_asked_for(wine_map, about, isosne, line, first):
    isosne("plot", "map.parquet", *line, "-o", "map.html")
    titles = [choice["title"] for choice in about()["choices"]]
    assert titles[about()["first"]] == first
    assert titles.count("cultivar") == 1


def test_a_column_of_a_table(wine_map, drawn, isosne):
    line = ("--color", "proline", "--table", "wine.csv", "--annotate", "--kind", "values")
    isosne("plot", "map.parquet", *line, "-o", "map.png", *COARSE)
    assert drawn[0]["color"].tolist() == wine_map["proline"]
    assert drawn[0]["title"] == "proline"
    assert drawn[0]["annotate"].to_list() == wine_map["cultivar"]  # numbers name no cluster


def test_trust(wine_map, drawn, isosne):
    isosne("plot", "map.parquet", "--trust", "wine.csv", "--k", 5, "-o", "map.png", *COARSE)
    X = np.column_stack(list(wine_map.values())[2:])
    Y = np.column_stack([wine_map["alcohol"], wine_map["flavanoids"]]).astype(np.float32)
    expected = quality.compare(X, Y, 5).trust().agreement
    assert np.array_equal(drawn[0]["color"].agreement, expected)


def test_a_map_through_a_pipe(model, here, isosne):
    model()
    piped = (here / "map.csv").read_bytes()
    isosne("plot", "-", "-o", "piped.png", *COARSE, input=piped)
    (here / "map.csv.json").unlink()  # a pipe has no provenance
    isosne("plot", "map.csv", "-o", "map.png", *COARSE)
    assert (here / "piped.png").read_bytes() == (here / "map.png").read_bytes()


def test_a_picture_has_the_looks_that_were_asked_for(wine_map, drawn, isosne):
    looks = ("--annotate", "--style", "dark")
    isosne("plot", "map.parquet", *looks, "-o", "a.png", *COARSE)
    isosne("plot", "map.parquet", "--style", "paper", "-o", "map.svg")
    isosne("plot", "map.parquet", "-o", "b.svg")
    first = {"annotate": True, "style": "dark", "dpi": 20}
    assert {name: drawn[0][name] for name in first} == first
    assert [each["dpi"] for each in drawn[1:]] == [300, 150]


def test_a_page_shows_the_images_of_its_rows_and_chosen_columns(here, about, isosne, monkeypatch):
    images = np.random.default_rng(0).random((120, 8, 8), np.float32)
    np.save(here / "images.npy", images)
    columns = {"kind": np.arange(3), "depth": np.eye(3)[0]}
    with MapWriter("some.parquet", [7, 3, 90], 2, {}, columns=columns) as writer:
        writer.write(np.eye(3, 2))
    line = ("plot", "some.parquet", "--images", "images.npy", "-q", "-o", "map.html")
    isosne(*line, "--hover", "depth", "--hover", "id")
    page = about()
    assert [page["columns"][c]["name"] for c in page["hover"]] == ["depth", "id"]
    assert (page["images"]["width"], len(page["images"]["sheets"])) == (8, 1)
    written = {}
    monkeypatch.setattr(pages, "write_page", lambda *_, **given: written.update(given))
    isosne(*line, "--force")
    assert np.array_equal(written["images"], images[[7, 3, 90]])
