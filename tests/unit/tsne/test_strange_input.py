"""Arguments that the fuzz suite found: one sentence, or the right result."""

import io
import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from isosne import TSNE, GaussianKernel, IsolationKernel, Phase, Schedule, nearest_neighbors
from isosne.errors import DataError, ParameterError
from isosne.layout.schedules import ChangeBelow, RateFalls
from isosne.rows import open_rows
from tests.conftest import make, refuses

X = np.random.default_rng(0).normal(size=(20, 3))
TABLE = np.arange(300).reshape(100, 3)


@pytest.mark.parametrize("value", [TABLE, "x" * 5000, 10**5000], ids=["table", "text", "digits"])
def test_a_value_in_a_message_is_short_and_on_one_line(value):
    message = str(ParameterError("psi", "be a number", value, "Pass one."))
    assert message.startswith("psi must be a number; got psi=")
    assert "\n" not in message
    assert len(message) < 300


@pytest.mark.parametrize(
    ("parameter", "call"),
    [
        ("metric", lambda: IsolationKernel(metric=TABLE).fit(X)),
        ("p", lambda: GaussianKernel(5, p="x").fit(X)),
        ("partition", lambda: IsolationKernel(partition=TABLE).fit(X)),
        ("n_partitions", lambda: IsolationKernel(n_partitions=TABLE).fit(X)),
        ("method", lambda: nearest_neighbors(X, 3, method=TABLE)),
        ("missing", lambda: open_rows(X, missing=TABLE)),
        ("text_columns", lambda: open_rows(X, text_columns=TABLE)),
        ("callback", lambda: make(callback=3).fit(X)),
        ("verbose", lambda: make(verbose="x").fit(X)),
    ],
)
def test_a_parameter_of_another_type_is_refused_by_name(parameter, call):
    with pytest.raises(ParameterError, match=rf"\A{parameter} must be ") as caught:
        call()
    assert "\n" not in str(caught.value)


def test_masked_complex_numbers_are_refused():
    with pytest.raises(DataError, match=r"\AComplex data not supported: X must be real"):
        make().fit(np.ma.masked_less(X, 0) + 1j)


@pytest.mark.parametrize(
    ("parameter", "call"),
    [
        ("n_iter", lambda: Phase(-1)),
        ("exaggeration", lambda: Phase(3, exaggeration=0)),
        ("momentum", lambda: Phase(3, momentum=2)),
        ("step", lambda: Phase(3, step="x")),
        ("shortest", lambda: Phase(3, shortest=float("nan"))),
        ("divisor", lambda: Phase(3, divisor=0)),
        ("stop", lambda: Phase(3, stop=3)),
        ("every", lambda: RateFalls(every=0)),
        ("share", lambda: ChangeBelow(share=None)),
        ("phases", lambda: Schedule(())),
        ("phases", lambda: Schedule((3,))),
        ("gains", lambda: Schedule((Phase(3),), gains=1)),
    ],
)
def test_a_schedule_is_checked_when_it_is_made(parameter, call):
    with pytest.raises(ParameterError, match=rf"\A{parameter} must be "):
        call()


@pytest.mark.parametrize("start", [1e30 * X[:, :2], X[:, :2] + 1j], ids=["huge", "complex"])
def test_a_start_must_be_real_and_of_the_size_of_a_map(start):
    with pytest.raises(DataError, match=r"\AA start must have shape \(20, 2\), and real numbers"):
        make(start=start).fit(X)


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i4", "longdouble", "float16"])
def test_numbers_of_any_type_give_the_map_of_their_values(dtype):
    points = (4 * X).astype(dtype)
    plain = points.astype(np.int32 if points.dtype.kind == "i" else np.float64)
    if points.dtype.itemsize <= 4 and points.dtype.kind == "f":
        plain = plain.astype(np.float32)
    np.testing.assert_array_equal(make().fit_transform(points), make().fit_transform(plain))


def write_sparse(path, **changes):
    save_npz(path, csr_array(np.maximum(X, 0)), compressed=False)
    with np.load(path) as stored:
        np.savez(path, **(dict(stored) | changes))
    return path


def test_a_sparse_file_of_half_precision_is_read(tmp_path):
    values = csr_array(np.maximum(X, 0)).data.astype(np.float16)
    rows = open_rows(write_sparse(tmp_path / "x.npz", data=values))
    assert rows.take([3, 1, 3]).dtype == np.float32


def test_dropping_rows_takes_no_memory_by_column(tmp_path):
    path = write_sparse(tmp_path / "x.npz", shape=np.array([20, 2**55]))
    assert open_rows(path, missing="drop").shape == (20, 2**55)


def test_a_header_of_python_2_is_read_without_a_warning(tmp_path):
    content = io.BytesIO()
    np.save(content, X)
    path = tmp_path / "x.npy"
    path.write_bytes(content.getvalue().replace(b"(20, 3)", b"(20L,3)"))
    np.testing.assert_array_equal(open_rows(path).read(slice(None)), X)


def test_the_reason_in_a_message_about_a_damaged_model_is_short(tmp_path):
    path = tmp_path / "model.isosne"
    make().fit(X).save(path)
    with zipfile.ZipFile(path) as archive:
        header = archive.read("header.json")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", header)
    content = path.read_bytes()
    path.write_bytes(content[:26] + (2000).to_bytes(2, "little") + content[28:])  # longer name
    with pytest.raises(DataError, match=r"\ACannot read the model [^\n]+\Z") as caught:
        TSNE.load(path)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("size", [1e30, -1e30])
def test_a_model_with_coordinates_beyond_any_map_is_refused(size, tmp_path):
    path = tmp_path / "model.isosne"
    model = make().fit(X)
    model.embedding_[3, 1] = size
    model.save(path)
    with pytest.raises(DataError, match=r"embedding_ has values beyond -?1e\+16"):
        TSNE.load(path)


def test_a_file_with_text_is_refused_with_what_can_be_passed_to_fit(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,kind\n1,x\n2,y\n3,x\n")
    sentence = (
        f"Every column must be numeric; {path} has columns of other types: 'kind' (text). Pass "
        "isosne.rows.open_rows(X, exclude=['kind']) instead of X to exclude them, or "
        "isosne.rows.open_rows(X, text_columns='leave_out') instead of X to skip all columns that "
        "are not numeric. To use them, pass a data frame to TSNE, or --mixed on the command line."
    )
    with refuses(DataError, sentence):
        TSNE().fit(path)


def test_a_column_without_values_is_to_be_left_out(tmp_path):
    np.save(tmp_path / "X.npy", np.column_stack([np.arange(20.0), np.full(20, np.nan)]))
    with pytest.raises(DataError, match="The column has no values: leave it out"):
        TSNE().fit(tmp_path / "X.npy")
