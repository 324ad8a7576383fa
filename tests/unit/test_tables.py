"""What a user passes as data: numbers out of it, or a sentence that names column and row."""

from datetime import date, timedelta
from decimal import Decimal

import anndata
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from isosne import TSNE, IsolationKernel, OwnerKernel
from isosne._checks import check_points
from isosne._tables import as_numeric
from isosne.errors import DataError, DataTypeError, PrecisionWarning
from isosne.quality import report
from isosne.rows import open_rows
from tests.conftest import make, refuses

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
each_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


@each_frame
@pytest.mark.parametrize(
    ("columns", "dtype"),
    [
        ({"a": [1, 0], "b": [0, 1]}, np.int64),
        ({"a": [True, False], "b": [False, True]}, np.uint8),
        ({"a": [True, False], "b": [0.0, 1.0]}, np.float64),
        ({"a": ["1", "0"], "b": ["0", " 1.0 "]}, np.float64),
        ({"a": [Decimal(1), Decimal(0)], "b": [0, 1]}, np.float64),
    ],
    ids=["integers", "booleans", "mixed", "text of numbers", "decimals"],
)
def test_columns_that_hold_numbers_are_taken(frame, columns, dtype):
    points = check_points(frame(columns))
    assert points.dtype == dtype
    np.testing.assert_array_equal(points, [[1, 0], [0, 1]])


@each_frame
@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        pytest.param(
            ["1", "abc"],
            "X must be numeric; row 1 (counting from 0), column 'b' holds the text 'abc'. "
            "Encode the column as numbers, or leave it out.",
        ),
        pytest.param(
            [True, None],
            "X must be finite; got 1 NaN and 0 infinite value(s), the first in row 1 (counting "
            "from 0), column 'b'. Leave out or impute the rows that hold them.",
        ),
    ],
    ids=["text", "missing boolean"],
)
def test_a_column_is_named_with_its_first_bad_row(frame, column, sentence):
    with refuses(DataError, sentence):
        check_points(frame({"a": [1.0, 2.0], "b": column}))


@each_frame
@pytest.mark.parametrize(
    "column", [[date(2020, 1, 1), date(2021, 1, 1)], [timedelta(1), timedelta(2)]], ids=str
)
def test_dates_are_refused_by_the_name_of_their_column(frame, column):
    with pytest.raises(DataError, match=r"(numeric|number).*column 'when'.*Convert"):
        check_points(frame({"a": [1.0, 2.0], "when": column}))


def test_values_that_are_no_numbers_at_all_are_errors_of_type_too():
    X = np.array([[1.0, {"foo": "bar"}], [2.0, 3.0]], dtype=object)
    sentence = (
        "Every value of the argument must be a number, or a string that holds a number; row 0 "
        "(counting from 0), column 1 of X holds {'foo': 'bar'}. Convert it, or leave the column "
        "out."
    )
    with refuses(DataTypeError, sentence) as raised:
        check_points(X)
    assert isinstance(raised.value, DataError)
    assert isinstance(raised.value, TypeError)


@pytest.mark.parametrize("value", [pd.NA, pd.NaT, None], ids=str)
def test_markers_of_missing_values_are_missing(value):
    frame = pd.DataFrame({"a": [1, 2], "b": [3, value]}, dtype=object)
    assert np.isnan(as_numeric(frame, "X")[0][1, 1])


def test_an_annotated_matrix_is_refused_with_what_to_pass():
    matrix = anndata.AnnData(np.ones((4, 2), np.float32))
    sentence = (
        "X must be an array, a sparse matrix or a data frame; got an AnnData object. Pass adata.X "
        "or an array of adata.obsm; isosne.scanpy.tsne(adata) maps the object itself."
    )
    for take in (TSNE().fit, TSNE(landmarks=2).fit, check_points, open_rows):
        with refuses(DataError, sentence):
            take(matrix)


NO_TABLES = {
    "X must be an array, a sparse matrix or a data frame; got a LazyFrame. Pass X.collect().": (
        pl.LazyFrame({"a": [1, 2]})
    ),
    "X must be a table whose rows have equal lengths; got a list of different ones. "
    "Pass as many values in each row.": [[1, 2], [3]],
    "Column names must be unique; X has 'a' more than once. Rename one of the columns.": (
        pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    ),
    "Column names must all be strings, or none; X has strings and 0. "
    "Convert them with X.columns = X.columns.astype(str).": (
        pd.DataFrame([[1, 2], [3, 4]], columns=["a", 0])
    ),
}


@pytest.mark.parametrize(("sentence", "data"), NO_TABLES.items(), ids=["lazy", "ragged", "a", "0"])
def test_what_is_no_table_is_refused_with_what_to_do(sentence, data):
    with refuses(DataError, sentence):
        TSNE().fit(data)


BOOLEANS = np.random.default_rng(0).random((30, 5)) > 0.5
CONTAINERS = {
    "csr": csr_array,
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcde")),
    "polars": lambda X: pl.DataFrame(X, schema=list("abcde")),
}


