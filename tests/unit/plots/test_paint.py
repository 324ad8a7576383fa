"""What a map is colored by, from whatever the user passed."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from isosne.plots.paint import Classes, Values, as_paint, paint_maps
from isosne.plots.palette import COLORS, FAINT
from isosne.quality import Trust


@pytest.mark.parametrize(
    ("color", "names"),
    [
        (["b", "", "a"], ["a", "b"]),
        (np.array(["b", None, "a"], object), ["a", "b"]),
        (np.array(["b", np.nan, "a"], object), ["a", "b"]),
        (pd.Series(["b", pd.NA, "a"], dtype="string"), ["a", "b"]),
        (pd.Series(pd.Categorical(["b", None, "a"], ["b", "a"])), ["b", "a"]),
        (pl.Series(["b", None, "a"]), ["a", "b"]),
        (pl.Series(["b", None, "a"], dtype=pl.Enum(["b", "other", "a"])), ["b", "a"]),
        (np.array([2.0, np.nan, 1.0]), ["1.0", "2.0"]),
    ],
)
def test_categories_keep_their_order_and_points_without_a_label_come_last(color, names):
    paint = as_paint(color, 3, kind="labels")
    assert paint.names == [*names, "no label"]
    assert [paint.names[c] for c in paint.of_point] == [
        next(name for name in names if name[0] in "b2"),
        "no label",
        next(name for name in names if name[0] in "a1"),
    ]
    assert paint.n_classes == 2
    assert paint.is_rest.tolist() == [False, True, False]
    assert paint.colors == [*COLORS[:2], FAINT]


@pytest.mark.parametrize(
    ("color", "kind"),
    [
        (np.arange(31), Values),
        (np.arange(30), Classes),
        (np.arange(31) / 2, Values),
        ([True, False], Classes),
        (np.array([1.0, 2.0]), Values),
    ],
)
def test_the_kind_follows_from_the_type(color, kind):
    assert isinstance(as_paint(color, len(color)), kind)


@pytest.mark.parametrize("names", [["zero", "one", "two"], {0: "zero", 2: "two"}])
def test_labels_take_their_names(names):
    assert as_paint([2, 0, 2], 3, names=names).names == ["zero", "two"]


def test_trust_is_painted_by_region_between_quantiles():
    trust = Trust(np.arange(100), *np.random.default_rng(0).random((4, 100)), map_of_100(), k=10)
    paint = as_paint(trust, 100)
    np.testing.assert_array_equal(paint.numbers, trust.regional())
    assert [paint.low, paint.high] == np.quantile(paint.numbers, [0.05, 0.95]).tolist()
    assert (paint.title, paint.is_trust) == ("neighbors kept, of 10", True)


def map_of_100():
    return np.random.default_rng(1).normal(size=(100, 2))


def test_maps_share_their_classes():
    paints = paint_maps({"left": ["a", "c"], "right": ["b", "c", "c"]}, {"left": 2, "right": 3})
    assert paints["left"].names == paints["right"].names == ["a", "b", "c"]
    assert paints["left"].of_point.tolist() == [0, 2]
    assert paints["right"].of_point.tolist() == [1, 2, 2]


def test_classes_that_are_numbers_keep_their_order_in_several_maps():
    color = {"left": [2, 10], "right": [10, 9]}
    assert paint_maps(color, {"left": 2, "right": 2})["right"].names == ["2", "9", "10"]


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["10.5", "2.5", "-1"], ["-1", "2.5", "10.5"]),
        (["10", "2", "b"], ["10", "2", "b"]),
        ([10.5, 2.5], ["2.5", "10.5"]),
    ],
)
def test_labels_that_are_numbers_as_text_are_sorted_as_numbers(labels, names):
    paint = as_paint(labels, len(labels), kind="labels")
    assert paint.names == names
    assert [paint.names[c] for c in paint.of_point] == [str(label) for label in labels]


def test_maps_share_their_scale():
    paints = paint_maps({"left": [0.0, 1.0], "right": [3.0, 2.0]}, {"left": 2, "right": 2})
    assert {(paint.low, paint.high) for paint in paints.values()} == {(0.0, 3.0)}
