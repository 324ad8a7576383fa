"""The paper's data sets: the records, the data folder, OpenML."""

import json
import os
import re
from hashlib import sha256
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, save_npz
from sklearn.utils import Bunch

from isosne import datasets
from isosne.datasets import describe, load, names, record
from isosne.datasets.examples import EXAMPLES
from isosne.datasets.folder import cache_folder, find_folder
from isosne.datasets.openml import fetch_set
from isosne.datasets.records import RECORDS, OpenML
from isosne.errors import DataError, ParameterError
from tests.conftest import refuses

SHARED = Path(__file__).parents[4] / "shared" / "data"
FOLDER = Path(os.environ.get("ISOSNE_DATA") or SHARED)


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


def write_manifest(folder, **entries):
    for name, entry in entries.items():
        entry.setdefault("sha256", sha256((folder / f"{name}.npz").read_bytes()).hexdigest())
    (folder / "MANIFEST.json").write_text(json.dumps({"datasets": entries}))


def answer(X, target, categories=None):
    """Return what `fetch_openml(as_frame=False, parser="liac-arff")` returns."""
    features = [f"V{f + 1}" for f in range(X.shape[1])]
    return Bunch(
        data=X,
        target=np.array(target, dtype=object),
        feature_names=features,
        categories=categories or {},
    )


# The table


def test_the_table_has_the_21_sets_of_the_paper_in_its_order():
    assert names() == list(RECORDS)
    assert len(names()) == 21
    sizes = [record(name).n_points for name in names()]
    assert sizes == sorted(sizes)
    assert [record(name).name for name in names()] == names()


def test_printed_results_have_the_averages_that_the_paper_prints():
    columns = [[*r.auc_rnx, *r.db, *r.ch] for r in RECORDS.values()]
    mean = np.mean(columns, axis=0)
    assert mean[:4].round(2).tolist() == [0.68, 0.70, 2.80, 2.54]
    assert mean[4:].round().tolist() == [2445, 5136]


def test_the_isolation_kernel_wins_as_often_as_the_paper_counts():
    wins = np.array(
        [
            (
                r.auc_rnx.isolation > r.auc_rnx.gaussian,
                r.db.isolation < r.db.gaussian,
                r.ch.isolation > r.ch.gaussian,
            )
            for r in RECORDS.values()
        ]
    )
    assert wins[:, 0].sum() == 18
    assert wins[:, 1:].all(axis=1).sum() == 18
    assert wins.all(axis=1).sum() == 16
    assert [n for n, won in zip(names(), wins, strict=True) if not won.any()] == ["news20"]


def test_a_record_holds_what_the_paper_prints():
    mice = record("mice")
    assert mice.title == "Mice"
    assert (mice.n_points, mice.n_attributes, mice.n_classes) == (1080, 83, 8)
    assert mice.auc_rnx == (0.79, 0.82)
    assert mice.db == (0.32, 0.15)
    assert mice.ch == (8326, 50067)
    assert mice.ch.isolation == 50067


def test_every_set_has_a_source_and_no_two_have_the_same_openml_id():
    ids = [r.openml.data_id for r in RECORDS.values() if r.openml]
    assert len(ids) == len(set(ids)) == 15
    assert all(r.source for r in RECORDS.values())


# The folder


@pytest.fixture
def filled_folder(folder):
    """The data folder of this machine; without one, a folder with wine."""
    if (FOLDER / "MANIFEST.json").exists():
        return FOLDER
    _, y = store(folder, "wine", 178, 13, 3)
    counts = {str(c): int(count) for c, count in enumerate(np.bincount(y))}
    write_manifest(folder, wine={"n": 178, "d": 13, "n_classes": 3, "class_counts": counts})
    return folder


def test_every_set_of_the_folder_loads_in_its_shape(filled_folder):
    entries = json.loads((filled_folder / "MANIFEST.json").read_text())["datasets"]
    origins = {name: {"rcv1": "rcv1_small"}.get(name, name) for name in names()}
    held = {name: entries[origin] for name, origin in origins.items() if origin in entries}
    assert "wine" in held
    for name, entry in held.items():
        found, wanted = load(name, folder=filled_folder), record(name)
        n, d = found.X.shape
        assert found.name == name
        assert (n, d, len(found.classes)) == (entry["n"], entry["d"], entry["n_classes"])
        assert np.bincount(found.y).tolist() == list(entry["class_counts"].values())
        assert found.classes.dtype.kind == "U"
        is_sparse = name in ("news20", "rcv1")
        assert isinstance(found.X, csr_array if is_sparse else np.ndarray)
        is_papers = (n, d) == (wanted.n_points, wanted.n_attributes)
        assert is_papers == (not found.notes.startswith("A stand-in: "))
        assert is_papers == (not is_sparse)


