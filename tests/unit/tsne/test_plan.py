"""What a fit will do, and what it refuses."""

import math
import re
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from isosne import TSNE, AdaptiveGaussianKernel, GaussianKernel, IsolationKernel, KNNKernel
from isosne.errors import ParameterError
from isosne.kernels.isolation import COMPARED, RANKED
from isosne.layout.objectives import JSE, KL, NeRV
from isosne.tsne.plan import (
    DENSE_LIMIT,
    EXACT_REPULSION_LIMIT,
    EXACT_SEARCH_LIMIT,
    Plan,
    Wishes,
    make_plan,
    memory_available,
)


@pytest.fixture
def memory(monkeypatch):
    """Pretend that so many bytes are available."""

    def set_available(n_bytes):
        monkeypatch.setattr(
            psutil, "virtual_memory", lambda: SimpleNamespace(available=float(n_bytes))
        )

    monkeypatch.delenv("ISOSNE_MEMORY_LIMIT", raising=False)
    set_available(8e9)
    return set_available


def refuses(sentence):
    return pytest.raises(ParameterError, match="^" + re.escape(sentence) + "$")


def plan_for(kernel, n, n_components=2, objective=None, n_features=4, **wishes):
    """Plan for n points in four dimensions; nothing but the shape is needed."""
    wishes = Wishes(**wishes)
    return make_plan(kernel, (n, n_features), n_components, objective or KL(), wishes)


# --- what "auto" chooses


def test_small_data_are_compared_in_all_pairs(memory):
    plan = plan_for(IsolationKernel(16), 1000)
    assert plan.affinities == "dense"
    assert plan.n_neighbors is None
    assert plan.neighbors is None
    assert plan.forces == "exact"
    # one byte for each of 1000^2 counts; for a point 200, 16 an attribute, and what is drawn
    assert plan.bytes_needed == 1_264_000 + IsolationKernel(16).drawn_bytes(1000, 4)
    assert plan.bytes_available == 8_000_000_000
    assert plan.reasons == ("all pairs take 2.4 MB and n is at most 10,000",)


def test_many_points_are_compared_with_their_neighbors_whatever_the_memory(memory):
    memory(1e15)
    assert DENSE_LIMIT == 10_000
    at, above = (plan_for(GaussianKernel(30), n) for n in (10_000, 10_001))
    assert at.affinities == "dense"
    assert above.affinities == "sparse"
    assert above.n_neighbors == 90
    assert above.neighbors == "exact"
    assert above.forces == "mesh"
    # 32 bytes for each of 90 partners, which are more than 12 for each neighbor
    assert above.bytes_needed == 10_001 * (32 * 90 + 100)
    assert above.reasons == ("all pairs take too long above 10,000 points",)


def test_very_many_points_are_searched_approximately_if_their_metric_allows_it(memory):
    assert EXACT_SEARCH_LIMIT == 20_000
    at, above = (plan_for(GaussianKernel(30), n) for n in (20_000, 20_001))
    assert (at.neighbors, above.neighbors) == ("exact", "approximate")
    assert plan_for(GaussianKernel(30, metric="cosine"), 20_001).neighbors == "approximate"
    assert plan_for(GaussianKernel(30, metric="manhattan"), 20_001).neighbors == "exact"


def test_the_default_kernel_of_many_points_has_a_closed_form_and_short_lists(memory):
    at, above = (plan_for(IsolationKernel(), n) for n in (10_001, 20_001))
    # the mean cells of the broadest scales: a twentieth of the points, then a tenth
    at_cell, above_cell = 10_001 / 500, 20_001 / 2000
    assert (at.affinities, at.neighbors) == ("sparse", "exact")
    assert at.n_neighbors == math.ceil(RANKED * at_cell)
    assert (above.affinities, above.neighbors) == ("sparse", "approximate")
    assert above.n_neighbors == math.ceil(RANKED * above_cell)


