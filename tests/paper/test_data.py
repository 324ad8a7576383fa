"""The paper's data sets: how they are loaded, and step 1 on those in the folder ISOSNE_DATA."""

import tracemalloc
from urllib.error import URLError

import numpy as np
import pytest
from benchmarks.paper.data import cache_folder, describe, fetch_set, load, names
from benchmarks.paper.records import RECORDS, OpenML
from scipy.sparse import csc_array, csr_array, save_npz
from sklearn.datasets import load_breast_cancer
from sklearn.utils import Bunch

from isosne import IsolationKernel, nearest_neighbors
from isosne.errors import DataError, ParameterError
from tests.conftest import refuses

pytestmark = pytest.mark.paper

# Loading


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


def test_a_folder_that_was_named_must_exist(folder, monkeypatch):
    missing = str(folder / "none")
    with pytest.raises(ParameterError, match="folder must be a folder that exists"):
        load("wine", missing)
    monkeypatch.setenv("ISOSNE_DATA", missing)
    with pytest.raises(ParameterError, match="ISOSNE_DATA must be a folder that exists"):
        load("wine")


def test_a_set_of_the_folder_loads_as_it_is_stored(folder, monkeypatch):
    X, y = store(folder, "cells", 20, 4, 2)
    monkeypatch.setenv("ISOSNE_DATA", str(folder))
    cells = load("cells")
    assert (cells.X.tobytes(), cells.X.dtype) == (X.tobytes(), np.float32)
    assert (cells.y.tolist(), cells.y.dtype) == (y.tolist(), np.int64)
    assert cells.classes.tolist() == ["class 0", "class 1"]


def test_a_sparse_stand_in_loads_as_csr(folder):
    X = csc_array((np.arange(1.0, 1501), (np.arange(1500), np.arange(1500))), shape=(1500, 47236))
    store_sparse(folder, "rcv1_small", 1500, X)
    found = load("rcv1", folder)
    assert isinstance(found.X, csr_array)
    assert (found.X != X).nnz == 0
    assert found.classes.tolist() == ["0", "1"]
    assert found.notes.startswith("A stand-in: 1500 documents of RCV1")
    store_sparse(folder, "rcv1", 10121)  # the set itself goes before its stand-in
    assert load("rcv1", folder).notes == ""


def test_another_shape_than_the_papers_is_refused(folder):
    store(folder, "wine", 178, 12, 3)
    text = (
        "The data set wine must have 178 points, 13 attributes and 3 classes, as in the paper; "
        "got 178 points, 12 attributes and 3 classes from the files named wine. "
        "Get the data set from the UCI Machine Learning Repository."
    )
    with refuses(DataError, text):
        load("wine", folder)


def test_an_unknown_name_gets_the_nearest_one(folder):
    with pytest.raises(ParameterError, match="Did you mean 'mnist10k'"):
        load("MNIST", folder)


def test_a_set_that_scikit_learn_has_needs_no_network(folder, openml):
    openml(AssertionError("OpenML must not be asked"))
    found, expected = load("wdbc", folder), load_breast_cancer()
    assert found.name == "wdbc"
    np.testing.assert_array_equal(found.X, expected.data)
    np.testing.assert_array_equal(found.y, expected.target)


def test_a_set_that_is_not_in_the_folder_comes_from_openml(folder, openml):
    X = np.random.default_rng(0).normal(size=(768, 8))
    calls = openml(answer(X, [str(1 + i % 2) for i in range(768)]))
    found = load("pima", folder)
    assert np.array_equal(found.X, X)
    assert found.classes.tolist() == ["1", "2"]
    assert np.array_equal(found.y, np.arange(768) % 2)
    assert [(call["data_id"], call["data_home"]) for call in calls] == [(37, str(cache_folder()))]