def test_a_set_comes_from_the_folder_as_it_is_stored(folder):
    X, y = store(folder, "wine", 178, 13, 3)
    found = load("wine", folder=str(folder))
    assert np.array_equal(found.X, X)
    assert found.X.dtype == np.float32
    assert np.array_equal(found.y, y)
    assert found.y.dtype == np.int64
    assert found.classes.tolist() == ["class 0", "class 1", "class 2"]
    assert found.notes == ""
    assert repr(found) == "<wine: 178 points, 13 attributes, 3 classes>"


def test_the_folder_is_the_argument_then_the_variable_then_the_cache(folder, monkeypatch):
    assert find_folder() == cache_folder() == folder.parent / "cache" / "isosne"
    cache_folder().mkdir(parents=True)
    in_cache, _ = store(cache_folder(), "wine", 178, 13, 3)
    assert np.array_equal(load("wine").X, in_cache)
    monkeypatch.setenv("ISOSNE_DATA", str(folder))
    assert find_folder() == folder
    other = folder.parent / "other"
    other.mkdir()
    assert find_folder(other) == other


def test_without_variables_the_cache_is_below_the_home_folder(monkeypatch, tmp_path):
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "isosne"


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


def test_sparse_sets_load_as_csr_with_the_classes_of_the_manifest(folder):
    X = csc_array((np.arange(1.0, 1501), (np.arange(1500), np.arange(1500))), shape=(1500, 47236))
    save_npz(folder / "rcv1_small.X.npz", X)
    np.save(folder / "rcv1_small.y.npy", np.arange(1500) % 2)
    found = load("rcv1", folder=folder)
    assert isinstance(found.X, csr_array)
    assert (found.X != X).nnz == 0
    assert found.classes.tolist() == ["0", "1"]
    entry = {"sha256": None, "classes": ["-1", "+1"]}
    (folder / "MANIFEST.json").write_text(json.dumps({"datasets": {"rcv1_small": entry}}))
    assert load("rcv1", folder=folder).classes.tolist() == ["-1", "+1"]


def test_a_stand_in_says_so_in_its_notes(folder):
    save_npz(folder / "rcv1_small.X.npz", csr_array((1500, 47236)))
    np.save(folder / "rcv1_small.y.npy", np.arange(1500) % 2)
    assert load("rcv1", folder=folder).notes == (
        "A stand-in: 1500 documents of RCV1 with the same attributes and classes; the paper uses "
        "10121 of LIBSVM's rcv1_train.binary."
    )


def test_the_set_itself_goes_before_its_stand_in(folder):
    for name, n in (("rcv1_small", 1500), ("rcv1", 10121)):
        save_npz(folder / f"{name}.X.npz", csr_array((n, 47236)))
        np.save(folder / f"{name}.y.npy", np.arange(n) % 2)
    found = load("rcv1", folder=folder)
    assert found.X.shape == (10121, 47236)
    assert found.notes == ""


def test_notes_warn_of_the_columns_of_mice_that_determine_the_class(folder):
    store(folder, "mice", 1080, 83, 8)
    assert load("mice", folder=folder).notes == (
        "The last six columns are one-hot codes of genotype, treatment and behavior: a guess at "
        "the 83 attributes of the paper. Together they determine the class; X[:, :77] leaves them "
        "out. Missing values are filled with the mean of their column."
    )


@pytest.mark.parametrize(
    ("shape", "came"),
    [
        ((177, 13, 3), "177 points, 13 attributes and 3 classes"),
        ((178, 12, 3), "178 points, 12 attributes and 3 classes"),
        ((178, 13, 4), "178 points, 13 attributes and 4 classes"),
    ],
)
def test_another_shape_than_the_papers_is_refused(folder, shape, came):
    store(folder, "wine", *shape)
    text = (
        "The data set wine must have 178 points, 13 attributes and 3 classes, as in the paper; "
        f"got {came} from the files named wine. Get the data set from the UCI Machine Learning "
        "Repository."
    )
    with refuses(DataError, text):
        load("wine", folder=folder)