def test_partners_are_drawn_where_too_many_are_similar_to_list_them(memory):
    plan = plan_for(IsolationKernel(50), 10_001)
    assert plan.affinities == "sampled"
    assert plan.forces == "mesh"
    assert plan.n_neighbors is None
    # a byte for each of 200 cells, four for each place among their members, 8 for each of four
    # attributes, and 2000 for what is drawn
    assert plan.bytes_needed == 10_001 * (200 * 5 + 8 * 4 + 2000)
    (reason,) = plan.reasons
    assert reason == (
        "all pairs take too long above 10,000 points; "
        f"a point has {math.ceil(RANKED * 10_001 / 50)} similar ones: too many to list"
    )
    # Neither a closed form nor a Gaussian has cells to draw from.
    assert plan_for(IsolationKernel(50, n_partitions="exact"), 10_001).affinities == "sparse"
    assert plan_for(GaussianKernel(700), 10_001).affinities == "sparse"


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_a_mesh_pushes_many_points(memory, n_components):
    limit = EXACT_REPULSION_LIMIT[n_components]
    at, above = (
        plan_for(GaussianKernel(5), n, n_components, affinities="sparse")
        for n in (limit, limit + 1)
    )
    assert (at.forces, above.forces) == ("exact", "mesh")


def test_points_whose_pairs_fill_the_memory_are_compared_with_their_neighbors(memory):
    # 4 * 10^8 + 2.64 * 10^6 bytes for all pairs, of which 80 % of the memory may be used
    memory(402_640_000 / 0.8 + 1)
    assert plan_for(GaussianKernel(5), 10_000).affinities == "dense"
    memory(402_640_000 / 0.8 - 10)
    sparse = plan_for(GaussianKernel(5), 10_000)
    assert sparse.affinities == "sparse"
    assert sparse.reasons == ("all pairs would take 403 MB",)


def test_an_objective_over_all_pairs_keeps_them_all(memory):
    memory(1e15)
    plan = plan_for(GaussianKernel(5), 60_000, objective=NeRV(0.9))
    assert plan.affinities == "dense"
    assert plan.forces == "exact"
    assert plan.reasons == ("NeRV(trade_off=0.9) compares all pairs",)


# --- what is chosen by hand


@pytest.mark.parametrize(
    ("kernel", "pair_bytes", "n_neighbors", "n_partners"),
    [
        (IsolationKernel(100), 1, 10 * RANKED, 10 * COMPARED),  # a cell holds 1000 / 100
        (IsolationKernel(100, n_partitions=255), 1, 10 * RANKED, 10 * COMPARED),
        (IsolationKernel(100, n_partitions=256), 2, 10 * RANKED, 10 * COMPARED),
        (IsolationKernel(100, n_partitions="exact"), 4, 10 * RANKED, 10 * COMPARED),
        (IsolationKernel([50, 100]), 4, 20 * RANKED, 20 * COMPARED),
        (IsolationKernel(0.1), 1, 10 * RANKED, 10 * COMPARED),
        (IsolationKernel(2), 1, 999, 999),  # no more neighbors than there are
        (GaussianKernel(30), 4, 90, 90),
        (GaussianKernel([5, 40.5]), 4, 122, 122),
        (AdaptiveGaussianKernel(7), 4, 21, 21),
        (KNNKernel(7), 4, 21, 21),
    ],
    ids=str,
)
def test_bytes_and_neighbors_are_those_of_the_kernel(
    memory, kernel, pair_bytes, n_neighbors, n_partners
):
    dense = plan_for(kernel, 1000, 3, affinities="dense")
    assert dense.bytes_needed == 1_000_000 * pair_bytes + 264_000 + kernel.drawn_bytes(1000, 4)
    assert dense.reasons == ()
    sparse = plan_for(kernel, 1000, 3, affinities="sparse")
    assert sparse.n_neighbors == n_neighbors
    assert sparse.bytes_needed == 1000 * (32 * n_partners + 100)
    assert sparse.n_components == 3
    assert sparse.widest is None
    # Of wide data the copies in the order of a search count: 8 bytes an attribute, 12 a neighbor.
    wide = plan_for(kernel, 1000, 3, affinities="sparse", n_features=5000)
    assert wide.bytes_needed == 1000 * (8 * 5000 + 12 * n_neighbors)


