"""The smaller figures: what is chosen and measured, and the files they leave."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from isosne import IsolationKernel
from isosne.datasets import load
from isosne.errors import DataError
from isosne.paper import coil20, origin, partitions, registry, simulations
from isosne.paper.runtime import Times, make_uneven_points, time_map


def made_by(name, settings):
    """Make a result; return its page, its values and the names of its pictures."""
    registry.reproduce(name, settings)
    page = (settings.out / f"{name}.md").read_text()
    values = json.loads((settings.out / f"{name}.json").read_text())["values"]
    pictures = {path.name for path in settings.out.glob("*.png")}
    assert set(re.findall(r"\]\((.*?\.png)\)", page)) == pictures
    return page, values, pictures


def test_the_dense_half_has_more_cells(settings):
    _, rows, pictures = made_by("cells", settings)
    assert pictures == {"cells-16.png", "cells-64.png"}
    for row in rows:
        assert row["sparse half"] + row["dense half"] == pytest.approx(row["psi"])
        assert row["dense half"] > 3 * row["sparse half"]


def test_two_densities_fill_the_two_halves():
    X = partitions.two_densities()
    assert (X[:, 0] < 0.5).sum() == 200
    assert X.min() >= 0
    assert X.max() <= 1


def test_voronoi_contours_are_round_and_those_of_trees_are_diamonds():
    X = np.random.default_rng(0).random((1000, 2))
    # measured: 0.99 and 0.79
    round_one = IsolationKernel(16, n_partitions=300, random_state=0).fit(X)
    diamond = IsolationKernel(16, n_partitions=300, partition="forest", random_state=0).fit(X)
    assert partitions.measure_rings(round_one)["diagonals / axes"] > 0.9
    assert partitions.measure_rings(diamond)["diagonals / axes"] < 0.85


@pytest.mark.slow
def test_contours_without_the_real_set_say_so(settings):
    with pytest.raises(DataError) as reason:
        load("parkinson", folder=settings.data)
    page, rows, pictures = made_by("contours", settings)
    assert f"Parkinson is not available. {reason.value}" in page
    assert len(rows) == len(pictures) == 6
    for name in ("uniform", "uniform-forest"):
        sharper = [row["at 0.1"] for row in rows if row["points"] == name]
        assert sharper == sorted(sharper, reverse=True)


def test_the_largest_similarities_relative_to_the_first_cluster():
    found = origin.find_largest(np.array([0.5, 0.4, 0.2, 0.1, 1.0]), np.array([0, 0, 1, 1, 2]))
    assert list(found.values()) == [0.5, 0.4, 2.0]


def test_the_origin_is_as_similar_to_sparse_clusters_with_the_isolation_kernel(settings):
    _, values, pictures = made_by("similarity", settings)
    assert pictures == {"similarity.png"}
    gaussian, isolation = values.values()
    assert gaussian["cluster 3 / cluster 1"] < 0.01
    assert 0.5 < isolation["cluster 3 / cluster 1"] < 2


def test_the_reference_point_is_the_one_whose_fifth_other_class_is_nearest():
    # seven classes at the corners of a line, two points each; class 3 is in the middle
    y = np.repeat(np.arange(7), 2)
    X = np.column_stack([y + 0.01 * np.tile([0, 1], 7), np.zeros(14)])
    chosen = coil20.select_classes(X, y)
    assert chosen.labels[0] == 3
    # at equal distance on both sides: five of the six others
    assert len(np.unique(chosen.labels[1:])) == 5
    assert 3 not in chosen.labels[1:]


def test_distances_of_the_reference_point_are_in_widths():
    # width 10; classes at distance 1, 2 and 10
    Y = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [10, 0, 0]])
    assert coil20.measure_reference(Y, np.array([9, 0, 1, 2])) == {
        "nearest class": 0.1,
        "third": 0.2,
        "farthest": 1.0,
    }


def test_steps_are_timed_apart(settings):
    times = time_map("isolation", make_uneven_points(60), settings)
    assert isinstance(times, Times)
    assert times.similarity > 0
    assert times.descent > 0


def test_numbers_of_a_simulation_by_hand():
    # two clusters at x = 0 and x = 4 with the origin in the middle, one unit aside
    Y = np.array([[2.0, 1], [0, 0], [0, 0], [4, 0], [4, 0]])
    found = simulations.measure_two(Y, np.array([0, 0, 0, 1, 1]))
    assert found["origin along the line of centers"] == 0.5
    assert found["distance from the line"] == 0.25
    assert found["origin, in radii of the map"] == 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["growth", "kernels", "speedups", "runtime", "table-1", "table-2", "appendix-a"],
)
def test_quick_runs_leave_their_files(settings, name):
    chosen = replace(settings, sets=("wine",))
    page, values, pictures = made_by(name, chosen)
    assert "| --- |" in page
    assert values
    assert bool(pictures) == (name != "kernels")
