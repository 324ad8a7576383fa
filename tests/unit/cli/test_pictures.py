"""`isosne plot`: names, styles, images and what is shown on hover."""

import json
import re

import numpy as np
import pytest

from isosne import pages, plots
from isosne.datasets import export
from isosne.rows import MapWriter
from tests.unit.cli.conftest import run

COARSE = ("--dpi", 20, "-q")


@pytest.fixture
def digits(here):
    """The digits as exported, a map of 120 of them with labels, and their pixels."""
    export("digits", here / "digits.csv")
    lines = (here / "digits.csv").read_text().splitlines()[:121]
    (here / "digits.csv").write_text("\n".join(lines) + "\n")
    cells = [line.split(",") for line in lines[1:]]
    pixels = np.array([row[1:-1] for row in cells], np.float32)
    labels = [row[-1] for row in cells]
    provenance = {"table": {"id": "id", "label": "target"}}
    with MapWriter("map.parquet", list(range(120)), 2, provenance, labels=labels) as writer:
        writer.write(pixels[:, [20, 43]] + np.arange(120)[:, None] % 7)
    return pixels, labels


@pytest.fixture
def drawn(monkeypatch):
    """What was passed to `plot_map` and `save_figure`."""
    settings = {}
    draw, save = plots.plot_map, plots.save_figure

    def note_map(embedding, color=None, **given):
        settings.update(given)
        return draw(embedding, color, **given)

    def note_file(axes, path, **given):
        settings.update(given)
        return save(axes, path, **given)

    monkeypatch.setattr(plots, "plot_map", note_map)
    monkeypatch.setattr(plots, "save_figure", note_file)
    return settings


@pytest.fixture
def shown(monkeypatch):
    """What a page is written with."""
    settings = {}
    monkeypatch.setattr(pages, "write_page", lambda *_, **given: settings.update(given))
    return settings


def test_a_picture_has_what_was_asked_for(digits, drawn):
    run("plot", "map.parquet", "--annotate", "--style", "dark", "-o", "a.png", *COARSE)
    assert (drawn["annotate"], drawn["style"], drawn["dpi"]) == (True, "dark", 20)


@pytest.mark.parametrize(("style", "dpi"), [("screen", 150), ("paper", 300)])
def test_the_resolution_depends_on_the_style(digits, drawn, style, dpi):
    run("plot", "map.parquet", "--style", style, "-o", "map.svg", "-q")
    assert drawn["dpi"] == dpi


def test_a_map_colored_by_a_number_is_named_by_its_labels(digits, drawn):
    line = ("--table", "digits.csv", "--color", "pixel_2_4", "--kind", "values")
    run("plot", "map.parquet", *line, "--annotate", "-o", "map.png", *COARSE)
    assert drawn["annotate"].to_list() == digits[1]


@pytest.mark.parametrize("kind", ["table", "rows", "colors"])
def test_images_of_the_points(digits, here, shown, kind):
    pixels, _ = digits
    images = pixels.reshape(-1, 8, 8)
    line = ("--images", "images.npy")
    if kind == "table":
        line = ("--images", "digits.csv", "--image-shape", "8,8")
    elif kind == "rows":
        np.save(here / "images.npy", pixels)
        line += ("--image-shape", "8,8")
    else:
        images = np.repeat(images[..., None], 3, axis=3)
        np.save(here / "images.npy", images)
    run("plot", "map.parquet", *line, "-o", "map.html", "-q")
    assert np.array_equal(shown["images"], images)


def test_images_belong_to_the_rows_of_the_map(digits, here, shown):
    images = digits[0].reshape(-1, 8, 8)
    np.save(here / "images.npy", images)
    with MapWriter("some.parquet", [7, 3, 90], 2, {}) as writer:
        writer.write(np.eye(3, 2))
    run("plot", "some.parquet", "--images", "images.npy", "-o", "map.html", "-q")
    assert np.array_equal(shown["images"], images[[7, 3, 90]])


def test_a_page_shows_images_and_chosen_columns_on_hover(digits, here):
    line = ("--images", "digits.csv", "--image-shape", "8,8", "--table", "digits.csv")
    run("plot", "map.parquet", *line, "--hover", "target", "--hover", "id", "-o", "m.html", "-q")
    (told,) = re.findall(r'id="about">(.*?)</script>', (here / "m.html").read_text())
    about = json.loads(told)
    assert [about["columns"][c]["name"] for c in about["hover"]] == ["target", "id"]
    assert (about["images"]["width"], len(about["images"]["sheets"])) == (8, 1)