def test_what_is_drawn_are_samples_their_points_and_cells():
    drawn = IsolationKernel([100, 2], n_partitions=50).drawn_bytes(1000, 4)
    assert drawn == 34 * 50 * 102 + 8 * 4 * (1000 + 100) + 1000 * 50 * 2 * 5
    assert IsolationKernel(100, n_partitions="exact").drawn_bytes(1000, 4) == 0
    assert GaussianKernel(5).drawn_bytes(1000, 4) == 0


def test_bytes_to_draw_from_are_those_of_the_cells(memory):
    def needed(*args, **more):
        kernel = IsolationKernel(*args, **more)
        return plan_for(kernel, 1000, affinities="sampled").bytes_needed / 1000 - 8 * 4 - 2000

    assert needed(100) == 200 * 5  # ids of up to 256 cells in a byte, and a place in four
    assert needed(300) == 200 * 6
    assert needed([100, 300], n_partitions=50) == 50 * 11


@pytest.mark.parametrize("affinities", ["sparse", "sampled"])
@pytest.mark.parametrize("forces", ["exact", "mesh", "tree"])
def test_every_way_to_push_can_be_chosen(memory, affinities, forces):
    plan = plan_for(IsolationKernel(100), 1000, affinities=affinities, forces=forces)
    assert (plan.affinities, plan.forces, plan.reasons) == (affinities, forces, ())


@pytest.mark.parametrize("neighbors", ["exact", "approximate"])
@pytest.mark.parametrize("n", [1000, 30_000])
def test_every_search_can_be_chosen(memory, neighbors, n):
    plan = plan_for(GaussianKernel(5), n, affinities="sparse", neighbors=neighbors)
    assert plan.neighbors == neighbors


@pytest.mark.parametrize("forces", ["mesh", "tree"])
def test_all_pairs_at_hand_need_no_other_push(memory, forces):
    sentence = (
        f"forces='{forces}' needs affinities 'sparse' or 'sampled'; got 'dense'. "
        "With all pairs at hand exact forces cost nothing more: choose forces='exact'."
    )
    with refuses(sentence):
        plan_for(GaussianKernel(5), 1000, affinities="dense", forces=forces)


@pytest.mark.parametrize("forces", ["mesh", "tree"])
def test_another_push_brings_lists_along(memory, forces):
    plan = plan_for(GaussianKernel(5), 1000, forces=forces)
    assert (plan.affinities, plan.forces) == ("sparse", forces)
    reason = f"forces {forces!r} go with partners that are listed or drawn"
    assert plan.reasons == (reason,)
    assert plan_for(IsolationKernel(2), 1000, forces=forces).affinities == "sampled"


def test_all_pairs_that_just_fit_are_kept_if_nothing_takes_less(memory):
    kernel = IsolationKernel(40, n_partitions=5)
    memory(110_000)
    plan = plan_for(kernel, 178)
    assert plan.affinities == "dense"
    assert plan.bytes_needed > 0.8 * plan.bytes_available
    assert plan.reasons[0].endswith("; nothing takes less memory")
    memory(10_000)
    with pytest.raises(ParameterError, match="affinities='dense' of 178 points need"):
        plan_for(kernel, 178)


@pytest.mark.parametrize(
    "kernel", [GaussianKernel(5), KNNKernel(5), IsolationKernel(8, n_partitions="exact")], ids=str
)
def test_partners_are_not_drawn_without_cells(memory, kernel):
    sentence = (
        "affinities='sampled' draws from the cells of an isolation kernel; got a kernel without "
        "cells. Pass IsolationKernel(n_partitions=200), or choose 'sparse'."
    )
    with refuses(sentence):
        plan_for(kernel, 1000, affinities="sampled")


