"""A study as a page, by what the page says."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

import isosne
from isosne import TSNE
from isosne.errors import OutputError
from isosne.layout.schedules import Phase, Schedule
from isosne.pages import write_report
from isosne.pages.report import render
from isosne.plots.paint import Classes
from isosne.studies import Study, compare_maps, study
from isosne.studies.readings import read_kept, read_measures, read_verdict
from tests.conftest import refuses

LABELS = np.repeat(["tight", "loose"], 30)
CLASSES = Classes(["loose", "tight"], np.repeat([1, 0], 30))
SHORT = TSNE("isolation", schedule=Schedule((Phase(30, exaggeration=4), Phase(30))))
"""Sixty steps: a report says the same of any map."""


@pytest.fixture(scope="module", name="points")
def fixture_points():
    """Sixty points in five dimensions: a tight cluster and a loose one, far apart."""
    rng = np.random.default_rng(1)
    return np.vstack([rng.normal(0, 0.1, (30, 5)), rng.normal(4, 1.0, (30, 5))])


@pytest.fixture(scope="module")
def found(points):
    labels, origin = pd.Series(LABELS, name="density"), {"input": "blobs.csv", "scaling": "minmax"}
    how = {"title": "Two blobs", "model": SHORT, "n_seeds": 2, "origin": origin}
    return study(points, labels, columns={"sum": points.sum(axis=1)}, **how)


@pytest.fixture
def page(found, read_page):
    return read_page(render(found))


def test_a_report_says_what_was_measured_and_how_it_was_made(found, page):
    assert page.words.count("Two blobs") == 2  # title and heading
    assert "60 points, 5 columns, 2 classes" in page.words
    for judged in found.maps:
        assert " ".join(judged.plan.split()) in page.words
    readings = read_measures(found.maps, CLASSES)
    kept, meaning = read_kept(found.maps[0])
    assert f"Neighbors kept {kept} {meaning} Isolation kernel." in page.words
    assert "Clusters and null test Not computed. Notes None." in page.words
    for row in readings:
        better = "tie" if row.best is None else found.maps[row.best].title
        assert f"{row.measure} {' '.join(row.values)} {better} {row.verdict}" in page.words
    assert read_verdict(found.maps, readings) in page.words
    assert page.words.count("Each value is the mean of 2 maps with different seeds") == 1
    assert "Settings input blobs.csv scaling minmax labels column density date 2" in page.words
    assert found.date.startswith(f"{datetime.now(UTC):%Y-%m-%d}")
    assert found.date in page.words
    assert "seeds 0, 1 Isolation kernel" in page.words
    assert f"version {isosne.__version__}" in page.words
    assert re.search(
        r"Isolation kernel \d+\.\d+ s to fit, \d+\.\d+ s to evaluate, the shortest times of 2 maps",
        page.words,
    )
    assert (
        "Both kernels are mapped with the same schedule (listed with all parameters). Other "
        'packages map the Gaussian kernel with another one, schedule="standard" of TSNE; such maps '
        "may differ."
    ) in page.words
    assert "psi 48, 12, 3" in page.words
    assert "Ye Zhu and Kai Ming Ting" in page.words
    assert page.links == ["https://jair.org/index.php/jair/article/view/12904"]


def test_a_report_holds_both_maps_in_one_table(found, page):
    assert len(page.find("Plot")) == 5  # two maps by class, two by trust, the curves
    for judged in found.maps:
        trust = page.column(f"trust, {judged.title}")
        np.testing.assert_array_equal(trust, judged.trust.agreement)
        coarse = page.column(f"coarse trust, {judged.title}")
        np.testing.assert_array_equal(coarse, judged.trust.coarse)
    assert [choice["title"] for choice in page.about["choices"]] == ["density", "trust", "sum"]
    assert len(set(page.about["choices"][1]["fields"])) == 2  # each map has its own trust
    assert len(set(page.about["choices"][2]["fields"])) == 1


def test_maps_are_turned_and_mirrored_onto_the_first(points, read_page):
    Y = points[:, :2]
    turn = np.array([[0.6, 0.8], [0.8, -0.6]])  # a rotation and a reflection
    maps = {"first": Y, "turned": 3 * Y @ turn, "other": Y[::-1] @ turn}
    page = read_page(render(compare_maps(points, maps)))
    drawn = {
        title: np.stack([page.column(f"{title}, {axis}") for axis in "xy"], axis=1)
        for title in maps
    }
    np.testing.assert_array_equal(drawn["first"], Y.astype(np.float32))
    np.testing.assert_allclose(drawn["turned"], 3 * Y, atol=1e-5 * np.abs(Y).max())
    for title in maps:  # distances stay what they were
        np.testing.assert_allclose(
            np.linalg.norm(drawn[title][1:] - drawn[title][0], axis=1),
            np.linalg.norm(maps[title][1:] - maps[title][0], axis=1),
            rtol=1e-5,
        )


def test_a_study_of_one_map_of_one_class_is_written(tmp_path, points, read_page):
    found = compare_maps(points, {"two columns": points[:, :2]}, ["only"] * 30 + [""] * 30)
    path = write_report(tmp_path / "report.html", found)
    page = read_page(path)
    assert "60 points, 5 columns, 1 class, 30 without a label " in page.words
    assert "Davies-Bouldin" not in page.words
    assert "Class measures were not computed: all labeled points belong to one class." in page.words
    assert "Map quality report" in page.words
    assert "two columns: the map preserves neighborhoods" in page.words
    assert "The assessments refer to the map two columns." in page.words
    assert "measure two columns assessment" in page.words
    assert len(page.find("Plot")) == 3
    assert [choice["title"] for choice in page.about["choices"]] == ["label", "trust"]
    for absent in ("the maps tie", "is bold", "to fit", "labels column"):
        assert absent not in page.words
    assert page.references == ["data:,"]
    assert list(tmp_path.iterdir()) == [path]
    sentence = (
        f"Cannot write {path}: the file already exists. Choose another name, or pass force=True to "
        "replace it."
    )
    with refuses(OutputError, sentence):
        write_report(path, found)


def test_what_users_name_never_becomes_html(found, page, points, read_page):
    evil = "</script><script>alert(1)</script>"
    named = Study(
        tuple(
            replace(judged, title=evil, plan=evil, settings={evil: evil}) for judged in found.maps
        ),
        labels=np.where(LABELS == "tight", evil, "b"),
        columns={evil: points[:, 0]},
        title=evil,
        random_state=evil,
        origin={evil: evil},
        date=evil,
    )
    hostile = read_page(render(named))
    assert evil not in hostile.text
    assert [tag for tag in hostile.tags if tag in ("script", "img")] == [
        tag for tag in page.tags if tag in ("script", "img")
    ]
    assert hostile.words.count(evil) > 10


def test_long_curves_are_thinned_and_keep_their_ends(read_page):
    X = np.random.default_rng(0).normal(size=(700, 3))
    found = compare_maps(X, {"two columns": X[:, :2]})
    (curve,) = (t for t in read_page(render(found)).tables if set(t) == {"k", "r"})
    kept = curve["k"].astype(int) - 1
    assert 100 < len(kept) <= 300
    assert kept[[0, -1]].tolist() == [0, 697]
    np.testing.assert_array_equal(curve["r"], found.maps[0].curve.r[kept])
