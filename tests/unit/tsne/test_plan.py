"""What a fit will do: every automatic choice, printed, and repeatable."""

import math

import numpy as np
import polars as pl
import pytest

import isosne.tsne.input
import isosne.tsne.plan
from isosne import (
    KL,
    TSNE,
    AdaptiveGaussianKernel,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    Landmarks,
    Mesh,
    OwnerKernel,
    Sparse,
    Tree,
)
from isosne._numba import n_threads, threads
from isosne.errors import ParameterError
from isosne.kernels.isolation import COMPARED, RANKED
from isosne.layout.mesh import widest_map
from isosne.neighbors.search import EXACT_SEARCH_LIMIT
from isosne.tsne.fit import DEFAULTS
from isosne.tsne.memory import InputSize, size
from isosne.tsne.plan import (
    DENSE_LIMIT,
    EXACT_REPULSION_LIMIT,
    POINTS_PER_THREAD,
    make_plan,
    useful_threads,
)
from tests.unit.tsne.conftest import make, refuses, saved


def plan_for(kernel, n, n_components=2, n_features=4, **wishes):
    """Plan for n points in four dimensions; nothing but the shape is needed."""
    settings = DEFAULTS | {"kernel": kernel, "n_components": n_components} | wishes
    with threads(1):
        return make_plan(kernel, InputSize(n, n_features), settings)


# --- what "auto" chooses


def test_small_data_are_compared_in_all_pairs(memory):
    plan = plan_for(IsolationKernel(16), 1000)
    assert plan.affinities == "dense"
    assert plan.n_neighbors is None
    assert plan.n_partners is None
    assert plan.neighbors is None
    assert plan.forces == "exact"
    assert plan.bytes_available == 8_000_000_000
    needed = size(plan.bytes_needed)
    assert plan.reasons == (f"all pairs take {needed} and n is at most 10,000",)


def test_many_points_are_compared_with_their_neighbors_whatever_the_memory(memory):
    memory(1e15)
    assert DENSE_LIMIT == 10_000
    assert EXACT_SEARCH_LIMIT == 10_000
    at, above = (plan_for(GaussianKernel(30), n) for n in (10_000, 10_001))
    assert at.affinities == "dense"
    assert plan_for(GaussianKernel(30), 10_000, affinities="sparse").neighbors == "exact"
    assert plan_for(GaussianKernel(30, metric="cosine"), 10_001).neighbors == "approximate"
    assert plan_for(GaussianKernel(30, metric="manhattan"), 10_001).neighbors == "exact"
    assert above.affinities == "sparse"
    assert above.n_neighbors == 90
    assert above.neighbors == "approximate"
    assert above.forces == "mesh"
    assert above.bytes_needed < at.bytes_needed / 5
    assert above.reasons == ("all pairs take too long above 10,000 points",)


@pytest.mark.parametrize(
    ("n", "last", "n_listed"),
    [
        # twice the largest cell that is listed, whose size is n divided by a number of cells
        (300, (), 50),
        (400, (25.0,), 50),
        (1000, (62.5,), 48),
        (3200, (200.0,), 49),
        (70_000, (200.0,), 48),
    ],
)
def test_the_default_kernel_has_cells_of_many_sizes_and_short_lists(memory, n, last, n_listed):
    plan = plan_for(OwnerKernel(), n)
    sizes = (2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, *last)
    assert plan.kernel == f"OwnerKernel(cell_size={sizes})"
    assert plan.affinities == "sparse"
    assert plan.neighbors == ("exact" if n <= EXACT_SEARCH_LIMIT else "approximate")
    assert (plan.n_neighbors, plan.n_partners) == (n_listed, n_listed)
    assert plan.reasons == ("the kernel needs neighbor lists only",)


def test_the_isolation_kernel_of_many_points_has_a_closed_form_and_short_lists(memory):
    at, above = (plan_for(IsolationKernel(), n) for n in (10_001, 20_001))
    # the mean cells of the broadest scales: a twentieth of the points, then a tenth
    at_cell, above_cell = 10_001 / 500, 20_001 / 2000
    assert (at.affinities, at.neighbors) == ("sparse", "approximate")
    assert at.n_neighbors == math.ceil(RANKED * at_cell)
    assert at.n_partners == math.ceil(COMPARED * at_cell)
    assert (above.affinities, above.neighbors) == ("sparse", "approximate")
    assert above.n_neighbors == math.ceil(RANKED * above_cell)
    assert above.kernel == "IsolationKernel(n_partitions='exact', psi=2000)"