def test_missing_values_of_mice_become_the_mean_and_its_77_columns_a_stand_in(folder, openml):
    X = np.random.default_rng(0).normal(size=(1080, 77))
    X[:2, 5] = np.nan
    openml(answer(X.copy(), [f"class-{i % 8}" for i in range(1080)]))
    found = load("mice", folder)
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
    found = load("ilpd", folder)
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
        load("pima", folder)


def test_a_set_that_openml_lacks_says_where_to_get_it(folder):
    with pytest.raises(DataError, match="Get it from the feature selection repository of Arizona"):
        load("coil20", folder)


def test_the_listing_says_where_each_set_would_come_from(folder):
    store(folder, "wine", 178, 13, 3)
    save_npz(folder / "rcv1_small.X.npz", csr_array((1500, 47236)))
    lines = describe(folder).splitlines()
    assert len(lines) == 22
    assert lines[0] == "name            points  attributes  classes  from"
    assert lines[1] == "wine               178          13        3  folder: wine.npz"
    assert lines[2] == "dermatology        358          34        6  OpenML 35"
    assert lines[names().index("wdbc") + 1].endswith("2  scikit-learn")
    assert lines[3] == "forest_type        523          27        4  by hand"
    assert lines[20] == "rcv1             10121       47236        2  folder: rcv1_small.X.npz"


# Step 1


@pytest.mark.parametrize(
    "more", [{"metric": "cosine"}, {"partition": "forest"}], ids=["cosine", "forest"]
)
def test_news_of_more_than_a_million_attributes_is_never_densified(data_set, more):
    X, y = data_set("news20")
    assert X.shape[0] == 9998
    assert X.shape[1] > 1_000_000
    kernel = IsolationKernel(16, n_partitions=20, random_state=0, **more)
    tracemalloc.start()
    try:
        kernel.fit(X)
        cells = kernel.cells()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # A dense copy would take 100 GB; the CSR itself has some 60 MB.
    assert peak < 1.5e9
    assert cells.shape == (9998, 20)
    assert cells.dtype == np.uint8
    assert cells.max() <= 15
    # A sampled point lies in its own cell (Voronoi), or in a leaf that no other one shares.
    for p, sample in enumerate(kernel.partitions_[0].samples):
        assert len(set(cells[sample, p])) == 16
    # Each class is nearer to itself than to the other.
    shares = kernel.similarity(X[:400], X[400:1200])
    assert np.all((shares >= 0) & (shares <= 1))
    if "metric" in more:
        same = y[:400, None] == y[None, 400:1200]
        assert shares[same].mean() > shares[~same].mean()


def test_the_exact_kernel_of_wine_is_the_limit_of_many_partitionings(data_set):
    X, y = data_set("wine")
    assert X.shape == (178, 13)
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    exact = IsolationKernel(20, n_partitions="exact").fit(X).similarity()
    t = 10_000
    drawn = IsolationKernel(20, n_partitions=t, random_state=0).fit(X).similarity()
    # Five standard errors of a mean of t draws, and a little for chances near zero.
    bound = 5 * np.sqrt(exact * (1 - exact) / t) + 5 / t + 5e-6
    assert np.all(np.abs(drawn - exact) <= bound)
    same = y[:, None] == y
    assert exact[same].mean() > 2 * exact[~same].mean()


def test_handwritten_digits_are_most_similar_to_their_own_class(data_set):
    X, y = data_set("usps")
    chosen = np.random.default_rng(0).choice(len(X), 1500, replace=False)
    X, y = X[chosen], y[chosen]
    kernel = IsolationKernel(100, n_partitions=200, random_state=0).fit(X)
    neighbors = nearest_neighbors(X, 30)
    K = kernel.neighbor_similarity(neighbors)[0]
    of_same_class = y[neighbors.indices] == y[:, None]
    # Weighted by similarity, neighbors agree more often than counted alike.
    weighted = (K * of_same_class).sum() / K.sum()
    assert weighted > of_same_class.mean() + 0.05
