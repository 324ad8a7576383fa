"""Maps of tables with mixed columns and missing values."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from isosne import GaussianKernel, IsolationKernel, OwnerKernel, TableForest
from isosne.errors import DataError, MissingValuesError, ParameterError
from isosne.quality import compare
from isosne.rows import open_rows
from tests.conftest import make, refuses
from tests.unit.tables.tables import FRAMES, N, as_pandas, mixed_columns
from tests.unit.tsne.conftest import Interruption, interrupted, saved


@pytest.fixture(scope="module")
def frame():
    return as_pandas(mixed_columns())


@pytest.fixture(scope="module")
def model(frame):
    return make("owner").fit(frame)


def test_maps_are_the_same_for_every_library(model):
    for as_frame in FRAMES.values():
        Y = make("owner").fit_transform(as_frame(mixed_columns()))
        np.testing.assert_array_equal(Y, model.embedding_)


def test_a_map_of_a_table_is_the_map_of_its_codes(frame, model):
    assert isinstance(model.table_, TableForest)
    codes = TableForest(random_state=0).fit_transform(frame)
    np.testing.assert_array_equal(model.table_.transform(frame), codes)
    by_hand = make(OwnerKernel(metric="hamming"), start="random").fit(codes)
    by_table = make("owner", start="random").fit(frame)
    np.testing.assert_array_equal(by_hand.embedding_, by_table.embedding_)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.n_features_in_ == 6


def test_the_plan_names_the_columns_and_the_trees(frame, model):
    line = model.table_.describe()
    assert line in str(model.plan_)
    assert model.plan_.start == "pca"
    assert line in str(make("owner").plan(frame))


KERNELS = {
    "isolation": IsolationKernel(8, n_partitions=20),
    "gaussian": GaussianKernel(8),
    "knn": "knn",
    "owner of codes": OwnerKernel(metric="hamming"),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_every_kernel_compares_rows_by_their_codes(frame, kernel):
    model = make(kernel).fit(frame)
    assert model.kernel_.metric == "hamming"
    assert np.isfinite(model.embedding_).all()
    if not isinstance(kernel, str):
        assert kernel.get_params()["metric"] in ("euclidean", "hamming")  # the user's is unchanged


def test_fitted_rows_are_placed_where_they_are_and_new_ones_near_their_like(frame, model):
    np.testing.assert_array_equal(model.transform(frame), model.embedding_)
    turned = frame[frame.columns[::-1]][:7]
    np.testing.assert_array_equal(model.transform(turned), model.embedding_[:7])
    new = frame[:6].assign(color=["violet"] * 5 + [None], weight=[0.0, 10, 20, 0, None, 1e6])
    assert np.isfinite(model.transform(new)).all()


def test_placing_takes_tables_in_memory(frame, model, tmp_path):
    np.testing.assert_array_equal(model.place(frame), model.embedding_)
    path = tmp_path / "table.parquet"
    frame.to_parquet(path)
    with refuses(
        DataError,
        "The map was made of a table with mixed columns, and takes tables in memory; "
        f"got {str(path)!r}. Read it into a data frame, or pass parts of it.",
    ):
        model.place(str(path))


def test_a_saved_model_maps_as_before(frame, model, tmp_path):
    loaded = saved(model, tmp_path)
    assert loaded.table_.columns_ == model.table_.columns_
    new = as_pandas(mixed_columns(20, seed=3)).assign(color="violet")
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
    np.testing.assert_array_equal(loaded.table_.transform(new), model.table_.transform(new))
    assert list(loaded.table_.feature_names_in_) == list(frame.columns)
    assert loaded.table_.describe() == model.table_.describe()


def test_landmarks_of_a_table(frame):
    model = make("owner", landmarks=30).fit(frame)
    assert model.embedding_.shape == (30, 2)
    placed = model.place(frame)
    np.testing.assert_array_equal(placed[model.landmark_indices_], model.embedding_)


@pytest.mark.parametrize("seed", [0, None])
def test_an_interrupted_run_resumes(frame, tmp_path, seed):
    path = tmp_path / "run.isosne"

    stop = interrupted(30)
    with pytest.raises(Interruption):
        make("owner", random_state=seed, callback=stop).fit(frame, checkpoint=path, every=10)
    steps = []
    note = make("owner", random_state=seed, callback=lambda s: steps.append(s.iteration))
    resumed = note.fit(frame, checkpoint=path)
    assert steps[0] == 31
    np.testing.assert_array_equal(resumed.table_.transform(frame), resumed.kernel_.X_fit_)
    if seed is not None:
        whole = make("owner", random_state=seed).fit_transform(frame)
        np.testing.assert_array_equal(resumed.embedding_, whole)


def test_a_report_measures_by_the_codes(frame, model):
    found = model.report(frame, np.arange(N) % 3)
    codes = model.table_.transform(frame)
    assert found.auc_rnx == compare(codes, model.embedding_, metric="hamming").auc()


class Equal:
    """A kernel of a user: all pairs are equally similar."""

    def fit(self, X):
        return self

    def similarity(self, A=None, B=None):
        return np.ones((N, N))


METRIC = (
    "metric must be left out for a table with columns that are not numbers, or with missing "
    "values; got metric={!r}. Rows of such a table are compared by the leaves of isolation trees "
    "that they share. For Gower's distance pass isosne.tables.gower_points(X)."
)
REFUSED = {
    METRIC.format("cosine"): OwnerKernel(metric="cosine"),
    METRIC.format("CustomKernel"): Equal(),
    "partition must be 'voronoi' for a table with mixed columns, whose rows are leaves of trees "
    "already; got partition='forest'. Leave it out.": IsolationKernel(8, partition="forest"),
}


@pytest.mark.parametrize(("sentence", "kernel"), REFUSED.items())
def test_kernels_that_compare_otherwise_are_refused(frame, kernel, sentence):
    with refuses(ParameterError, sentence):
        make(kernel).fit(frame)


def test_principal_components_of_codes_are_refused(frame):
    with refuses(
        ParameterError,
        "start must be 'spectral', 'random' or an array with metric='hamming', whose columns are "
        "no coordinates; got start='pca'. Principal components need the points themselves.",
    ):
        codes = TableForest(random_state=0).fit_transform(frame)
        make(OwnerKernel(metric="hamming"), start="pca").fit(codes)


def test_a_table_without_any_value_is_mapped():
    frame = pd.DataFrame({"a": [None] * 8, "b": [np.nan] * 8})
    assert np.isfinite(make("owner").fit_transform(frame)).all()


def gappy(value=np.nan):
    X = np.random.default_rng(0).normal(size=(N, 3))
    X[1, 2] = value
    return X


TABLES = (
    " To keep these rows, pass a data frame (pandas, polars or pyarrow) to TSNE, or --mixed on the "
    "command line."
)
ARRAY = (
    "X must be finite; got {} infinite value(s), the first in row 1 (counting from 0), column 2. "
    "Leave out or impute the rows that hold them."
)
STORED = (
    "Every value must be a finite number; x.npy has a missing value in row 1 (counting from 0), "
    "column 2. "
)
DROPPING = (
    "Impute such values, or pass isosne.rows.open_rows(X, missing='drop') instead of X to leave "
    "out the rows."
)
OPENED = "Impute such values, exclude the column, or pass missing='drop' to leave out the rows."


@pytest.mark.parametrize("kernel", ["owner", "isolation", GaussianKernel(5)])
def test_the_error_for_an_array_with_gaps_says_that_tables_may_have_them(
    kernel, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", gappy())
    for run in (make(kernel).fit, make(kernel).plan, make(kernel).fit_transform):
        with refuses(MissingValuesError, ARRAY.format("1 NaN and 0") + TABLES):
            run(gappy())
    for model in (make(kernel), make(kernel, landmarks=20)):
        with refuses(MissingValuesError, STORED + DROPPING + TABLES):
            model.fit("x.npy")
        with refuses(MissingValuesError, STORED + OPENED + TABLES):
            model.fit(open_rows("x.npy"))
        model.fit(open_rows("x.npy", missing="drop"))  # as the error says
    make(kernel).fit(pd.DataFrame(gappy()))  # as the error says


def test_the_error_does_not_say_so_where_tables_cannot_be_used():
    nan, inf = ARRAY.format("1 NaN and 0"), ARRAY.format("0 NaN and 1")
    for kernel in (
        OwnerKernel(metric="cosine"),
        IsolationKernel(8, partition="forest"),
        OwnerKernel(metric="precomputed"),
        "precomputed",
    ):
        with refuses(DataError, nan):
            make(kernel).fit(gappy())
    for points, sentence in ((gappy(np.inf), inf), (csr_array(gappy()), nan)):
        with refuses(DataError, sentence):
            make("owner").fit(points)
    model = make("owner").fit(gappy(0.0))
    with refuses(DataError, nan):
        model.transform(gappy())
    with refuses(DataError, nan):
        OwnerKernel().fit(gappy())
