"""`isosne plot`: pictures and pages, by the ending of the output."""

import json
import re

import numpy as np
import pytest

from isosne import plots, quality
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
def drawn(monkeypatch):
    """What was passed to `plot_map`, call by call."""
    calls = []
    draw = plots.plot_map

    def note(embedding, color=None, **settings):
        calls.append((color, settings))
        return draw(embedding, color, **settings)

    monkeypatch.setattr(plots, "plot_map", note)
    return calls


@pytest.mark.parametrize("ending", STARTS)
def test_every_kind_of_picture(wine_map, here, isosne, ending):
    found = isosne("plot", "map.parquet", "-o", f"map{ending}")
    assert found.stdout == ""
    assert found.stderr == f"Wrote map{ending}: 178 points\n"
    content = (here / f"map{ending}").read_bytes()
    assert content[: len(STARTS[ending])].lower() == STARTS[ending].lower()


def test_labels_of_the_map_are_its_colors(wine_map, drawn, isosne):
    isosne("plot", "map.parquet", "-o", "map.png", "--title", "Wine", *COARSE)
    color, settings = drawn[0]
    assert color.to_list() == wine_map["cultivar"]
    assert color.name == "cultivar"  # the title of the legend
    assert settings["title"] == "Wine"


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ((), "cultivar"),
        (("--trust", "wine.csv"), "trust"),
        (("--table", "wine.csv", "--color", "proline"), "proline"),
        (("--table", "wine.csv", "--color", "cultivar"), "cultivar"),
    ],
)
def test_a_page_opens_with_what_was_asked_for(wine_map, here, isosne, line, first):
    isosne("plot", "map.parquet", *line, "-o", "map.html")
    (told,) = re.findall(r'id="about">(.*?)</script>', (here / "map.html").read_text())
    about = json.loads(told)
    titles = [choice["title"] for choice in about["choices"]]
    assert titles[about["first"]] == first
    assert titles.count("cultivar") == 1


def test_a_column_of_a_table(wine_map, drawn, isosne):
    line = ("--color", "proline", "--table", "wine.csv")
    isosne("plot", "map.parquet", *line, "-o", "map.png", *COARSE)
    assert drawn[0][0].tolist() == wine_map["proline"]
    assert drawn[0][1]["title"] == "proline"


def test_trust(wine_map, drawn, isosne):
    isosne("plot", "map.parquet", "--trust", "wine.csv", "--k", 5, "-o", "map.png", *COARSE)
    X = np.column_stack(list(wine_map.values())[2:])
    Y = np.column_stack([wine_map["alcohol"], wine_map["flavanoids"]]).astype(np.float32)
    assert np.array_equal(drawn[0][0].agreement, quality.compare(X, Y, 5).trust().agreement)


def test_a_map_through_a_pipe(model, here, isosne):
    model()
    piped = (here / "map.csv").read_bytes()
    isosne("plot", "-", "-o", "piped.png", *COARSE, input=piped)
    (here / "map.csv.json").unlink()  # a pipe has no provenance
    isosne("plot", "map.csv", "-o", "map.png", *COARSE)
    assert (here / "piped.png").read_bytes() == (here / "map.png").read_bytes()
