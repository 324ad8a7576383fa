"""Memory: what is needed, what may be used, and what is said where it does not suffice."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from isosne import TSNE, GaussianKernel, IsolationKernel, KNNKernel, OwnerKernel
from isosne.errors import ParameterError
from isosne.tsne.memory import memory_available, size
from tests.unit.tsne.conftest import refuses
from tests.unit.tsne.test_plan import plan_for


def needed(kernel, n, affinities, **wishes):
    """Return the bytes that a plan needs."""
    return plan_for(kernel, n, affinities=affinities, **wishes).bytes_needed


def test_all_pairs_that_do_not_fit_are_refused_and_what_fits_is_named(memory):
    dense, sparse = (size(needed(GaussianKernel(5), 2000, form)) for form in ("dense", "sparse"))
    memory(4e7)
    sentence = (
        "affinities must fit in the 40 MB of memory that is available; dense affinities of 2,000 "
        f"points need {dense}; got affinities='dense'. Choose affinities='sparse' ({sparse}), or "
        "fit on fewer points."
    )
    with refuses(ParameterError, sentence):
        plan_for(GaussianKernel(5), 2000, affinities="dense")
    assert plan_for(GaussianKernel(5), 2000, affinities="sparse").n_neighbors == 15


def test_lists_that_do_not_fit_are_refused(memory):
    lists = size(needed(KNNKernel(7), 10_000, "sparse"))
    memory(1e7)
    sentence = (
        f"memory_limit must be at least {lists} for sparse affinities of 10,000 points; 10 MB is "
        "available. Fit on fewer points."
    )
    with refuses(ParameterError, sentence):
        plan_for(KNNKernel(7), 10_000)


def test_rows_of_a_file_that_do_not_fit_are_sent_to_landmarks(memory, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2000, 100)))
    model = TSNE(GaussianKernel(5), affinities="dense", n_jobs=1)
    memory(4e7)
    with pytest.raises(ParameterError, match=r", or map fewer of the rows with landmarks\.$"):
        model.plan(tmp_path / "x.npy")
    assert model.set_params(landmarks=500).plan(tmp_path / "x.npy").n_points == 500


def test_partners_are_drawn_where_lists_do_not_fit(memory):
    kernel = IsolationKernel(300, n_partitions=50)
    lists, draws = (needed(kernel, 12_000, form) for form in ("sparse", "sampled"))
    assert draws < 0.8 * lists
    assert plan_for(kernel, 12_000).affinities == "sparse"
    memory(lists)  # automatic choices leave a fifth of it free
    assert plan_for(kernel, 12_000).affinities == "sampled"


@pytest.mark.parametrize(
    ("limit", "n_bytes"),
    [
        (np.int64(10**9), 10**9),
        (1.5e9, 1_500_000_000),
        ("1.5 gb", 1_500_000_000),
        ("20000k", 20_000_000),
        (" 50000000 ", 50_000_000),
        ("1e9", 10**9),
        (None, 8_000_000_000),
        ("9TB", 8_000_000_000),  # no more than there are
    ],
)
def test_a_limit_is_a_number_of_bytes_or_a_size(memory, monkeypatch, limit, n_bytes):
    assert memory_available(limit).value == n_bytes
    assert plan_for(KNNKernel(5), 4, memory_limit=limit).bytes_available == n_bytes
    if limit is not None:
        monkeypatch.setenv("ISOSNE_MEMORY_LIMIT", str(limit))
        assert memory_available().value == n_bytes
        assert memory_available("1kB").value == 1000  # what is passed goes first


@pytest.mark.parametrize(
    "limit",
    ["lots", "", "2 PB", "nan", "0", "1,5GB", 0, -1, True, float("inf"), [5]],
)
def test_other_limits_are_refused_wherever_they_come_from(memory, monkeypatch, limit):
    sentence = (
        f"{{0}} must be a number of bytes or a size such as '1.5GB'; got {{0}}={limit!r}. "
        "Leave it out to use the memory that is free."
    )
    with refuses(ParameterError, sentence.format("memory_limit")):
        plan_for(KNNKernel(5), 100, memory_limit=limit)
    if limit and isinstance(limit, str):
        monkeypatch.setenv("ISOSNE_MEMORY_LIMIT", limit)
        with refuses(ParameterError, sentence.format("ISOSNE_MEMORY_LIMIT")):
            plan_for(KNNKernel(5), 100)


class NeverFitted(GaussianKernel):
    """A kernel that says so if any work begins."""

    def _fit_points(self, points):
        raise AssertionError("work has begun")


def test_what_does_not_fit_is_refused_before_any_work(memory):
    X = np.random.default_rng(0).normal(size=(500, 3))
    model = TSNE(NeverFitted(5), memory_limit="1MB", n_jobs=1)
    with pytest.raises(ParameterError, match=r"^memory_limit must be at least .*; 1 MB is "):
        model.fit(X)
    assert vars(model) == model.get_params(deep=False)
    with pytest.raises(AssertionError, match="work has begun"):
        model.set_params(memory_limit="1GB").fit(X)


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (999, "999 B"),
        (1500, "1.5 kB"),
        (999_600, "1 MB"),  # three digits of it are 1000 kB
        (2 * 10**12, "2 TB"),
    ],
)
def test_bytes_are_printed_for_a_person_to_read(n_bytes, text):
    assert size(n_bytes) == text


def test_columns_of_sparse_rows_are_planned_even_if_they_are_empty():
    wide = csr_array((np.ones(60), (np.arange(60) % 20, np.arange(60))), shape=(20, 10**8))
    model = TSNE(start="random", memory_limit="50MB")
    with pytest.raises(ParameterError, match=r"be at least 80\d MB .*; 50 MB is available\."):
        model.fit(wide)


def test_the_plan_of_a_mixed_table_includes_its_coordinates():
    rng = np.random.default_rng(0)
    columns = {f"c{i}": rng.choice([f"v{v}" for v in range(30)], 300) for i in range(40)}
    of_table = TSNE().plan(pd.DataFrame(columns)).bytes_needed
    of_codes = TSNE(OwnerKernel(metric="hamming")).plan(rng.integers(0, 9, (300, 400))).bytes_needed
    assert of_table - of_codes > 2 * 8 * 300 * 40 * 20  # twice: indicators of 20 categories each
