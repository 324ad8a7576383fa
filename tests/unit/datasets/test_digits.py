"""Deformed digits."""

import resource

import numpy as np
import pytest
from scipy.ndimage import map_coordinates
from sklearn.neighbors import KNeighborsClassifier

from isosne.datasets import deformed_digits, write_deformed_digits
from isosne.datasets.digits import (
    BLOCK,
    N_ROWS_HINT,
    _Deformation,
    _draw,
    _find_source,
    deform,
)
from isosne.errors import DataError, OutputError, ParameterError
from tests.conftest import refuses


def few_digits():
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (30, 784), dtype=np.uint8), np.arange(30) % 10


@pytest.fixture
def few():
    """Thirty images of noise with a label each."""
    return few_digits()


@pytest.fixture
def no_folder(monkeypatch, tmp_path):
    """Run where no data folder is named and the cache folder does not exist."""
    monkeypatch.delenv("ISOSNE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def store(folder, name, X, y):
    np.savez(folder / f"{name}.npz", X=X, y=y, classes=np.unique(y).astype(str))


def test_digits_are_images_of_bytes_with_their_labels(few):
    X, y = deformed_digits(100, source=few, random_state=0)
    assert X.shape == (100, 784)
    assert X.dtype == np.uint8
    assert y.shape == (100,)
    assert y.dtype == np.int64
    assert set(y) == set(range(10))


@pytest.fixture(scope="module")
def long_run():
    """Rows of one block and the beginning of another."""
    return deformed_digits(BLOCK + 2, source=few_digits(), random_state=7)


@pytest.mark.parametrize("n_rows", [1, BLOCK - 1, BLOCK, BLOCK + 1])
def test_the_first_rows_of_a_longer_run_are_those_of_a_shorter_one(few, long_run, n_rows):
    X, y = long_run
    shorter, labels = deformed_digits(n_rows, source=few, random_state=7)
    assert np.array_equal(shorter, X[:n_rows])
    assert np.array_equal(labels, y[:n_rows])


def test_the_first_rows_of_a_longer_run_are_those_of_a_smaller_file(few, long_run, tmp_path):
    smaller, labels = write_deformed_digits(tmp_path / "b.npy", 500, source=few, random_state=7)
    assert np.array_equal(long_run[0][:500], np.load(smaller))
    assert np.array_equal(long_run[1][:500], np.load(labels))


def test_a_file_holds_what_is_made_in_memory(few, long_run, tmp_path):
    paths = write_deformed_digits(tmp_path / "digits.npy", BLOCK + 2, source=few, random_state=7)
    assert paths == (tmp_path / "digits.npy", tmp_path / "digits.labels.npy")
    assert sorted(tmp_path.iterdir()) == sorted(paths)
    images, labels = np.load(paths[0], mmap_mode="r"), np.load(paths[1])
    assert images.dtype == labels.dtype == np.uint8
    assert np.array_equal(images, long_run[0])
    assert np.array_equal(labels, long_run[1])


def test_bytes_do_not_depend_on_the_number_of_threads(few, threads):
    def run():
        return deformed_digits(1000, source=few, random_state=0)[0].tobytes()

    assert threads(1, run) == threads(2, run)


def test_a_seed_decides_every_pixel_and_label(few):
    X, y = deformed_digits(200, source=few, random_state=0)
    again, labels = deformed_digits(200, source=few, random_state=np.random.default_rng(0))
    assert np.array_equal(X, again)
    assert np.array_equal(y, labels)
    assert not np.array_equal(X, deformed_digits(200, source=few, random_state=1)[0])


def test_files_of_the_same_name_are_replaced(few, tmp_path):
    path = str(tmp_path / "digits.npy")
    write_deformed_digits(path, 50, source=few, random_state=3)
    write_deformed_digits(path, 20, source=few, random_state=3)
    assert np.load(path).shape == (20, 784)
    assert np.load(tmp_path / "digits.labels.npy").shape == (20,)


@pytest.mark.parametrize("n_rows", [30, 100])
def test_every_source_digit_appears_equally_often(n_rows):
    images = np.zeros((30, 784), np.uint8)
    _, y = deformed_digits(n_rows, source=(images, np.arange(30)), random_state=0)
    counts = np.bincount(y, minlength=30)
    assert counts.min() == n_rows // 30
    assert counts.max() == -(-n_rows // 30)


def test_no_two_rows_are_alike():
    one = np.zeros((1, 28, 28), np.uint8)
    one[0, 6:22, 12:16] = 255
    X, _ = deformed_digits(2000, source=(one.reshape(1, 784), np.array([1])), random_state=0)
    assert len({row.tobytes() for row in X}) == 2000


def test_pixels_are_those_of_bilinear_sampling(few):
    rng = np.random.default_rng(5)
    fields = rng.normal(0, 2, (1024, 28, 28, 2)).astype(np.float32)
    drawn = _draw(rng, np.arange(10))
    padded = np.pad(few[0].reshape(-1, 28, 28), ((0, 0), (1, 1), (1, 1)))
    out = np.empty((10, 784), np.uint8)
    deform(padded, fields, drawn, out)
    y, x = np.mgrid[:28, :28] - 13.5
    for i in range(10):
        a, b = fields[drawn.fields[i]]
        bend = drawn.bends[i, 0] * a + drawn.bends[i, 1] * b
        m = drawn.affine[i]
        down = bend[..., 0] + m[0] * y + m[1] * x + m[4] + y + 14.5
        right = bend[..., 1] + m[2] * y + m[3] * x + m[5] + x + 14.5
        expected = map_coordinates(
            padded[i].astype(float), [down, right], order=1, mode="grid-constant"
        )
        # Rounding of the coordinates in float32 moves an edge of 255 by less than a gray level.
        np.testing.assert_allclose(out[i].reshape(28, 28), expected, atol=0.6)


def test_no_deformation_gives_the_digit_itself(few):
    padded = np.pad(few[0].reshape(-1, 28, 28), ((0, 0), (1, 1), (1, 1)))
    still = _Deformation(
        np.arange(30),
        np.zeros((30, 2), np.int64),
        np.zeros((30, 2), np.float32),
        np.zeros((30, 6), np.float32),
    )
    out = np.empty((30, 784), np.uint8)
    deform(padded, np.ones((1, 28, 28, 2), np.float32), still, out)
    assert np.array_equal(out, few[0])


@pytest.fixture(scope="module")
def enlarged():
    """The digits of scikit-learn, 28 x 28."""
    return _find_source("sklearn", None)


def test_deformed_digits_are_varied_and_still_legible(enlarged):
    X, y = enlarged
    known, digits = deformed_digits(3600, source=(X[:900], y[:900]), random_state=0)
    new, shown = deformed_digits(897, source=(X[900:], y[900:]), random_state=1)
    # Plain digits are read at 0.953 from 900 plain ones, deformed ones at 0.91 for three seeds.
    assert KNeighborsClassifier(5).fit(known, digits).score(new, shown) > 0.88
    # Rows 900 apart show the same digit: 22 gray levels of difference; unrelated ones have 36.
    gray = known.astype(float)
    assert 15 < np.abs(gray[:900] - gray[900:1800]).mean() < 28


def assert_same_digits(found, expected):
    assert np.array_equal(found[0], expected[0])
    assert np.array_equal(found[1], expected[1])


def test_the_source_is_the_largest_mnist_at_hand(few, tmp_path, no_folder):
    images, labels = few
    store(tmp_path, "mnist10k", images, labels)
    made = deformed_digits(40, folder=tmp_path, random_state=0)
    assert np.array_equal(made[0], deformed_digits(40, source=few, random_state=0)[0])
    store(tmp_path, "mnist70k", images[::-1], labels[::-1])
    assert_same_digits(_find_source(None, tmp_path), (images[::-1], labels[::-1]))
    assert_same_digits(_find_source("mnist10k", tmp_path), few)


def test_without_mnist_the_source_is_scikit_learn(enlarged, no_folder):
    assert enlarged[0].shape == (1797, 784)
    assert_same_digits(_find_source(None, None), enlarged)


def test_a_full_disk_leaves_nothing_behind(few, tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
    try:
        with pytest.raises(OutputError, match="no space left on the disk"):
            write_deformed_digits(tmp_path / "digits.npy", 5000, source=few, random_state=0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_the_files_of_before(few, tmp_path):
    class Interrupted(np.random.Generator):
        def integers(self, *_, **__):
            assert len(list(tmp_path.glob(".*.part"))) == 2
            raise KeyboardInterrupt

    before = write_deformed_digits(tmp_path / "digits.npy", 9, source=few, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        write_deformed_digits(before[0], 5, source=few, random_state=Interrupted(np.random.PCG64()))
    assert sorted(tmp_path.iterdir()) == sorted(before)
    assert np.load(before[0]).shape == (9, 784)


@pytest.mark.parametrize("bad", [0, -1, 2.5, "many", True, None])
def test_the_number_of_rows_is_checked(bad, few, tmp_path):
    text = f"n_rows must be an integer from 1 up; got n_rows={bad!r}. {N_ROWS_HINT}"
    with refuses(ParameterError, text):
        deformed_digits(bad, source=few)
    with refuses(ParameterError, text):
        write_deformed_digits(tmp_path / "digits.npy", bad, source=few)
    assert list(tmp_path.iterdir()) == []


def test_the_path_is_checked(few, tmp_path):
    path = str(tmp_path / "digits.bin")
    text = f"path must end in .npy; got path={path!r}. Name the file digits.npy, for example."
    with refuses(ParameterError, text):
        write_deformed_digits(path, 3, source=few)
    path = str(tmp_path / "none" / "digits.npy")
    text = (
        f"path must be in a folder that exists; got path={path!r}. "
        f"Create the folder {str(tmp_path / 'none')!r} first."
    )
    with refuses(ParameterError, text):
        write_deformed_digits(path, 3, source=few)


@pytest.mark.parametrize(
    ("bad", "came"), [("usps", "source='usps'"), (5, "int"), ([], "list"), ((1, 2, 3), "tuple")]
)
def test_the_source_is_checked(bad, came):
    text = (
        "source must be one of mnist70k, mnist10k, sklearn, a tuple (images, labels) or None; "
        f"got {came}. None uses the first of the names that is available."
    )
    with refuses(ParameterError, text):
        deformed_digits(3, source=bad)


def test_a_named_source_must_be_in_the_folder(tmp_path):
    text = (
        f"source='mnist70k' must be in the data folder; {tmp_path} has no file mnist70k.npz. "
        "Set ISOSNE_DATA to a folder that has it, or pass source='sklearn'."
    )
    with refuses(DataError, text):
        deformed_digits(3, source="mnist70k", folder=tmp_path)


@pytest.mark.parametrize(
    ("images", "came"),
    [
        (np.zeros((5, 784)), "float64 of shape (5, 784)"),
        (np.zeros((5, 64), np.uint8), "uint8 of shape (5, 64)"),
        (np.zeros((0, 784), np.uint8), "uint8 of shape (0, 784)"),
        (np.uint8(3), "uint8 of shape ()"),
    ],
)
def test_images_of_a_source_are_checked(images, came):
    text = (
        f"The images of source must be uint8 of shape (n, 784); got {came}. "
        "Convert them to 28 x 28 pixels of uint8."
    )
    with refuses(DataError, text):
        deformed_digits(3, source=(images, np.zeros(5, int)))


@pytest.mark.parametrize(
    ("labels", "came"),
    [
        (np.zeros(4, np.int64), "int64 of shape (4,)"),
        (np.zeros(5), "float64 of shape (5,)"),
        (np.full(5, 256), "int64 of shape (5,)"),
        (np.full(5, -1), "int64 of shape (5,)"),
        (np.array(list("01234")), "<U1 of shape (5,)"),
    ],
)
def test_labels_of_a_source_are_checked(labels, came):
    text = (
        "The labels of source must be integers from 0 to 255, one per image; "
        f"got {came} for 5 image(s). Pass the class of each image."
    )
    with refuses(DataError, text):
        deformed_digits(3, source=(np.zeros((5, 784), np.uint8), labels))