@pytest.mark.parametrize("wish", ["all", "", None, 3, True, ["auto"]])
@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("affinities", "auto, dense, sparse, sampled"),
        ("forces", "auto, exact, mesh, tree"),
        ("neighbors", "auto, exact, approximate"),
    ],
)
def test_other_wishes_are_refused(memory, name, allowed, wish):
    sentence = f"{name} must be one of {allowed}; got {wish!r}. 'auto' chooses by size and memory."
    with refuses(sentence):
        plan_for(GaussianKernel(5), 1000, **{name: wish})


@pytest.mark.parametrize(
    ("objective", "name"), [(NeRV(0.9), "NeRV(trade_off=0.9)"), (JSE(0.5), "JSE(mixture=0.5)")]
)
@pytest.mark.parametrize("affinities", ["sparse", "sampled"])
def test_mixtures_are_not_made_of_some_pairs_alone(memory, objective, name, affinities):
    sentence = (
        f"{name} compares all pairs and needs affinities='dense'; got '{affinities}'. "
        "Choose objective='kl', or dense affinities."
    )
    with refuses(sentence):
        plan_for(GaussianKernel(5), 1000, objective=objective, affinities=affinities)
    assert plan_for(GaussianKernel(5), 1000, objective=objective).affinities == "dense"


# --- memory


def test_all_pairs_that_do_not_fit_are_refused_and_what_fits_is_named(memory):
    memory(1e6)
    with pytest.raises(ParameterError) as caught:
        plan_for(GaussianKernel(5), 1000, affinities="dense")
    beginning = (
        "affinities='dense' of 1,000 points need 4.26 MB, and 1 MB are available. "
        "Choose affinities='sparse' (580 kB), or fit on at most 4"
    )
    assert str(caught.value).startswith(beginning)
    assert plan_for(GaussianKernel(5), 1000, affinities="sparse").n_neighbors == 15


def test_two_other_forms_are_named_if_both_fit(memory):
    memory(3.5e6)
    with pytest.raises(ParameterError) as caught:
        plan_for(IsolationKernel([100, 200], n_partitions=20), 1000, affinities="dense")
    sentence = (
        r"Choose affinities='sparse' \(.* MB\) or affinities='sampled' \(2\.23 MB\), or fit on"
    )
    assert re.search(sentence, str(caught.value))


def test_lists_that_do_not_fit_are_refused(memory):
    memory(1e6)
    sentence = (
        "affinities='sparse' of 10,000 points need 7.72 MB, and 1 MB are available. "
        "Fit on at most 1,295 points."
    )
    for affinities in ("sparse", "auto"):
        with refuses(sentence):
            plan_for(KNNKernel(7), 10_000, affinities=affinities)


