"""Memory: what is needed, what may be used, and what is said where it does not suffice."""

import re

import numpy as np
import pytest

from isosne import TSNE, GaussianKernel, IsolationKernel, KNNKernel, NeRV
from isosne.errors import ParameterError
from isosne.tsne.memory_budget import memory_available, size
from tests.unit.tsne.conftest import refuses
from tests.unit.tsne.test_plan import plan_for


def test_what_is_drawn_are_samples_their_points_and_cells():
    drawn = IsolationKernel([100, 2], n_partitions=50).costs(1000, 4).drawn_bytes
    assert drawn == 34 * 50 * 102 + 8 * 4 * (1000 + 100) + 1000 * 50 * 2 * 5
    assert IsolationKernel(100, n_partitions="exact").costs(1000, 4).drawn_bytes == 0
    assert GaussianKernel(5).costs(1000, 4).drawn_bytes == 0


def test_all_pairs_that_do_not_fit_are_refused_and_what_fits_is_named(memory):
    memory(1e6)
    # 4 n^2 + 264 n bytes are 10^6 at n = 468
    sentence = (
        "affinities must fit in the 1 MB of memory that are available; dense affinities of 1,000 "
        "points need 4.26 MB; got affinities='dense'. Choose affinities='sparse' (580 kB), or fit "
        "on at most 468 points."
    )
    with refuses(ParameterError, sentence):
        plan_for(GaussianKernel(5), 1000, affinities="dense")
    assert plan_for(GaussianKernel(5), 1000, affinities="sparse").n_neighbors == 15


def test_two_other_forms_are_named_if_both_fit(memory):
    memory(3.5e6)
    kernel = IsolationKernel([100, 200], n_partitions=20)
    sentence = (
        "affinities must fit in the 3.5 MB of memory that are available; dense affinities of 1,000 "
        "points need 4.73 MB; got affinities='dense'. Choose affinities='sparse' (1.7 MB) or "
        "affinities='sampled' (2.23 MB), or fit on at most 848 points."
    )
    with refuses(ParameterError, sentence):
        plan_for(kernel, 1000, affinities="dense")


def test_lists_that_do_not_fit_are_refused(memory):
    memory(1e6)
    sentence = (
        "affinities must fit in the 1 MB of memory that are available; sparse affinities of 10,000 "
        "points need 7.72 MB; got affinities='sparse'. Fit on at most 1,295 points."
    )
    for affinities in ("sparse", None):
        with refuses(ParameterError, sentence):
            plan_for(KNNKernel(7), 10_000, affinities=affinities)


def test_memory_for_not_even_two_points_is_named(memory):
    memory(100)
    sentence = (
        "affinities must fit in the 100 B of memory that are available; sparse affinities of 100 "
        "points need 77.2 kB; got affinities='sparse'. Raise memory_limit to 78 kB or more."
    )
    with refuses(ParameterError, sentence):
        plan_for(KNNKernel(7), 100, affinities="sparse")


def test_rows_of_a_file_that_do_not_fit_are_sent_to_landmarks(memory, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2000, 100)))
    memory(5e6)
    # 2000 rows of 800 bytes are read; the points and their products take 1600 more
    sentence = (
        "affinities must fit in the 5 MB of memory that are available; dense affinities of 2,000 "
        "points need 21.2 MB; got affinities='dense'. Choose affinities='sparse' (3.56 MB), or map "
        "at most {n} of the rows with landmarks={n}."
    )
    model = TSNE(GaussianKernel(5), affinities="dense")
    with pytest.raises(ParameterError) as caught:
        model.plan(tmp_path / "x.npy")
    n = int(re.search(r"landmarks=(\d+)", str(caught.value))[1])
    assert str(caught.value) == sentence.format(n=n)
    assert model.set_params(landmarks=n).plan(tmp_path / "x.npy").n_points == n


