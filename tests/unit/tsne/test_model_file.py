"""Models on disk: what comes back, and what is refused."""

import json
import pickle
import re
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

import isosne.tsne.input
from isosne import (
    JSE,
    KL,
    TSNE,
    AdaptiveGaussianKernel,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    Landmarks,
    Mesh,
    NeRV,
    Phase,
    Schedule,
    Sparse,
    Tree,
)
from isosne.errors import DataError, OutputError
from isosne.layout.schedules import ChangeBelow, RateFalls
from tests.unit.tsne.conftest import make, refuses

N = 100
RULES = Schedule(
    (
        Phase(20, exaggeration=3, stop=RateFalls(wait=5)),
        Phase(20, step=9.5, stop=ChangeBelow(share=0.01)),
    ),
    min_gain=0.05,
)
START = np.random.default_rng(7).normal(size=(N, 2))
MODELS = {
    "isolation": {"kernel": IsolationKernel(20)},
    "isolation by its name": {"kernel": "isolation"},
    "several psi": {"kernel": IsolationKernel((5, 20, 80))},
    "share of the points": {"kernel": IsolationKernel([0.5, 0.1])},
    "closed form": {"kernel": IsolationKernel(20, n_partitions="exact")},
    "forest": {"kernel": IsolationKernel(20, partition="forest")},
    "forest at two psi": {"kernel": IsolationKernel((10, 40), partition="forest")},
    "cosine": {"kernel": IsolationKernel(20, metric="cosine")},
    "minkowski": {"kernel": IsolationKernel(20, metric="minkowski", p=3.5)},
    "gaussian": {"kernel": GaussianKernel(12)},
    "two perplexities": {"kernel": GaussianKernel((5.5, 30))},
    "adaptive": {"kernel": AdaptiveGaussianKernel(9)},
    "knn": {"kernel": KNNKernel(9)},
    "lists": {"affinities": "sparse"},
    "lists, exact forces": {"affinities": "sparse", "forces": "exact"},
    "lists, tree": {"affinities": "sparse", "forces": Tree(theta=0.3)},
    "lists, mesh": {"affinities": "sparse", "forces": Mesh(accuracy=0.05)},
    "approximate lists": {"kernel": GaussianKernel(12), "affinities": Sparse("approximate")},
    "draws": {"affinities": "sampled"},
    "draws of a forest": {
        "kernel": IsolationKernel((10, 40), partition="forest"),
        "affinities": "sampled",
    },
    "landmarks": {"landmarks": 60},
    "landmarks, drawn": {"kernel": IsolationKernel(5), "landmarks": 70, "affinities": "sampled"},
    "landmarks, spread": {"landmarks": Landmarks(60, choice="spread")},
    "landmarks, forest": {"kernel": IsolationKernel(20, partition="forest"), "landmarks": 60},
    "landmarks, two psi": {"kernel": IsolationKernel((10, 40)), "landmarks": 60},
    "landmarks, gaussian": {"kernel": GaussianKernel(12), "landmarks": 60},
    "own schedule": {"schedule": RULES},
    "nerv": {"objective": NeRV(0.7)},
    "jse": {"objective": JSE(0.3)},
    "given start": {"start": START},
    "start as a list": {"start": START.tolist()},
    "three dimensions": {"n_components": 3},
    "gaussian map": {"objective": KL(dof=np.inf)},
    "exaggeration": {"exaggeration": 2.5},
    "numbers of numpy": {
        "kernel": IsolationKernel(np.int64(20), random_state=np.int32(3)),
        "n_components": np.int64(2),
        "objective": KL(dof=np.float32(1.5)),
        "landmarks": Landmarks(np.int64(60)),
    },
    "generators": {
        "kernel": IsolationKernel(20, random_state=np.random.default_rng(1)),
        "random_state": np.random.RandomState(2),
    },
}
# each way to the joint probabilities, and each kind of forces
CONTINUED = [
    *(
        "isolation",
        "several psi",
        "closed form",
        "forest",
        "gaussian",
        "knn",
        "lists, exact forces",
    ),
    *("lists, tree", "lists, mesh", "approximate lists", "draws", "draws of a forest", "landmarks"),
    *(
        "landmarks, drawn",
        "own schedule",
        "jse",
        "gaussian map",
        "three dimensions",
        "exaggeration",
    ),
]


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 5)) + 4 * rng.integers(0, 2, (N, 1))


@pytest.fixture(scope="module")
def further():
    return np.random.default_rng(1).normal(2, 3, size=(60, 5))