def test_a_checksum_that_holds_is_accepted_and_another_one_refused(folder):
    store(folder, "wine", 178, 13, 3)
    write_manifest(folder, wine={})
    assert load("wine", folder=folder).X.shape == (178, 13)
    path = folder / "wine.npz"
    stored = bytearray(path.read_bytes())
    good = sha256(stored).hexdigest()
    stored[len(stored) // 2] ^= 1
    path.write_bytes(stored)
    text = (
        f"{path} must have the sha256 {good}, as listed in MANIFEST.json; got "
        f"{sha256(stored).hexdigest()}. The file is damaged or has changed: copy it again."
    )
    with refuses(DataError, text):
        load("wine", folder=folder)


def test_large_files_are_not_hashed(folder, monkeypatch):
    store(folder, "wine", 178, 13, 3)
    write_manifest(folder, wine={"sha256": "0"})
    monkeypatch.setattr("isosne.datasets.folder.LARGEST_HASHED_BYTES", 1000)
    assert load("wine", folder=folder).X.shape == (178, 13)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"datasets": 3}', '{"datasets": {"a": 1}}'])
def test_a_broken_manifest_is_refused(folder, text):
    store(folder, "wine", 178, 13, 3)
    path = folder / "MANIFEST.json"
    path.write_text(text)
    expected = (
        f"{path} must be JSON with an object 'datasets'; it is not. "
        "Copy the file again, or remove it to load data sets without checks."
    )
    with refuses(DataError, expected):
        load("wine", folder=folder)


def test_a_file_that_is_no_npz_is_refused(folder):
    path = folder / "wine.npz"
    path.write_bytes(b"PK\x03\x04 and then nothing of the kind")
    text = (
        f"{path} must be an .npz file with arrays X, y and classes, without pickled objects; "
        "reading it failed with BadZipFile: File is not a zip file. "
        "Write or copy the file again."
    )
    with refuses(DataError, text):
        load("wine", folder=folder)


def test_a_damaged_byte_anywhere_is_an_error_of_isosne_or_harmless(folder):
    store(folder, "wine", 178, 13, 3)
    path = folder / "wine.npz"
    with np.load(path) as stored:
        np.savez_compressed(path, **stored)
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    n_refused = 0
    for at in rng.integers(len(good), size=200):
        path.write_bytes(good[:at] + bytes([good[at] ^ 0xFF]) + good[at + 1 :])
        try:
            assert load("wine", folder=folder).X.shape == (178, 13)
        except DataError:
            n_refused += 1
    assert n_refused > 150


@pytest.mark.parametrize("kept", ["X", "y", "classes"])
def test_an_npz_without_one_of_its_arrays_is_refused(folder, kept):
    np.savez(folder / "wine.npz", **{kept: np.zeros(3)})
    start = f"{folder / 'wine.npz'} must be an .npz file with arrays X, y and classes, "
    with pytest.raises(DataError, match="^" + re.escape(start) + ".*KeyError"):
        load("wine", folder=folder)


def test_pickled_objects_are_never_read(folder):
    X = np.array([[object()]], dtype=object)
    np.savez(folder / "wine.npz", X=X, y=np.zeros(1, int), classes=np.array(["a"]))
    text = (
        f"{folder / 'wine.npz'} must be an .npz file with arrays X, y and classes, without pickled "
        "objects; reading it failed with ValueError: Object arrays cannot be loaded when "
        "allow_pickle=False. Write or copy the file again."
    )
    with refuses(DataError, text):
        load("wine", folder=folder)
    (folder / "wine.npz").unlink()
    save_npz(folder / "rcv1.X.npz", csr_array((1, 2)))
    np.save(folder / "rcv1.y.npy", np.array([object()], dtype=object))
    start = f"{folder / 'rcv1.y.npy'} must be an .npy file with one label per row, without "
    with pytest.raises(DataError, match="^" + re.escape(start) + ".*allow_pickle=False"):
        load("rcv1", folder=folder)