def test_partners_are_drawn_where_too_many_are_similar_to_list_them(memory):
    plan = plan_for(IsolationKernel(50), 10_001)
    assert plan.affinities == "sampled"
    assert plan.forces == "mesh"
    assert plan.n_neighbors is None
    assert plan.reasons == (
        (
            "all pairs take too long above 10,000 points; "
            f"a point has {math.ceil(RANKED * 10_001 / 50):,} similar points, too many to list"
        ),
    )
    # Neither a closed form nor a Gaussian has cells to draw from.
    assert plan_for(IsolationKernel(50, n_partitions="exact"), 10_001).affinities == "sparse"
    assert plan_for(GaussianKernel(700), 10_001).affinities == "sparse"


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_a_mesh_or_a_tree_takes_over_where_exact_repulsion_is_slower(memory, n_components):
    limit = EXACT_REPULSION_LIMIT[n_components]
    at, above = (
        plan_for(GaussianKernel(5), n, n_components, affinities="sparse")
        for n in (limit, limit + 1)
    )
    expected = Tree(0.85) if n_components == 3 else Mesh(0.01)
    assert at.forces == "exact"
    assert (above.forces, above.parameters["forces"]) == (expected.name, expected)


def test_points_whose_pairs_fill_the_memory_are_compared_with_their_neighbors(memory):
    needed = plan_for(GaussianKernel(5), 10_000).bytes_needed
    memory(needed / 0.8 + 1)  # automatic choices leave a fifth of the memory free
    assert plan_for(GaussianKernel(5), 10_000).affinities == "dense"
    memory(needed / 0.8 - 10)
    sparse = plan_for(GaussianKernel(5), 10_000)
    assert sparse.affinities == "sparse"
    assert sparse.reasons == (f"all pairs would take {size(needed)}",)


def test_threads_are_as_many_as_have_points_to_work_on():
    with threads(1):
        assert useful_threads(10**6) == 1
    assert useful_threads(2) == useful_threads(2 * POINTS_PER_THREAD - 1) == 1
    assert useful_threads(2 * POINTS_PER_THREAD) == min(2, n_threads())
    assert useful_threads(10**6) == n_threads()


def test_the_start_is_chosen_by_what_there_is(memory):
    assert plan_for(GaussianKernel(5), 100).start == "pca"
    assert plan_for(GaussianKernel(5, metric="precomputed"), 100).start == "spectral"
    assert make(start="random").plan(np.eye(20)).start == "random"
    assert make(start=np.zeros((20, 2))).plan(np.eye(20)).start == "given coordinates"
    sentence = (
        "start must be 'spectral', 'random' or an array with precomputed distances or affinities; "
        "got start='pca'. Principal components need the points themselves."
    )
    with refuses(ParameterError, sentence):
        plan_for(GaussianKernel(5, metric="precomputed"), 100, start="pca")


# --- what is chosen by hand


@pytest.mark.parametrize(
    ("kernel", "n_neighbors", "n_partners"),
    [
        (IsolationKernel(100), 10 * RANKED, 10 * COMPARED),  # a cell holds 1000 / 100
        (IsolationKernel(100, n_partitions="exact"), 10 * RANKED, 10 * COMPARED),
        (IsolationKernel([50, 100]), 20 * RANKED, 20 * COMPARED),
        (IsolationKernel(0.1), 10 * RANKED, 10 * COMPARED),
        (IsolationKernel(2), 999, 999),  # no more neighbors than there are
        (GaussianKernel(30), 90, 90),
        (GaussianKernel([5, 40.5]), 122, 122),
        (AdaptiveGaussianKernel(7), 21, 21),
        (KNNKernel(7), 21, 21),
    ],
    ids=str,
)
def test_neighbors_are_those_of_the_kernel(memory, kernel, n_neighbors, n_partners):
    assert plan_for(kernel, 1000, 3, affinities="dense").reasons == ()
    sparse = plan_for(kernel, 1000, 3, affinities="sparse")
    assert (sparse.n_neighbors, sparse.n_partners) == (n_neighbors, n_partners)
    assert sparse.n_components == 3