@pytest.fixture(autouse=True)
def small_pool(monkeypatch):
    monkeypatch.setattr(isosne.tsne.input, "POOL", 80)  # fewer than all points


def saved(model, tmp_path):
    model.save(tmp_path / "model.isosne")
    return TSNE.load(tmp_path / "model.isosne")


@pytest.fixture(scope="module")
def fitted(points):
    """Models of each kind, each made when it is first asked for."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = make(**MODELS[name]).fit(points)
        return made[name]

    return get


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_and_places_points_as_before(fitted, further, tmp_path, name):
    model = fitted(name)
    before = model.transform(further)
    loaded = saved(model, tmp_path)
    assert loaded.transform(further).tobytes() == before.tobytes()
    assert loaded.place(further).tobytes() == before.tobytes()
    assert loaded.embedding_.tobytes() == model.embedding_.tobytes()
    assert loaded.trace_.tobytes() == model.trace_.tobytes()
    np.testing.assert_array_equal(loaded.isolated_, model.isolated_)
    if model.landmarks:
        np.testing.assert_array_equal(loaded.landmark_indices_, model.landmark_indices_)
    for fitted in ("n_iter_", "kl_divergence_", "n_features_in_"):
        assert getattr(loaded, fitted) == getattr(model, fitted)
    assert loaded.plan_ == model.plan_
    assert str(loaded.plan_) == str(replace(model.plan_, bytes_available=None))
    again = loaded.kernel_.similarity(further[:5], further[5:15])
    np.testing.assert_array_equal(again, model.kernel_.similarity(further[:5], further[5:15]))


@pytest.mark.parametrize(
    "name", ["isolation by its name", "lists, mesh", "draws", "landmarks, spread", "given start"]
)
def test_equal_fits_write_equal_bytes_whatever_memory_is_free(
    fitted, points, tmp_path, monkeypatch, name
):
    model = fitted(name)
    model.save(tmp_path / "first.isosne")
    monkeypatch.setenv("ISOSNE_MEMORY_LIMIT", "500MB")
    again = make(**MODELS[name]).fit(points)
    assert again.plan_.bytes_available == 500_000_000 < model.plan_.bytes_available
    assert again.plan_ == model.plan_
    again.save(tmp_path / "second.isosne")
    assert (tmp_path / "second.isosne").read_bytes() == (tmp_path / "first.isosne").read_bytes()
    saved(again, tmp_path).save(tmp_path / "third.isosne")
    assert (tmp_path / "third.isosne").read_bytes() == (tmp_path / "first.isosne").read_bytes()


def test_the_free_memory_that_earlier_versions_stored_is_left_out(path):
    before = path.read_bytes()
    rewrite(path, lambda header: header["plan"].update(bytes_available=10**9))
    loaded = TSNE.load(path)
    assert loaded.plan_.bytes_available is None
    loaded.save(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", CONTINUED)
def test_a_model_from_a_file_takes_more_steps(fitted, tmp_path, name):
    model = pickle.loads(pickle.dumps(fitted(name)))
    loaded = saved(model, tmp_path)
    for either in (model, loaded):
        either.continue_fit(5)
    assert loaded.n_iter_ == model.n_iter_
    # Forces made anew hold the points in another order: their sums differ in the last digits. A
    # mesh made anew has another spacing: its forces differ by as much as it is accurate to.
    share = model.plan_.accuracy or 1e-3
    np.testing.assert_allclose(
        loaded.embedding_, model.embedding_, atol=share * np.abs(model.embedding_).max()
    )
    np.testing.assert_array_equal(loaded.trace_[:-1], model.trace_[:-1])


@pytest.mark.parametrize("name", ["isolation", "landmarks", "forest", "gaussian", "draws"])
def test_sparse_points_come_back_as_sparse_points(points, further, tmp_path, name):
    sparse, rows = csr_array(np.maximum(points, 0)), csr_array(np.maximum(further, 0))
    model = make(**MODELS[name]).fit(sparse)
    loaded = saved(model, tmp_path)
    assert isinstance(loaded.kernel_.X_fit_, csr_array)
    assert loaded.transform(rows).tobytes() == model.transform(rows).tobytes()
    assert loaded.continue_fit(3).n_iter_ == model.n_iter_ + 3


def test_distances_come_back_as_distances(points, tmp_path):
    D = np.abs(points[:, :1] - points[:, 0])
    model = make(kernel=IsolationKernel(20, metric="precomputed")).fit(D)
    loaded = saved(model, tmp_path)
    assert loaded.transform(D[:9] + 0.5).tobytes() == model.transform(D[:9] + 0.5).tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int64])
def test_points_keep_their_type(points, tmp_path, dtype):
    X = np.abs(points * 10).astype(dtype)
    model = make(kernel=GaussianKernel(12), start="random").fit(X)
    loaded = saved(model, tmp_path)
    assert loaded.kernel_.X_fit_.dtype == dtype
    assert loaded.transform(X[:7] + X[7:14]).tobytes() == model.transform(X[:7] + X[7:14]).tobytes()


def test_parameters_come_back_as_they_were(points, tmp_path):
    model = make(
        kernel=IsolationKernel((5, 0.5), n_partitions=30),
        schedule=RULES,
        objective=NeRV(0.7, dof=2.5),
        memory_limit="1GB",
        start=START,
        callback=lambda state: None,
    ).fit(points)
    loaded = saved(model, tmp_path)
    before, after = model.get_params(deep=False), loaded.get_params(deep=False)
    assert after.pop("callback") is None
    assert repr(after.pop("kernel")) == repr(before.pop("kernel"))
    np.testing.assert_array_equal(after.pop("start"), before.pop("start"))
    del before["callback"]
    assert after == before
    assert loaded.fit(points).embedding_.tobytes() == model.embedding_.tobytes()


def test_names_of_columns_come_back(points, tmp_path):
    frame = pd.DataFrame(points, columns=list("abcde"))
    loaded = saved(make().fit(frame), tmp_path)
    assert loaded.feature_names_in_.tolist() == list("abcde")
    assert loaded.feature_names_in_.dtype == object
    assert loaded.transform(frame).shape == (N, 2)
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.transform(frame[list("bacde")])
    assert loaded.get_feature_names_out().tolist() == ["tsne0", "tsne1"]


def test_a_file_is_replaced_in_one_piece_and_nothing_is_left_beside_it(points, tmp_path):
    path = tmp_path / "model.isosne"
    path.write_text("something else")
    make().fit(points).save(path)
    assert TSNE.load(str(path)).n_iter_ == 20
    assert list(tmp_path.iterdir()) == [path]


def test_a_landmark_model_keeps_the_samples_of_the_pool_alone(points, tmp_path, monkeypatch):
    monkeypatch.setattr(isosne.tsne.input, "POOL", 2000)
    many = np.random.default_rng(3).normal(size=(2000, 5))
    kernel = IsolationKernel(4, n_partitions=10)  # 40 samples at most
    model = make(kernel=kernel, landmarks=60).fit(many)
    assert len(model.kernel_.pool_) == 2000
    loaded = saved(model, tmp_path)
    assert len(loaded.kernel_.pool_) <= 40
    np.testing.assert_array_equal(loaded.kernel_.cells(many), model.kernel_.cells(many))


def test_a_file_holds_json_and_plain_arrays_and_no_pickle(points, tmp_path):
    path = tmp_path / "model.isosne"
    for settings in (MODELS["landmarks"], MODELS["forest"], {"start": START, "schedule": RULES}):
        make(**settings).fit(pd.DataFrame(points, columns=list("abcde"))).save(path)
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            header = json.loads(archive.read("header.json"))
        assert (header["isosne"], header["form"]) == ("model", 1)
        assert all(name == "header.json" or name.endswith(".npy") for name in names)
        with np.load(path, allow_pickle=False) as arrays:
            for name in header["arrays"]:
                assert arrays[name].dtype.kind in "biufU"


# --- what is refused


@pytest.fixture
def path(points, tmp_path):
    path = tmp_path / "model.isosne"
    make().fit(points).save(path)
    return path


def rewrite(path, change):
    """Write the file again with another header, as another version would."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"])
    change(header)
    members["header.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def assert_refused(path, sentence):
    before = path.read_bytes()
    with refuses(DataError, sentence):
        TSNE.load(path)
    assert path.read_bytes() == before


def test_a_later_form_is_refused(path):
    rewrite(path, lambda header: header.update(form=2, version="7.0"))
    sentence = (
        f"{path} uses file format 2, written by isosne 7.0; this version reads formats up to 1. "
        "Update isosne to read it."
    )
    assert_refused(path, sentence)


def add_parameter(header):
    header["parameters"]["speed"] = 3


def add_kernel(header):
    header["kernel"]["kind"] = "BetterKernel"


def add_to_kernel(header):
    header["kernel"]["parts"]["tilt"] = 3


def drop_number(header):
    del header["numbers"]["n_iter_"]


@pytest.mark.parametrize(
    ("change", "new"),
    [
        (add_parameter, "'speed'"),
        (add_kernel, "'BetterKernel'"),
        (add_to_kernel, "IsolationKernel.__init__() got an unexpected keyword argument 'tilt'"),
        (drop_number, "'n_iter_'"),
    ],
)
def test_what_a_later_version_has_added_is_refused(path, change, new):
    rewrite(path, lambda header: (change(header), header.update(version="7.0")))
    sentence = (
        f"{path} holds a model that this version of isosne cannot read: it was written by isosne "
        f"7.0, and {new} is missing or unknown. Use that version."
    )
    assert_refused(path, sentence)


def test_what_a_later_version_keeps_besides_is_passed_over(path, points):
    before = TSNE.load(path).transform(points + 0.1)
    rewrite(path, lambda header: header.update(author="somebody", version="7.0"))
    assert TSNE.load(path).transform(points + 0.1).tobytes() == before.tobytes()


def test_a_checkpoint_is_no_model(points, tmp_path):
    path = tmp_path / "run.isosne"
    make().fit(points, checkpoint=path)
    sentence = (
        f"{path} must contain a model of isosne; it contains a checkpoint of isosne. "
        "Choose another file; this one was not modified."
    )
    assert_refused(path, sentence)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK\x03\x04" + bytes(60)])
def test_files_of_other_kinds_are_refused(content, tmp_path):
    path = tmp_path / "other"
    path.write_bytes(content)
    sentence = (
        f"Cannot read the model {path}: the file is damaged or not written by isosne "
        "(File is not a zip file). Choose another file; this one was not modified."
    )
    assert_refused(path, sentence)


def test_an_archive_of_arrays_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, X=np.ones(3))
    sentence = (
        f"Cannot read the model {path}: the file is damaged or not written by isosne "
        "(\"There is no item named 'header.json' in the archive\"). "
        "Choose another file; this one was not modified."
    )
    assert_refused(path, sentence)