@pytest.mark.parametrize(
    ("kernel", "affinities"),
    [
        (GaussianKernel(5), "dense"),
        (KNNKernel(7), "sparse"),
        (IsolationKernel(0.1), "sparse"),
        (IsolationKernel(0.1), "sampled"),
    ],
    ids=str,
)
def test_as_many_points_as_a_refusal_names_do_fit(memory, kernel, affinities):
    memory(1e5)
    with pytest.raises(ParameterError) as caught:
        plan_for(kernel, 10_000, affinities=affinities)
    named = re.search(r"it on at most ([\d,]+) points\.$", str(caught.value))
    n = int(named[1].replace(",", ""))
    assert plan_for(kernel, n, affinities=affinities).n_points == n


def test_partners_are_drawn_where_lists_do_not_fit(memory):
    memory(5e6)
    # lists: 32 bytes for each of some 250 partners; cells: 50 * 5 + 8 * 4 + 2000
    plan = plan_for(IsolationKernel(40, n_partitions=50), 2000)
    assert plan.affinities == "sampled"
    assert plan.bytes_needed == 2000 * 2282


def test_objectives_over_all_pairs_are_not_sent_to_what_they_cannot_use(memory):
    memory(1e6)
    sentence = (
        "affinities must fit in the 1 MB of memory that are available; dense affinities of 1,000 "
        "points need 4.26 MB; got affinities='dense'. Fit on at most 468 points."
    )
    with refuses(ParameterError, sentence):
        plan_for(GaussianKernel(5), 1000, objective=NeRV(0.9))


@pytest.mark.parametrize(
    ("limit", "n_bytes"),
    [
        (2_000_000_000, 2_000_000_000),
        (np.int64(10**9), 10**9),
        (1.5e9, 1_500_000_000),
        ("2GB", 2_000_000_000),
        ("1.5 gb", 1_500_000_000),
        ("500 MB", 500_000_000),
        ("20k", 20_000),
        (" 3000 ", 3000),
        ("1e9", 10**9),
        (None, 8_000_000_000),
        ("9TB", 8_000_000_000),  # no more than there are
        (1e16, 8_000_000_000),
    ],
)
def test_a_limit_is_a_number_of_bytes_or_a_size(memory, monkeypatch, limit, n_bytes):
    assert memory_available(limit) == n_bytes
    assert plan_for(KNNKernel(5), 4, memory_limit=limit).bytes_available == n_bytes
    if limit is not None:
        monkeypatch.setenv("ISOSNE_MEMORY_LIMIT", str(limit))
        assert memory_available() == n_bytes
        assert memory_available("1kB") == 1000  # what is passed goes first


def test_an_empty_variable_is_no_limit(memory, monkeypatch):
    monkeypatch.setenv("ISOSNE_MEMORY_LIMIT", "")
    assert memory_available() == 8_000_000_000


@pytest.mark.parametrize(
    "limit",
    [
        *("lots", "", "GB", "-1", "2 PB", "1.5.2GB", "nan", "0", "1,5GB"),
        *(0, -1, True, False, float("nan"), float("inf"), [5], -0.5),
    ],
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


@pytest.mark.parametrize("given", ["keyword", "variable"])
def test_what_does_not_fit_is_refused_before_any_work(memory, monkeypatch, given):
    X = np.random.default_rng(0).normal(size=(500, 3))
    if given == "variable":
        monkeypatch.setenv("ISOSNE_MEMORY_LIMIT", "100kB")
    limit = "100kB" if given == "keyword" else None
    model = TSNE(NeverFitted(5), memory_limit=limit)
    sentence = (
        "affinities must fit in the 100 kB of memory that are available; sparse affinities of 500 "
        "points need 290 kB; got affinities='sparse'. Fit on at most 172 points."
    )
    with refuses(ParameterError, sentence):
        model.fit(X)
    assert vars(model) == model.get_params(deep=False)
    with pytest.raises(AssertionError, match="work has begun"):
        model.set_params(memory_limit="1GB").fit(X)


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (1500, "1.5 kB"),
        (999_600, "1 MB"),  # three digits of it are 1000 kB
        (123_456_789, "123 MB"),
        (5 * 10**9, "5 GB"),
        (2 * 10**12, "2 TB"),
    ],
)
def test_bytes_are_printed_for_a_person_to_read(n_bytes, text):
    assert size(n_bytes) == text