@pytest.mark.parametrize("contain", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("settings", [{}, {"landmarks": 20}], ids=["all rows", "landmarks"])
def test_booleans_make_the_map_of_zeros_and_ones(contain, settings):
    X = contain(BOOLEANS)
    numbers = contain(BOOLEANS.astype(np.uint8))
    model, twin = (make(IsolationKernel(8), **settings).fit(data) for data in (X, numbers))
    np.testing.assert_array_equal(model.embedding_, twin.embedding_)
    np.testing.assert_array_equal(model.transform(X), twin.transform(numbers))


def test_tables_in_memory_are_read_alike_with_and_without_landmarks():
    X = np.random.default_rng(1).normal(size=(30, 3)).astype(object)
    all_rows, landmarks = make(), make(landmarks=30)
    np.testing.assert_array_equal(all_rows.fit(X).kernel_.X_fit_, landmarks.fit(X).kernel_.X_fit_)


NOT_SIMPLE = {
    "pyarrow lists": pa.table({"a": [[1.0, 2.0]] * 20}),
    "polars array": pl.DataFrame({"a": pl.Series(np.ones((20, 2)))}),
    "polars struct": pl.DataFrame({"a": [{"x": 1.0}] * 20}),
    "pandas lists": pd.DataFrame({"a": [[1.0, 2.0]] * 20}),
    "pandas arrays": pd.DataFrame({"a": [np.ones(2)] * 20}),
    "complex": pd.DataFrame({"a": np.ones(20) + 1j}),
    "complex objects": pd.DataFrame({"a": [1j] * 20}, dtype=object),
}


@pytest.mark.parametrize("data", NOT_SIMPLE.values(), ids=NOT_SIMPLE)
def test_columns_whose_values_are_not_single_real_ones_are_refused(data):
    with pytest.raises(DataError, match=r"^Column 'a' of X must hold numbers, text, "):
        make().fit(data)


def test_repeated_names_are_refused_whatever_the_library():
    table = pa.Table.from_arrays([pa.array([1.0, 2.0])] * 2, ["a", "a"])
    with pytest.raises(DataError, match="X has 'a' more than once"):
        TSNE().fit(table)


def test_integers_that_numpy_does_not_have_are_numbers():
    values = np.arange(12.0).reshape(6, 2)
    frame = pl.DataFrame(values).cast(pl.Int128)
    np.testing.assert_array_equal(check_points(frame), values)
    np.testing.assert_array_equal(open_rows(frame).read(slice(None)), values)


@pytest.mark.parametrize("contain", [np.asarray, csr_array, pd.DataFrame], ids=lambda c: c.__name__)
def test_integers_that_lose_digits_are_warned_of(contain):
    with pytest.warns(PrecisionWarning) as caught:
        check_points(contain(2**62 + np.arange(1, 9).reshape(4, 2)))
    assert str(caught[0].message) == (
        "X has integers of up to 4.6e+18, computed in float64: values that differ by less than "
        "1,024 may become equal. Subtract a constant from such columns, or leave them out if they "
        "are identifiers."
    )


def test_large_integers_that_float64_represents_are_not_warned_of():
    check_points(2**62 * np.array([[1], [-1], [0]]))
    check_points(np.array([[2**53], [-(2**53) + 1]]))


class Tensor:
    """An array of another package: known by DLPack, and by nothing else."""

    def __init__(self, values, reason=None):
        self.values, self.reason = values, reason
        self.shape, self.ndim = values.shape, values.ndim

    def __dlpack__(self, **options):
        if self.reason:
            raise BufferError(self.reason)
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_tensors_are_read_by_dlpack():
    X, y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 3
    model, twin = (make(OwnerKernel(label_weight=0.3)) for _ in range(2))
    for given, plain in (([Tensor(X), Tensor(-X)], [X, -X]), (Tensor(X), X)):
        model.fit(given, Tensor(y))
        np.testing.assert_array_equal(model.embedding_, twin.fit(plain, y).embedding_)
    for place in (model.transform, model.place):
        np.testing.assert_array_equal(place(Tensor(X[:5] + 1)), twin.transform(X[:5] + 1))
    assert report(Tensor(X), Tensor(model.embedding_), Tensor(y)).auc_rnx == twin.report(X).auc_rnx


REFUSING = {
    "X": lambda X: make().fit(X),
    "view 'view 1'": lambda X: make().fit([X, X]),
    "y": lambda X: make(OwnerKernel(label_weight=0.3)).fit(X.values, X),
    "start": lambda X: make(start=X).fit(X.values),
}


@pytest.mark.parametrize("name", REFUSING)
def test_tensors_that_cannot_be_read_are_refused(name):
    with refuses(
        DataError,
        f"{name} must be in CPU memory, without gradients, and of a type that NumPy has; got a "
        "Tensor (it is on a GPU). Pass for example x.detach().cpu().float() (PyTorch) or x.get() "
        "(CuPy).",
    ):
        REFUSING[name](Tensor(np.eye(20), "it is on a GPU"))
