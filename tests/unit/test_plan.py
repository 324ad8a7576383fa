"""What a fit will do, and what it refuses."""

import re
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from isosne import TSNE, AdaptiveGaussianKernel, GaussianKernel, IsolationKernel, KNNKernel
from isosne.errors import ParameterError
from isosne.layout.objectives import JSE, KL, NeRV
from isosne.plan import DENSE_LIMIT, Plan, make_plan


@pytest.fixture
def memory(monkeypatch):
    """Pretend that so many bytes are available."""

    def set_available(n_bytes):
        monkeypatch.setattr(
            psutil, "virtual_memory", lambda: SimpleNamespace(available=float(n_bytes))
        )

    set_available(8e9)
    return set_available


def refuses(sentence):
    return pytest.raises(ParameterError, match="^" + re.escape(sentence) + "$")


def test_small_data_are_compared_in_all_pairs(memory):
    plan = make_plan(IsolationKernel(16), 1000, 2, KL(), "auto")
    assert plan.affinities == "dense"
    assert plan.n_neighbors is None
    assert plan.forces == "exact"
    # one byte for each of 1000^2 counts, and 200 for each point
    assert plan.bytes_needed == 1_200_000
    assert plan.bytes_available == 8_000_000_000
    assert plan.reasons == ("all pairs take 1.2 MB and n is at most 50,000",)


def test_many_points_are_compared_with_their_neighbors_whatever_the_memory(memory):
    memory(1e15)
    at, above = (
        make_plan(GaussianKernel(30), n, 2, KL(), "auto") for n in (DENSE_LIMIT, DENSE_LIMIT + 1)
    )
    assert at.affinities == "dense"
    assert above.affinities == "sparse"
    assert above.n_neighbors == 90
    assert above.bytes_needed == 50_001 * 90 * 40
    assert above.reasons == ("all pairs take too long above 50,000 points",)


def test_points_whose_pairs_fill_the_memory_are_compared_with_their_neighbors(memory):
    # 4 * 10^8 + 2 * 10^6 bytes for all pairs, of which 80 % of the memory may be used
    memory(402_000_000 / 0.8 + 1)
    assert make_plan(GaussianKernel(5), 10_000, 2, KL(), "auto").affinities == "dense"
    memory(402_000_000 / 0.8 - 10)
    sparse = make_plan(GaussianKernel(5), 10_000, 2, KL(), "auto")
    assert sparse.affinities == "sparse"
    assert sparse.reasons == ("all pairs would take 402 MB",)


def test_an_objective_over_all_pairs_keeps_them_all(memory):
    memory(1e15)
    plan = make_plan(GaussianKernel(5), 60_000, 2, NeRV(0.9), "auto")
    assert plan.affinities == "dense"
    assert plan.reasons == ("NeRV(trade_off=0.9) compares all pairs",)


@pytest.mark.parametrize(
    ("kernel", "pair_bytes", "n_neighbors"),
    [
        (IsolationKernel(100), 1, 100),  # ten times 1000 / 100
        (IsolationKernel(100, n_partitions=255), 1, 100),
        (IsolationKernel(100, n_partitions=256), 2, 100),
        (IsolationKernel(100, n_partitions="exact"), 4, 100),
        (IsolationKernel([50, 100]), 4, 200),
        (IsolationKernel(0.1), 1, 100),
        (IsolationKernel(2), 1, 999),  # no more neighbors than there are
        (GaussianKernel(30), 4, 90),
        (GaussianKernel([5, 40.5]), 4, 122),
        (AdaptiveGaussianKernel(7), 4, 21),
        (KNNKernel(7), 4, 21),
    ],
    ids=str,
)
def test_bytes_and_neighbors_are_those_of_the_kernel(memory, kernel, pair_bytes, n_neighbors):
    dense = make_plan(kernel, 1000, 3, KL(), "dense")
    assert dense.bytes_needed == 1_000_000 * pair_bytes + 200_000
    assert dense.reasons == ()
    sparse = make_plan(kernel, 1000, 3, KL(), "sparse")
    assert sparse.n_neighbors == n_neighbors
    assert sparse.bytes_needed == 1000 * n_neighbors * 40
    assert sparse.n_components == 3