@pytest.mark.parametrize("forces", ["mesh", "tree"])
def test_approximate_forces_bring_lists_along(memory, forces):
    plan = plan_for(GaussianKernel(5), 1000, forces=forces)
    assert (plan.affinities, plan.forces) == ("sparse", forces)
    assert plan.reasons == (f"forces on a {forces} need sparse or sampled affinities",)
    assert plan_for(IsolationKernel(2), 1000, forces=forces).affinities == "sampled"


def test_all_pairs_that_just_fit_are_kept_if_nothing_takes_less(memory):
    kernel = IsolationKernel(40, n_partitions=5)
    needed = plan_for(kernel, 178).bytes_needed
    memory(1.05 * needed)
    plan = plan_for(kernel, 178)
    assert (plan.affinities, plan.bytes_needed) == ("dense", needed)
    assert plan.reasons == (f"all pairs would take {size(needed)}; nothing takes less memory",)


# --- what a plan prints


OWNER = "kernel      OwnerKernel(cell_size=(2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, {}))"
MESH = "forces      mesh, accuracy 0.01; a tree if the map is wider than 5,950"


@pytest.mark.parametrize(
    ("n", "cell_size", "search", "forces"),
    [
        (1000, 62.5, "exact", "forces      exact"),
        (10_000, 200.0, "exact", MESH),
        (70_000, 200.0, "approximate", MESH),
    ],
)
def test_every_automatic_choice_is_printed(memory, n, cell_size, search, forces):
    plan = TSNE(n_jobs=1).plan(np.zeros((n, 50), np.float32))
    assert str(plan).splitlines() == [
        f"points      {n:,} to 2 dimensions",
        OWNER.format(cell_size),
        f"affinities  sparse, 48 {search} neighbors per point",
        "start       pca",
        forces,
        "objective   KL, 250 to 500 steps",
        "threads     1",
        f"memory      {size(plan.bytes_needed)} more than in use now; 8 GB available",
        "reason      the kernel needs neighbor lists only",
    ]


def test_the_plan_for_landmarks_of_a_parquet_file_is_printed(memory, tmp_path):
    path = tmp_path / "rows.parquet"
    column = np.zeros(70_000, np.float32)
    pl.DataFrame(dict.fromkeys("abc", column)).write_parquet(path)
    plan = TSNE(landmarks=Landmarks(5000, choice="spread"), n_jobs=1).plan(path)
    line = "points      5,000 to 2 dimensions; landmarks of 70,000 rows, from a pool of 65,536"
    assert str(plan).splitlines()[0] == line


def test_choices_made_by_hand_are_printed(memory):
    X, lists = np.zeros((1000, 4)), {"kernel": GaussianKernel(5), "affinities": Sparse("exact")}
    plan = make(**lists, forces=Tree(theta=0.4), n_components=3).plan(X)
    assert str(plan).splitlines() == [
        "points      1,000 to 3 dimensions",
        "kernel      GaussianKernel(perplexity=5)",
        "affinities  sparse, 15 exact neighbors per point",
        "start       pca",
        "forces      tree, theta 0.4",
        "objective   KL, 20 steps",
        "threads     1",
        f"memory      {size(plan.bytes_needed)} more than in use now; 8 GB available",
    ]
    widest = f"a tree if the map is wider than {widest_map(2, 0.003):,.0f}"
    lines = str(make(**lists, forces=Mesh(accuracy=0.003)).plan(X)).splitlines()
    assert lines[4] == f"forces      mesh, accuracy 0.003; {widest}"
    lines = str(make(affinities="sampled", forces="exact", start="random").plan(X)).splitlines()
    assert lines[2:5] == ["affinities  sampled", "start       random", "forces      exact"]


