"""Rows from Python."""

import numpy as np
import pytest

import isosne
from isosne.errors import DataError, ParameterError
from isosne.explorer.data import from_python
from tests.conftest import refuses
from tests.unit.explorer.conftest import QUICK


def test_identifiers_must_be_unique_and_as_many_as_rows(two_blobs):
    sentence = (
        "ids must be unique; 59 of 60 are repeated, such as '1'. Pass a different identifier for "
        "each row."
    )
    with refuses(DataError, sentence):
        from_python(two_blobs, ids=[1] * 60)
    with pytest.raises(ParameterError, match="have one identifier for each of 60 rows"):
        from_python(two_blobs, ids=[1])


def test_labels_must_be_as_many_as_rows(two_blobs):
    sentence = (
        "labels must have one entry per row; got 3 for 60 rows. Pass them in the order of the rows."
    )
    with refuses(DataError, sentence):
        from_python(two_blobs, [1, 2, 3])


def test_labels_are_described_like_columns(two_blobs):
    data = from_python(two_blobs, np.tile(["a", "b"], 30), columns={"n": np.arange(60)})
    assert [column.name for column in data.described()][::6] == ["label", "n"]
    assert data.described()[0].words == ["a", "b"]


def test_a_model_of_other_points_is_refused(two_blobs):
    model = QUICK.make_model().fit(two_blobs)
    sentence = (
        "A map must have two coordinates for each of the 50 rows; got an array of shape (60, 2). "
        "Pass a map or a model of the same table."
    )
    with refuses(DataError, sentence):
        isosne.explore(model, X=two_blobs[:50])
    with refuses(DataError, "A model needs its points. Pass them as X."):
        isosne.explore(model)