def test_all_pairs_that_do_not_fit_are_refused(memory):
    memory(1e6)
    sentence = (
        "affinities='dense' of 1,000 points need 4.2 MB, and 1 MB are available. "
        "Choose affinities='sparse', or fit on fewer points."
    )
    with refuses(sentence):
        make_plan(GaussianKernel(5), 1000, 2, KL(), "dense")
    assert make_plan(GaussianKernel(5), 1000, 2, KL(), "sparse").n_neighbors == 15


def test_neighbors_that_do_not_fit_are_refused(memory):
    memory(1e6)
    sentence = (
        "affinities='sparse' of 1,000 points need 25 MB, and 1 MB are available. "
        "Fit on fewer points."
    )
    for affinities in ("sparse", "auto"):
        with refuses(sentence):
            make_plan(IsolationKernel(16), 1000, 2, KL(), affinities)


@pytest.mark.parametrize(
    ("objective", "name"), [(NeRV(0.9), "NeRV(trade_off=0.9)"), (JSE(0.5), "JSE(mixture=0.5)")]
)
def test_mixtures_are_not_made_of_neighbors_alone(memory, objective, name):
    sentence = (
        f"{name} compares all pairs and needs affinities='dense'; got 'sparse'. "
        "Choose objective='kl', or dense affinities."
    )
    with refuses(sentence):
        make_plan(GaussianKernel(5), 1000, 2, objective, "sparse")
    assert make_plan(GaussianKernel(5), 1000, 2, objective, "auto").affinities == "dense"


def test_mixtures_that_do_not_fit_are_not_sent_to_what_they_cannot_use(memory):
    memory(1e6)
    with pytest.raises(ParameterError, match=r"need 4\.2 MB, and 1 MB are available") as caught:
        make_plan(GaussianKernel(5), 1000, 2, NeRV(0.9), "auto")
    # affinities='sparse' alone would be refused in turn
    assert "Choose affinities='sparse'" not in str(caught.value)


@pytest.mark.parametrize("affinities", ["all", "", None, 3, True])
def test_other_affinities_are_refused(memory, affinities):
    sentence = (
        f"affinities must be one of auto, dense, sparse; got {affinities!r}. "
        "'auto' chooses by size and memory."
    )
    with refuses(sentence):
        make_plan(GaussianKernel(5), 1000, 2, KL(), affinities)


def test_a_plan_prints_as_a_table(memory):
    dense = make_plan(IsolationKernel(16), 1000, 2, KL(), "auto")
    assert str(dense).splitlines() == [
        "points      1,000 to 2 dimensions",
        "kernel      IsolationKernel(psi=16)",
        "affinities  dense",
        "forces      exact",
        "memory      1.2 MB of 8 GB available",
        "because     all pairs take 1.2 MB and n is at most 50,000",
    ]
    sparse = make_plan(GaussianKernel(5), 1000, 3, KL(), "sparse")
    assert str(sparse).splitlines() == [
        "points      1,000 to 3 dimensions",
        "kernel      GaussianKernel(perplexity=5)",
        "affinities  sparse, 15 neighbors a point",
        "forces      exact",
        "memory      600 kB of 8 GB available",
    ]


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
    plan = Plan(10, 2, "kernel", "dense", None, "exact", n_bytes, 10**9)
    assert f"memory      {text} of 1 GB available" in str(plan)


def test_the_estimator_plans_without_fitting(memory):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = TSNE(GaussianKernel(5), affinities="sparse", n_components=1, n_jobs=1)
    plan = model.plan(X)
    assert (plan.n_points, plan.n_components, plan.n_neighbors) == (60, 1, 15)
    assert vars(model) == model.get_params(deep=False)
    named = {name: TSNE(name).plan(X).kernel for name in ("isolation", "gaussian", "knn")}
    assert named["isolation"].startswith("IsolationKernel(")
    assert named["gaussian"].startswith("GaussianKernel(")
    assert named["knn"] == "KNNKernel()"
    fitted = model.fit(X)
    assert fitted.plan_ == plan
