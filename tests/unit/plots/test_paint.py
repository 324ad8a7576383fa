"""What a map is colored by, from whatever the user passed."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from isosne.errors import DataError, ParameterError
from isosne.plots.paint import Classes, Values, as_paint, paint_maps
from isosne.plots.palette import COLORS, FAINT
from isosne.quality import Trust
from tests.conftest import refuses


@pytest.mark.parametrize(
    ("color", "names"),
    [
        (["b", "", "a"], ["a", "b"]),
        (np.array(["b", None, "a"], object), ["a", "b"]),
        (np.array(["b", np.nan, "a"], object), ["a", "b"]),
        (pd.Series(["b", pd.NA, "a"], dtype="string"), ["a", "b"]),
        (pd.Series(pd.Categorical(["b", None, "a"], ["b", "a"])), ["b", "a"]),
        (pl.Series(["b", None, "a"]), ["a", "b"]),
        (np.array([2.0, np.nan, 1.0]), ["1.0", "2.0"]),
    ],
)
def test_points_without_a_label_come_last_and_are_of_no_class(color, names):
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


def test_nothing_but_points_without_a_label_is_drawn_gray():
    paint = as_paint(["", ""], 2)
    assert paint.names == ["no label"]
    assert paint.colors == [FAINT]


@pytest.mark.parametrize(
    "color",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], object),
        pd.Series(["b", "a", "b"]),
        pl.Series(["b", "a", "b"]),
    ],
)
def test_text_names_classes_in_alphabetical_order(color):
    paint = as_paint(color, 3)
    assert isinstance(paint, Classes)
    assert paint.names == ["a", "b"]
    assert paint.of_point.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "color",
    [
        pd.Series(pd.Categorical(["low", "high", "low"], categories=["low", "mid", "high"])),
        pl.Series(["low", "high", "low"], dtype=pl.Enum(["low", "mid", "high"])),
    ],
)
def test_categories_keep_their_order(color):
    paint = as_paint(color, 3)
    assert paint.names == ["low", "high"]
    assert paint.of_point.tolist() == [0, 1, 0]


def test_the_name_of_a_series_is_the_title():
    assert as_paint(pd.Series([1, 2], name="cultivar"), 2).title == "cultivar"


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


def test_the_kind_can_be_told():
    assert isinstance(as_paint([1, 2], 2, kind="values"), Values)
    assert isinstance(as_paint([1.0, 2.0], 2, kind="labels"), Classes)
    assert as_paint([0.2, 0.4], 2, kind="trust")[1:3] == (0.0, 1.0)


def test_no_color_is_no_paint():
    assert as_paint(None, 3) is None


@pytest.mark.parametrize("names", [["zero", "one", "two"], {0: "zero", 2: "two"}])
def test_labels_take_their_names(names):
    assert as_paint([2, 0, 2], 3, names=names).names == ["zero", "two"]


def test_trust_of_some_points_leaves_the_others_open():
    trust = Trust(np.array([2, 0]), np.array([0.5, 1.0]), np.zeros(2), np.zeros(2))
    paint = as_paint(trust, 3)
    np.testing.assert_array_equal(paint.numbers, [1.0, np.nan, 0.5])
    assert (paint.low, paint.high, paint.is_trust) == (0.0, 1.0, True)


def test_maps_share_their_classes():
    paints = paint_maps({"left": ["a", "c"], "right": ["b", "c", "c"]}, {"left": 2, "right": 3})
    assert paints["left"].names == paints["right"].names == ["a", "b", "c"]
    assert paints["left"].of_point.tolist() == [0, 2]
    assert paints["right"].of_point.tolist() == [1, 2, 2]


def test_classes_that_are_numbers_keep_their_order_in_several_maps():
    color = {"left": [2, 10], "right": [10, 9]}
    assert paint_maps(color, {"left": 2, "right": 2})["right"].names == ["2", "9", "10"]


def test_maps_share_their_scale():
    paints = paint_maps({"left": [0.0, 1.0], "right": [3.0, 2.0]}, {"left": 2, "right": 2})
    assert {(paint.low, paint.high) for paint in paints.values()} == {(0.0, 3.0)}


TRUST = Trust(np.array([5]), np.array([0.5]), np.zeros(1), np.zeros(1))
REFUSED = {
    "kind": (
        (["a", "b"], {"kind": "number"}),
        ParameterError,
        (
            "kind must be one of auto, labels, values, trust; got kind='number'. "
            "Use kind='auto' to choose it by the type of color."
        ),
    ),
    "kind of nothing": (
        (None, {"kind": "labels"}),
        ParameterError,
        (
            "color must be given with kind='labels'; got color=None. "
            "Pass one label or number per point."
        ),
    ),
    "length": (
        (["a"], {}),
        DataError,
        (
            "color must be one-dimensional, with one entry per point; "
            "got shape (1,) for 2 points. "
            "Pass the values in the order of the rows of the map."
        ),
    ),
    "nan": (
        ([1.0, np.nan], {}),
        DataError,
        "color must be finite; got 1 NaN or infinite value(s). Drop or impute these points.",
    ),
    "mixture": (
        (np.array(["a", 1], object), {}),
        DataError,
        (
            "color must be all text or all numbers; got a mixture of types. "
            "Convert it with np.asarray(color, dtype=str)."
        ),
    ),
    "text by value": (
        (["a", "b"], {"kind": "values"}),
        DataError,
        ("color must be numeric; got dtype <U1. Pass numbers, or kind='labels'."),
    ),
    "trust above one": (
        ([0.0, 2.0], {"kind": "trust"}),
        DataError,
        (
            "Trust must be between 0 and 1; got values from 0 to 2. "
            "Pass the result of isosne.quality.trust, or kind='values'."
        ),
    ),
    "trust of another map": (
        (TRUST, {}),
        DataError,
        (
            "Trust must belong to the map; got the trust of point 5 for a map of 2 points. "
            "Pass the result of isosne.quality.trust for this map."
        ),
    ),
    "trust as labels": (
        (TRUST, {"kind": "labels"}),
        ParameterError,
        (
            "kind must be 'auto' or 'trust' for a result of isosne.quality.trust; "
            "got kind='labels'. Use kind='auto', or pass a column such as trust.agreement."
        ),
    ),
    "names": (
        ([0, 1], {"names": ["zero"]}),
        ParameterError,
        (
            "names must have a name for every label; there is none for 1. "
            "Pass a mapping from labels to names, or a sequence for labels 0, 1, ..."
        ),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    (color, options), error, sentence = REFUSED[case]
    with refuses(error, sentence):
        as_paint(color, 2, **options)


def test_too_many_classes_are_refused():
    with refuses(
        DataError,
        "color must have at most 120 classes; got 121. "
        "Merge rare classes, or pass numbers with kind='values'.",
    ):
        as_paint([f"c{i}" for i in range(121)], 121)


def test_a_map_without_a_color_is_refused():
    with refuses(
        ParameterError,
        "color must have an entry for every map; there is none for 'right'. "
        "Pass one column for all maps, or a mapping from all titles to columns.",
    ):
        paint_maps({"left": [1, 2]}, {"left": 2, "right": 2})


def test_trust_beside_something_else_is_refused():
    with refuses(
        ParameterError,
        "color must be Trust for all maps or for none. Draw these maps in two figures.",
    ):
        paint_maps({"left": [1, 2], "right": TRUST}, {"left": 2, "right": 6})