def test_the_estimator_plans_without_fitting(memory, points):
    model = make(GaussianKernel(5), affinities="sparse", forces="tree", n_components=1)
    plan = model.plan(points)
    assert (plan.n_points, plan.n_components, plan.n_neighbors) == (80, 1, 15)
    assert plan.forces == "tree"
    assert vars(model) == model.get_params(deep=False)
    assert model.fit(points).plan_ == plan


def test_a_plan_leaves_a_generator_as_it_was(points):
    rng = np.random.default_rng(3)
    before = rng.bit_generator.state
    make(random_state=rng).plan(points)
    assert rng.bit_generator.state == before


def test_a_plan_as_plain_values_has_all_but_the_parameters(points):
    plan = make().plan(points)
    values = plan.as_dict()
    assert "parameters" not in values
    assert values["kernel"] == "IsolationKernel(n_partitions=200, psi=8)"
    assert set(values) | {"parameters"} == set(vars(plan))


# --- a plan repeats a run

ROUTES = {
    "dense": {},
    "by name": {"kernel": "isolation", "schedule": "standard", "exaggeration": 2.0},
    "sparse, mesh": {"affinities": Sparse("approximate"), "forces": Mesh(accuracy=0.05)},
    "sparse, tree": {"kernel": "gaussian", "affinities": "sparse", "forces": Tree(theta=0.6)},
    "sampled": {"affinities": "sampled", "forces": "mesh", "objective": KL(dof=0.8)},
    "landmarks": {"landmarks": Landmarks(40, choice="spread"), "start": "spectral"},
    "seed of the kernel": {"kernel": IsolationKernel([0.5, 0.1], random_state=4)},
    "given start": {"start": np.random.default_rng(5).normal(size=(80, 2)), "n_components": 2},
}


@pytest.mark.parametrize(("route", "seed"), [(r, i % 3 or None) for i, r in enumerate(ROUTES)])
def test_the_parameters_of_a_plan_repeat_the_run(points, tmp_path, route, seed):
    stop = {"callback": lambda state: state.iteration == 20}
    model = make(**{"random_state": seed} | ROUTES[route] | stop).fit(points)
    loaded = saved(model, tmp_path)
    for plan in (model.plan_, loaded.plan_):
        again = TSNE(**plan.parameters | stop).fit(points)
        assert again.embedding_.tobytes() == model.embedding_.tobytes()
        assert again.trace_.tobytes() == model.trace_.tobytes()
        assert str(again.plan_).splitlines()[:7] == str(model.plan_).splitlines()[:7]


def test_a_repeated_run_does_not_choose_anew(points, monkeypatch):
    """Rules that choose otherwise, as those of another machine may, do not matter any more."""
    monkeypatch.setattr(isosne.tsne.plan, "FEWEST_FOR_MESH", 50)
    with monkeypatch.context() as rules:
        rules.setattr(isosne.tsne.plan, "DENSE_LIMIT", 50)
        rules.setattr(isosne.neighbors.search, "EXACT_SEARCH_LIMIT", 50)
        rules.setattr(isosne.tsne.plan, "EXACT_REPULSION_LIMIT", {2: 50})
        rules.setattr(isosne.kernels.isolation, "EXACT_FROM", 50)
        model = make("isolation", random_state=None).fit(points)
    plan = model.plan_
    assert (plan.affinities, plan.neighbors, plan.forces) == ("sparse", "approximate", "mesh")
    assert plan.kernel == "IsolationKernel(n_partitions='exact', psi=(64, 16, 4))"
    assert make("isolation").plan(points).affinities == "dense"
    again = TSNE(**plan.parameters).fit(points)
    assert again.embedding_.tobytes() == model.embedding_.tobytes()


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_a_run_from_a_generator_is_repeated(points, kind):
    model = make(random_state=kind(7)).fit(points)
    again = TSNE(**model.plan_.parameters).fit(points)
    assert again.embedding_.tobytes() == model.embedding_.tobytes()


def test_a_mesh_is_replaced_by_exact_forces_for_few_points():
    X = np.random.default_rng(0).normal(size=(99, 3))
    wanted = make("isolation", affinities="sparse", forces="mesh")
    assert wanted.plan(X).forces == "exact"
    assert wanted.plan(np.vstack([X, X[:1] + 1])).forces == "mesh"