def test_a_sparse_set_needs_both_of_its_files(folder):
    save_npz(folder / "rcv1.X.npz", csr_array((1, 2)))
    start = f"{folder / 'rcv1.y.npy'} must be an .npy file with one label per row, without "
    with pytest.raises(DataError, match="^" + re.escape(start) + ".*FileNotFoundError"):
        load("rcv1", folder=folder)
    (folder / "rcv1.X.npz").write_bytes(b"PK\x03\x04")
    start = f"{folder / 'rcv1.X.npz'} must be a file written by scipy.sparse.save_npz, without "
    with pytest.raises(DataError, match="^" + re.escape(start) + ".*BadZipFile"):
        load("rcv1", folder=folder)


@pytest.mark.parametrize(
    ("y", "came"),
    [
        (np.zeros(177, np.int64), "y of int64 and shape (177,)"),
        (np.full(178, 3), "y of int64 and shape (178,)"),
        (np.full(178, -1), "y of int64 and shape (178,)"),
        (np.zeros(178), "y of float64 and shape (178,)"),
    ],
)
def test_labels_must_be_indices_of_classes(folder, y, came):
    np.savez(folder / "wine.npz", X=np.zeros((178, 13)), y=y, classes=np.array(["a", "b", "c"]))
    text = (
        "The data set wine must have one label per row of X, an index into its 3 classes; "
        f"got X of shape (178, 13) and {came}. Number the classes from 0 and write the file again."
    )
    with refuses(DataError, text):
        load("wine", folder=folder)


def test_other_sets_of_the_folder_load_by_its_manifest(folder):
    X, _ = store(folder, "cells", 20, 4, 2)
    write_manifest(folder, cells={"n": 20, "d": 4, "notes": "Twenty cells."})
    found = load("cells", folder=folder)
    assert np.array_equal(found.X, X)
    assert found.notes == "Twenty cells."
    write_manifest(folder, cells={"n": 21, "d": 4})
    text = (
        "The data set cells must have 21 points and 4 attributes according to the manifest of "
        f"{folder}; got 20 and 4. Copy its files again."
    )
    with refuses(DataError, text):
        load("cells", folder=folder)


LIST_NAMES = "List the names with isosne.datasets.names() or the command isosne datasets."


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("wines", "Did you mean 'wine'?"),
        ("MNIST", "Did you mean 'mnist10k'?"),
        ("Pendigits", "Did you mean 'pendig'?"),
        ("COIL-20", "Did you mean 'coil20'?"),
        ("qqqq", LIST_NAMES),
        (3, LIST_NAMES),
    ],
)
def test_an_unknown_name_gets_the_nearest_one(folder, name, advice):
    came = f"; got name={name!r}. {advice}"
    where = "the paper, of scikit-learn or of the data folder"
    with refuses(ParameterError, f"name must be a data set of {where}{came}"):
        load(name, folder=folder)
    with refuses(ParameterError, f"name must be a data set of the paper{came}"):
        record(name)


@pytest.mark.parametrize("name", ["breast_cancer", "digits", "iris", "wdbc", "wine"])
def test_examples_of_scikit_learn_need_no_network(folder, openml, name):
    openml(AssertionError("OpenML must not be asked"))
    found = load(name, folder=folder)
    expected = EXAMPLES["breast_cancer" if name == "wdbc" else name]()
    assert found.name == name
    np.testing.assert_array_equal(found.X, expected.data)
    np.testing.assert_array_equal(found.y, expected.target)
    assert found.classes.tolist() == [str(one) for one in expected.target_names]
    if name in names():
        assert (*found.X.shape, len(found.classes)) == record(name).sizes


# OpenML


def test_a_set_that_is_not_in_the_folder_comes_from_openml(folder, openml):
    X = np.random.default_rng(0).normal(size=(768, 8))
    calls = openml(answer(X, [str(1 + i % 2) for i in range(768)]))
    found = load("pima", folder=folder)
    assert np.array_equal(found.X, X)
    assert found.classes.tolist() == ["1", "2"]
    assert np.array_equal(found.y, np.arange(768) % 2)
    assert found.y.dtype == np.int64
    assert found.notes == ""
    assert calls == [
        {
            "data_id": 37,
            "data_home": str(cache_folder()),
            "as_frame": False,
            "parser": "liac-arff",
        }
    ]