@pytest.mark.parametrize(
    ("kernel", "affinities"),
    [
        pytest.param(GaussianKernel(5), "dense"),
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


def test_mixtures_that_do_not_fit_are_not_sent_to_what_they_cannot_use(memory):
    memory(1e6)
    with pytest.raises(ParameterError, match=r"need 4\.26 MB, and 1 MB are available\. Fit on at"):
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
        (pytest.param(1e16, 8_000_000_000)),
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


@pytest.mark.parametrize("limit", ["lots", "", "GB", "-1", "2 PB", "1.5.2GB", "nan", "0", "1,5GB"])
def test_other_sizes_are_refused_wherever_they_come_from(memory, monkeypatch, limit):
    sentence = (
        f"{{}} must be a number of bytes or a size such as '1.5GB'; got {limit!r}. "
        "Leave it out to use what is free."
    )
    with refuses(sentence.format("memory_limit")):
        plan_for(KNNKernel(5), 100, memory_limit=limit)
    if limit:
        monkeypatch.setenv("ISOSNE_MEMORY_LIMIT", limit)
        with refuses(sentence.format("ISOSNE_MEMORY_LIMIT")):
            plan_for(KNNKernel(5), 100)


@pytest.mark.parametrize("limit", [0, -1, True, False, float("nan"), float("inf"), [5], -0.5])
def test_other_numbers_are_refused(memory, limit):
    sentence = (
        f"memory_limit must be a number of bytes or a size such as '1.5GB'; got {limit!r}. "
        "Leave it out to use what is free."
    )
    with refuses(sentence):
        plan_for(KNNKernel(5), 100, memory_limit=limit)


class NeverFitted(GaussianKernel):
    """A kernel that says so if any work begins."""

    def fit(self, X, y=None):
        raise AssertionError("work has begun")


@pytest.mark.parametrize("given", ["keyword", "variable"])
def test_what_does_not_fit_is_refused_before_any_work(memory, monkeypatch, given):
    X = np.random.default_rng(0).normal(size=(500, 3))
    if given == "variable":
        monkeypatch.setenv("ISOSNE_MEMORY_LIMIT", "100kB")
    limit = "100kB" if given == "keyword" else None
    model = TSNE(NeverFitted(5), memory_limit=limit)
    with pytest.raises(ParameterError, match="and 100 kB are available"):
        model.fit(X)
    assert vars(model) == model.get_params(deep=False)
    with pytest.raises(AssertionError, match="work has begun"):
        model.set_params(memory_limit="1GB").fit(X)


# --- what a plan says


def test_a_plan_prints_as_a_table(memory):
    dense = plan_for(IsolationKernel(16), 1000)
    assert str(dense).splitlines() == [
        "points      1,000 to 2 dimensions",
        "kernel      IsolationKernel(psi=16)",
        "affinities  dense",
        "forces      exact",
        "memory      2.4 MB of 8 GB available",
        "because     all pairs take 2.4 MB and n is at most 10,000",
    ]
    sparse = plan_for(GaussianKernel(5), 1000, 3, affinities="sparse", forces="tree")
    assert str(sparse).splitlines() == [
        "points      1,000 to 3 dimensions",
        "kernel      GaussianKernel(perplexity=5)",
        "affinities  sparse, 15 exact neighbors a point",
        "forces      tree",
        "memory      580 kB of 8 GB available",
    ]
    meshed = plan_for(GaussianKernel(5), 1000, affinities="sparse", forces="mesh")
    width = meshed.widest
    assert 500 < width < 5000
    assert f"forces      mesh; a map wider than {width:.0f} gets a coarser one" in str(meshed)


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
    plan = Plan(10, 2, "kernel", "dense", None, None, "exact", None, n_bytes, 10**9)
    assert f"memory      {text} of 1 GB available" in str(plan)


def test_the_estimator_plans_without_fitting(memory):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = TSNE(GaussianKernel(5), affinities="sparse", forces="tree", n_components=1, n_jobs=1)
    plan = model.plan(X)
    assert (plan.n_points, plan.n_components, plan.n_neighbors) == (60, 1, 15)
    assert plan.forces == "tree"
    assert vars(model) == model.get_params(deep=False)
    named = {name: TSNE(name).plan(X).kernel for name in ("isolation", "gaussian", "knn")}
    assert named["isolation"].startswith("IsolationKernel(")
    assert named["gaussian"].startswith("GaussianKernel(")
    assert named["knn"] == "KNNKernel()"
    fitted = model.fit(X)
    assert fitted.plan_ == plan


def test_the_estimator_does_not_plan_what_it_would_not_fit(memory):
    X = np.random.default_rng(0).normal(size=(60, 3))
    with pytest.raises(ParameterError, match="n_components must be an integer from 1 to 3"):
        TSNE(GaussianKernel(5), affinities="sparse", n_components=7).plan(X)
