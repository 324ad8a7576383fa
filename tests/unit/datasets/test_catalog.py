"""Data sets by name: the data folder, scikit-learn, OpenML."""

from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, save_npz
from sklearn.utils import Bunch

from isosne.datasets import describe, load, names
from isosne.datasets.catalog import LOADERS, cache_folder, fetch_set, find_folder, load_table
from isosne.datasets.records import RECORDS, OpenML
from isosne.errors import DataError, ParameterError
from isosne.rows.table_reader import names_data_set
from tests.conftest import refuses


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data folder, with a cache folder of its own and no ISOSNE_DATA."""
    monkeypatch.delenv("ISOSNE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    data = tmp_path / "data"
    data.mkdir()
    return data


@pytest.fixture
def openml(monkeypatch):
    """Answer for OpenML at scikit-learn's border; the calls made are kept."""
    calls = []

    def answer_with(response):
        def fetch_openml(**asked):
            calls.append(asked)
            if isinstance(response, Exception):
                raise response
            return response

        monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
        return calls

    return answer_with


def store(folder, name, n, d, n_classes):
    """Write a set of this shape and return its X and y."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)).astype(np.float32), np.arange(n) % n_classes
    classes = np.array([f"class {c}" for c in range(n_classes)])
    np.savez(folder / f"{name}.npz", X=X, y=y.astype(np.int32), classes=classes)
    return X, y


def store_sparse(folder, name, n, X=None):
    save_npz(folder / f"{name}.X.npz", csr_array((n, 47236)) if X is None else X)
    np.save(folder / f"{name}.y.npy", np.arange(n) % 2)


def answer(X, target, categories=None):
    """Return what `fetch_openml(as_frame=False, parser="liac-arff")` returns."""
    features = [f"V{f + 1}" for f in range(X.shape[1])]
    return Bunch(
        data=X,
        target=np.array(target, dtype=object),
        feature_names=features,
        categories=categories or {},
    )


def test_the_21_sets_of_the_paper_come_in_its_order():
    sizes = [RECORDS[name].sizes[0] for name in names()]
    assert len(sizes) == 21
    assert sizes == sorted(sizes)
    ids = [r.openml.data_id for r in RECORDS.values() if r.openml]
    assert len(ids) == len(set(ids)) == 15


# The folder


def test_the_folder_is_the_argument_then_the_variable_then_the_cache(folder, monkeypatch):
    assert find_folder() == cache_folder() == folder.parent / "cache" / "isosne"
    monkeypatch.setenv("ISOSNE_DATA", str(folder))
    assert find_folder() == folder
    assert find_folder(folder.parent) == folder.parent
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    assert cache_folder() == folder / ".cache" / "isosne"


def test_a_folder_that_was_named_must_exist(folder, monkeypatch):
    missing = str(folder / "none")
    text = (
        f"{{0}} must be a folder that exists; got {{0}}={missing!r}. "
        "Correct the path, or leave it out to download data sets from OpenML."
    )
    with refuses(ParameterError, text.format("folder")):
        load("wine", folder=missing)
    monkeypatch.setenv("ISOSNE_DATA", missing)
    with refuses(ParameterError, text.format("ISOSNE_DATA")):
        load("wine")


def test_a_sparse_stand_in_loads_as_csr(folder):
    X = csc_array((np.arange(1.0, 1501), (np.arange(1500), np.arange(1500))), shape=(1500, 47236))
    store_sparse(folder, "rcv1_small", 1500, X)
    found = load("rcv1", folder=folder)
    assert isinstance(found.X, csr_array)
    assert (found.X != X).nnz == 0
    assert found.classes.tolist() == ["0", "1"]
    assert found.notes.startswith("A stand-in: 1500 documents of RCV1")
    store_sparse(folder, "rcv1", 10121)  # the set itself goes before its stand-in
    assert load("rcv1", folder=folder).notes == ""


def test_a_set_of_the_folder_loads_as_it_is_stored(folder):
    X, y = store(folder, "cells", 20, 4, 2)
    cells = load("cells", folder=str(folder))
    assert (cells.X.tobytes(), cells.X.dtype) == (X.tobytes(), np.float32)
    assert (cells.y.tolist(), cells.y.dtype) == (y.tolist(), np.int64)
    assert cells.classes.tolist() == ["class 0", "class 1"]
    assert repr(cells) == "<cells: 20 points, 4 attributes, 2 classes>"


def test_another_shape_than_the_papers_is_refused(folder):
    store(folder, "wine", 178, 12, 3)
    text = (
        "The data set wine must have 178 points, 13 attributes and 3 classes, as in the paper; "
        "got 178 points, 12 attributes and 3 classes from the files named wine. "
        "Get the data set from the UCI Machine Learning Repository."
    )
    with refuses(DataError, text):
        load("wine", folder=folder)


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"X": np.zeros((2, 2))}, "KeyError"),
        (
            {"X": np.array([[object()]]), "y": np.zeros(1, int), "classes": np.array(["a"])},
            "ValueError: Object arrays cannot be loaded when allow_pickle=False",
        ),
    ],
    ids=["incomplete", "pickled"],
)
def test_a_file_of_another_form_is_refused(folder, arrays, reason):
    np.savez(folder / "wine.npz", **arrays)
    with pytest.raises(
        DataError, match=f"without pickled objects; reading it failed with {reason}"
    ):
        load("wine", folder=folder)


def test_a_sparse_set_needs_its_labels_and_never_unpickles_them(folder):
    store_sparse(folder, "rcv1", 1)
    np.save(folder / "rcv1.y.npy", np.array([object()]))
    with pytest.raises(DataError, match="allow_pickle=False"):
        load("rcv1", folder=folder)
    (folder / "rcv1.y.npy").unlink()
    with pytest.raises(DataError, match="FileNotFoundError"):
        load("rcv1", folder=folder)


@pytest.mark.parametrize(
    "y", [np.zeros(177, np.int64), np.full(178, 3), np.full(178, -1), np.zeros(178)]
)
def test_labels_must_be_indices_of_classes(folder, y):
    np.savez(folder / "wine.npz", X=np.zeros((178, 13)), y=y, classes=np.array(["a", "b", "c"]))
    text = (
        "The data set wine must have one label per row of X, an index into its 3 classes; got X "
        f"of shape (178, 13) and y of {y.dtype} and shape {y.shape}. "
        "Number the classes from 0 and write the file again."
    )
    with refuses(DataError, text):
        load("wine", folder=folder)


LIST_NAMES = "List the names with isosne.datasets.names() or the command isosne datasets."


@pytest.mark.parametrize(
    ("name", "advice"),
    [("MNIST", "Did you mean 'mnist10k'?"), ("qqqq", LIST_NAMES), ([3], LIST_NAMES)],
)
def test_an_unknown_name_gets_the_nearest_one(folder, name, advice):
    rule = "name must be a data set of the paper, of scikit-learn or of the data folder"
    with refuses(ParameterError, f"{rule}; got name={name!r}. {advice}"):
        load(name, folder=folder)


@pytest.mark.parametrize("name", ["digits", "wdbc"])
def test_examples_of_scikit_learn_need_no_network(folder, openml, name):
    openml(AssertionError("OpenML must not be asked"))
    found = load(name, folder=folder)
    expected = LOADERS[name]()
    assert found.name == name
    np.testing.assert_array_equal(found.X, expected.data)
    np.testing.assert_array_equal(found.y, expected.target)
    assert found.classes.tolist() == [str(one) for one in expected.target_names]


# OpenML


def test_a_set_that_is_not_in_the_folder_comes_from_openml(folder, openml):
    X = np.random.default_rng(0).normal(size=(768, 8))
    calls = openml(answer(X, [str(1 + i % 2) for i in range(768)]))
    found = load("pima", folder=folder)
    assert np.array_equal(found.X, X)
    assert found.classes.tolist() == ["1", "2"]
    assert np.array_equal(found.y, np.arange(768) % 2)
    assert [(call["data_id"], call["data_home"]) for call in calls] == [(37, str(cache_folder()))]


def test_missing_values_of_mice_become_the_mean_and_its_77_columns_a_stand_in(folder, openml):
    X = np.random.default_rng(0).normal(size=(1080, 77))
    X[:2, 5] = np.nan
    openml(answer(X.copy(), [f"class-{i % 8}" for i in range(1080)]))
    found = load("mice", folder=folder)
    expected = X.copy()
    expected[:2, 5] = X[2:, 5].mean()
    np.testing.assert_allclose(found.X, expected, rtol=1e-12)
    assert found.notes.startswith("A stand-in: the 77 proteins, without the 6 other columns")


@pytest.mark.parametrize(("n_missing", "n_kept"), [(4, 579), (0, 583)])
def test_ilpd_has_no_gender_and_says_so_if_it_has_too_many_rows(folder, openml, n_missing, n_kept):
    X = np.random.default_rng(0).normal(size=(583, 10))
    X[:n_missing, 9] = np.nan
    X[:, 1] = np.arange(583) % 2
    openml(answer(X.copy(), ["1", "2"] * 291 + ["1"], {"V2": ["Female", "Male"]}))
    found = load("ilpd", folder=folder)
    assert np.array_equal(found.X, np.delete(X, 1, axis=1)[583 - n_kept :])
    assert found.notes.startswith("A stand-in: ") == (n_kept == 583)


def test_numerals_become_numbers_and_classes_keep_their_order(openml):
    codes = np.array([[0.0, 1.0], [2.0, 0.0], [np.nan, 1.0], [1.0, 1.0]])
    categories = {"V1": ["10", "5", "0.5"], "V2": ["no", "yes"]}
    response = answer(codes, ["10", "9", "9", "1"], categories)
    openml(Bunch(**response | {"data": codes.copy()}))
    found = fetch_set("small", OpenML(1))
    assert found.X.tolist() == [[10.0, 1.0], [0.5, 0.0], [5.0, 1.0]]
    assert found.classes.tolist() == ["1", "9", "10"]
    assert found.y.tolist() == [2, 1, 0]
    openml(response)
    assert fetch_set("small", OpenML(1, first_row=3)).X.tolist() == [[5.0, 1.0]]


@pytest.mark.parametrize("error", [URLError("no route"), ValueError("md5")])
def test_without_a_network_a_sentence_says_what_to_do(folder, openml, error):
    openml(error)
    text = (
        f"The data set pima must be in the data folder or come from OpenML; {folder} has no file "
        f"pima.npz, and downloading OpenML 37 failed with {type(error).__name__}: {error}. Connect "
        "to the network, or set ISOSNE_DATA to a folder that has the file."
    )
    with refuses(DataError, text):
        load("pima", folder=folder)


def test_a_set_that_openml_lacks_says_where_to_get_it(folder):
    text = (
        f"The data set coil20 must be in the data folder, as OpenML does not have it; {folder} has "
        f"no file coil20.npz. Get it from {RECORDS['coil20'].source} and save it there with "
        "np.savez_compressed('coil20.npz', X=X, y=y, classes=classes)."
    )
    with refuses(DataError, text):
        load("coil20", folder=folder)


def test_the_listing_says_where_each_set_would_come_from(folder):
    store(folder, "wine", 178, 13, 3)
    save_npz(folder / "rcv1_small.X.npz", csr_array((1500, 47236)))
    lines = describe(folder=folder).splitlines()
    assert len(lines) == 22
    assert lines[0] == "name            points  attributes  classes  from"
    assert lines[1] == "wine               178          13        3  folder: wine.npz"
    assert lines[2] == "dermatology        358          34        6  OpenML 35"
    assert lines[names().index("wdbc") + 1].endswith("2  scikit-learn")
    assert lines[3] == "forest_type        523          27        4  by hand"
    assert lines[20] == "rcv1             10121       47236        2  folder: rcv1_small.X.npz"


# Tables


@pytest.fixture
def wine(folder, monkeypatch):
    """The data set wine, in the folder that ISOSNE_DATA names."""
    monkeypatch.setenv("ISOSNE_DATA", str(folder))
    monkeypatch.chdir(folder.parent)
    return store(folder, "wine", 178, 13, 3)


@pytest.mark.parametrize(
    ("source", "is_set"),
    [("wine", True), ("wien", True), ("wine.csv", False), ("./wine", False), ("-", False)],
)
def test_a_name_without_an_ending_is_that_of_a_set_unless_a_file_is_there(source, is_set, wine):
    assert names_data_set(source) == is_set
    Path("wine").mkdir()
    assert not names_data_set("wine")


def test_a_set_brings_its_labels(wine):
    rule = "label must be left out for a data set, which has its own labels; got label='y'. "
    with refuses(ParameterError, f"{rule}Leave it out, or pass a file instead of 'wine'."):
        load_table("wine", label="y")


def test_rows_of_a_set_can_be_dropped_with_their_labels(wine, folder):
    X, y = wine
    X[[0, 5]] = np.nan
    np.savez(folder / "wine.npz", X=X, y=y, classes=np.array(["1", "2", "3"]))
    table = load_table("wine", missing="drop")
    assert table.rows.shape == (176, 13)
    assert table.ids[:5].tolist() == [1, 2, 3, 4, 6]
    assert table.labels[:5].tolist() == ["2", "3", "1", "2", "1"]
    assert len(table.notes) == 1