def test_rows_with_missing_values_are_left_out_of_dermatology(folder, openml):
    X = np.random.default_rng(0).integers(0, 3, (366, 34)).astype(np.float64)
    X[10:18, 33] = np.nan
    openml(answer(X, [str(1 + i % 6) for i in range(366)]))
    found = load("dermatology", folder=folder)
    kept = np.r_[:10, 18:366]
    assert np.array_equal(found.X, X[kept])
    assert np.array_equal(found.y, kept % 6)


def test_missing_values_of_mice_become_the_mean_and_its_77_columns_a_stand_in(folder, openml):
    X = np.random.default_rng(0).normal(size=(1080, 77))
    X[:2, 5], X[2, 6] = np.nan, np.nan
    openml(answer(X.copy(), [f"class-{i % 8}" for i in range(1080)]))
    found = load("mice", folder=folder)
    expected = X.copy()
    expected[:2, 5], expected[2, 6] = X[2:, 5].mean(), X[np.arange(1080) != 2, 6].mean()
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


def test_codes_of_numerals_become_their_numbers():
    codes = np.array([[0.0, 1.0], [2.0, 0.0], [np.nan, 1.0]])
    response = answer(codes, ["a", "b", "a"], {"V1": ["10", "5", "0.5"], "V2": ["no", "yes"]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sklearn.datasets.fetch_openml", lambda **_: response)
        found = fetch_set("small", OpenML(1))
    assert found.X.tolist() == [[10.0, 1.0], [0.5, 0.0]]
    assert found.y.tolist() == [0, 1]


def test_classes_that_are_numerals_keep_their_numerical_order(openml):
    openml(answer(np.zeros((4, 2)), ["10", "9", "1", "10"]))
    found = fetch_set("small", OpenML(1))
    assert found.classes.tolist() == ["1", "9", "10"]
    assert found.y.tolist() == [2, 1, 0, 2]


def test_the_test_digits_of_mnist_are_its_last_rows(openml):
    assert RECORDS["mnist10k"].openml == OpenML(554, first_row=60_000)
    openml(answer(np.arange(14.0).reshape(7, 2), list("0123456")))
    found = fetch_set("small", OpenML(554, first_row=5))
    assert found.X.tolist() == [[10, 11], [12, 13]]
    assert found.classes.tolist() == ["5", "6"]


def test_a_set_of_openml_in_another_shape_is_refused(folder, openml):
    openml(answer(np.zeros((768, 7)), ["1", "2"] * 384))
    text = (
        "The data set pima must have 768 points, 8 attributes and 2 classes, as in the paper; "
        "got 768 points, 7 attributes and 2 classes from OpenML. "
        f"Get the data set from {record('pima').source}."
    )
    with refuses(DataError, text):
        load("pima", folder=folder)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (URLError("no route to host"), "URLError: <urlopen error no route to host>"),
        (TimeoutError("timed out"), "TimeoutError: timed out"),
        (ValueError("md5 checksum does not match"), "ValueError: md5 checksum does not match"),
    ],
)
def test_without_a_network_a_sentence_says_what_to_do(folder, openml, error, words):
    openml(error)
    text = (
        f"The data set pima must be in the data folder or come from OpenML; {folder} has no file "
        f"pima.npz, and downloading OpenML 37 failed with {words}. Connect to the network, or "
        "set ISOSNE_DATA to a folder that has the file."
    )
    with refuses(DataError, text):
        load("pima", folder=folder)


@pytest.mark.parametrize("name", [n for n in names() if record(n).openml is None])
def test_a_set_that_openml_lacks_says_where_to_get_it(folder, openml, name):
    calls = openml(AssertionError("OpenML must not be asked"))
    text = (
        f"The data set {name} must be in the data folder, as OpenML does not have it; {folder} has "
        f"no file {name}.npz. Get it from {record(name).source} and save it there with "
        f"np.savez_compressed('{name}.npz', X=X, y=y, classes=classes)."
    )
    with refuses(DataError, text):
        load(name, folder=folder)
    assert calls == []


# The listing and the names


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


def test_every_public_name_resolves_and_is_documented():
    assert datasets.__all__ == sorted(datasets.__all__)
    for name in datasets.__all__:
        assert getattr(datasets, name).__doc__