def test_a_damaged_file_is_refused(path):
    content = path.read_bytes()
    words = (
        rf"Cannot read the model {re.escape(str(path))}: the file is damaged or not written by "
        r"isosne \(.+\)\. Choose another file; this one was not modified\."
    )
    with zipfile.ZipFile(path) as archive:
        begin = archive.getinfo("kernel.points.npy").header_offset + 300
    flipped = bytearray(content)
    flipped[begin] ^= 4
    for damaged in (bytes(flipped), content[:-1], content[: len(content) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=rf"\A{words}\Z"):
            TSNE.load(path)
        assert path.read_bytes() == damaged


def test_a_file_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "nowhere"
    sentence = f"Cannot read the model {path}: no such file. Check the name."
    with refuses(DataError, sentence):
        TSNE.load(path)
    sentence = (
        f"Cannot read the model {tmp_path}: is a directory. "
        "Choose another file, or check its permissions."
    )
    with refuses(DataError, sentence):
        TSNE.load(tmp_path)


def test_a_model_that_was_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        make().save(tmp_path / "model.isosne")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(points, tmp_path):
    path = tmp_path / "there" / "model.isosne"
    sentence = (
        f"Cannot write {path}: the folder {path.parent} does not exist. Create the folder first."
    )
    with refuses(OutputError, sentence):
        make().fit(points).save(path)


class OwnKernel(KNNKernel):
    """A kernel that no other version of isosne knows."""


class Cosine:
    """A kernel of a user."""

    def fit(self, X):
        self.X = X

    def similarity(self, A=None, B=None):
        left, right = (self.X if Z is None else Z for Z in (A, B))
        return 2 + left @ right.T / np.outer(*(np.linalg.norm(Z, axis=1) for Z in (left, right)))


class SquaredError:
    """An objective of a user."""

    def value(self, P, Q):
        return ((P - Q) ** 2).sum()

    def derivative(self, P, Q):
        return 2 * (Q - P)


@pytest.mark.parametrize(
    "settings",
    [{"kernel": OwnKernel(9)}, {"kernel": Cosine()}, {"objective": SquaredError()}],
    ids=["subclass", "kernel", "objective"],
)
def test_what_no_file_can_hold_is_refused(points, tmp_path, settings):
    model = make(**settings).fit(points)
    (value,) = settings.values()
    sentence = (
        f"Cannot write {value!r} to a file: parameters must be numbers, text, arrays or objects of "
        "isosne. Pass one of these."
    )
    with refuses(DataError, sentence):
        model.save(tmp_path / "model.isosne")
    with refuses(DataError, sentence):
        make(**settings).fit(points, checkpoint=tmp_path / "run.isosne")
    assert list(tmp_path.iterdir()) == []
