"""Affinities that were made elsewhere, in place of step 1."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

import isosne.tsne.choices
from isosne import (
    TSNE,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    NeRV,
    Phase,
    PrecomputedKernel,
    Schedule,
    nearest_neighbors,
)
from isosne.affinities.given import given_affinities
from isosne.errors import DataError, IsolatedPointsWarning, ParameterError
from tests.unit.tsne.conftest import make, refuses

N = 70
FEW = Schedule((Phase(4, step=10),))
START = np.random.default_rng(5).normal(size=(N, 2))


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(N, 5))


@pytest.fixture(scope="module")
def connectivities(points):
    """A neighbor graph with weights, as other packages make them: sparse, not symmetric."""
    indices, distances = nearest_neighbors(points, 12)
    weights = np.exp(-distances / distances[:, -1:]).astype(np.float64)
    indptr = np.arange(0, 12 * N + 1, 12)
    return csr_array((weights.ravel(), indices.ravel(), indptr), shape=(N, N))


def joint(model):
    """Return the joint probabilities of a dense model as a matrix."""
    values, factors = model.affinities_
    return values * (factors[:, None] + factors)


def as_matrix(affinities):
    indptr, indices, data = affinities
    return csr_array((data, indices, indptr), shape=(N, N)).toarray()


def test_the_joint_probabilities_of_a_kernel_make_its_map(points):
    gaussian = make(GaussianKernel(10), start=START, schedule=FEW).fit(points)
    given = make("precomputed", start=START, schedule=FEW).fit(joint(gaussian))
    # P is scaled to sum one again, in float64: that changes its last digits alone (6e-8 of each
    # value). Four steps move the points by as much of their way.
    np.testing.assert_allclose(joint(given), joint(gaussian), rtol=5e-7)
    way = np.abs(gaussian.embedding_ - START).max()
    np.testing.assert_allclose(given.embedding_, gaussian.embedding_, atol=1e-5 * way)
    assert np.abs(joint(given).sum() - 1) < 1e-6


def test_affinities_are_symmetrized_and_scaled_and_nothing_else():
    # By hand: a + a^T without the diagonal is [[0, 3, 1], [3, 0, 4], [1, 4, 0]], with sum 16.
    A = np.array([[9.0, 2.0, 1.0], [1.0, 0.0, 4.0], [0.0, 0.0, 7.0]])
    expected = np.array([[0, 3, 1], [3, 0, 4], [1, 4, 0]]) / 16
    (values, factors), isolated = given_affinities(A, as_dense=True)
    np.testing.assert_allclose(values * (factors[:, None] + factors), expected, rtol=1e-7)
    assert isolated.tolist() == []
    (indptr, indices, data), isolated = given_affinities(csr_array(A), as_dense=False)
    found = csr_array((data, indices, indptr), shape=(3, 3))
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-7)
    assert found.nnz == 6  # neither the diagonal nor zeros are kept
    assert isolated.tolist() == []


def test_a_factor_does_not_matter(connectivities):
    one, other = (
        make("precomputed", schedule=FEW).fit(connectivities * factor) for factor in (1, 1024)
    )
    assert other.embedding_.tobytes() == one.embedding_.tobytes()


def test_csr_gives_the_map_of_the_dense_matrix(connectivities):
    settings = {"start": START, "schedule": FEW}
    sparse = make("precomputed", **settings).fit(connectivities)
    dense = make("precomputed", **settings).fit(connectivities.toarray())
    assert (sparse.plan_.affinities, dense.plan_.affinities) == ("sparse", "dense")
    np.testing.assert_allclose(as_matrix(sparse.affinities_), joint(dense), rtol=1e-6)
    # the same numbers, summed in another order
    way = np.abs(dense.embedding_ - START).max()
    np.testing.assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-5 * way)
    one = sparse.transform(connectivities[:9])
    np.testing.assert_allclose(dense.transform(connectivities[:9].toarray()), one, atol=1e-4 * way)


def test_a_graph_that_is_not_symmetric_works_in_every_form(connectivities):
    assert (connectivities != connectivities.T).nnz > 0
    maps = [
        make("precomputed").fit_transform(graph)
        for graph in (
            connectivities,
            csr_matrix(connectivities),  # as AnnData holds it
            connectivities.tocoo(),
            connectivities.tocsc(),
        )
    ]
    assert all(Y.tobytes() == maps[0].tobytes() for Y in maps)
    symmetric = make("precomputed").fit_transform(connectivities + connectivities.T)
    assert symmetric.tobytes() == maps[0].tobytes()
    before = connectivities.copy()
    make(PrecomputedKernel()).fit(connectivities)
    assert (connectivities != before).nnz == 0


def test_whole_numbers_are_affinities_too(points):
    counts = IsolationKernel(8, n_partitions=30, random_state=0).fit(points).counts()
    one, other = (make("precomputed").fit_transform(K) for K in (counts, counts.astype(float)))
    assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("forces", ["exact", "mesh", "tree"])
def test_a_graph_takes_every_method_for_the_forces(monkeypatch, connectivities, forces):
    monkeypatch.setattr(isosne.tsne.choices, "FEWEST_FOR_MESH", N)
    model = make("precomputed", forces=forces).fit(connectivities)
    assert model.plan_.forces == forces
    assert np.isfinite(model.embedding_).all()


def test_objectives_over_all_pairs_take_a_graph_as_a_matrix(connectivities):
    model = make("precomputed", objective=NeRV(0.8)).fit(connectivities)
    assert model.plan_.affinities == "dense"
    assert np.isfinite(model.embedding_).all()


def test_the_plan_says_where_the_affinities_come_from(memory, connectivities):
    plan = make("precomputed").plan(connectivities)
    assert str(plan).splitlines() == [
        "points      70 to 2 dimensions",
        "kernel      PrecomputedKernel()",
        "affinities  sparse",
        "start       spectral",
        "forces      exact",
        "objective   KL, at most 20 steps",
        "threads     1",
        "memory      167 kB more than in use now; 8 GB available",
        "reason      the affinities are precomputed",
    ]


def test_a_plan_repeats_the_run_and_a_file_keeps_the_model(connectivities, tmp_path):
    for P in (connectivities, connectivities.toarray()):
        model = make("precomputed", random_state=None).fit(P)
        model.save(tmp_path / "model.isosne")
        loaded = TSNE.load(tmp_path / "model.isosne")
        assert type(loaded.kernel_.X_fit_) is type(P)
        rows = P[:5] + P[5:10]
        assert loaded.transform(rows).tobytes() == model.transform(rows).tobytes()
        again = TSNE(**loaded.plan_.parameters).fit(P)
        assert again.embedding_.tobytes() == model.embedding_.tobytes()
        assert loaded.continue_fit(2).n_iter_ == 22


def test_rows_of_affinities_are_placed_where_they_point(two_blobs):
    similarity = np.exp(-((two_blobs[:, None] - two_blobs) ** 2).sum(axis=2) / 20)
    model = make("precomputed", schedule=Schedule.standard(n_iter=400)).fit(similarity)
    rows = np.zeros((2, 60))
    rows[0, :30] = rows[1, 30:] = 1
    placed = model.transform(rows)
    assert placed.dtype == np.float32
    nearest = ((placed[:, None] - model.embedding_) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest < 30).tolist() == [True, False]
    before = rows.copy()
    assert model.transform(csr_array(rows)).tobytes() == placed.tobytes()
    assert model.transform(5 * rows).tobytes() == placed.tobytes()  # a factor does not matter
    np.testing.assert_array_equal(rows, before)


def test_points_without_affinities_are_named_and_moved_by_repulsion(connectivities):
    P = connectivities.toarray()
    P[[4, 9]] = P[:, [4, 9]] = 0
    sentence = "2 of 70 points have no affinity to any other point; only repulsion acts on them."
    for graph in (P, csr_array(P)):
        with pytest.warns(IsolatedPointsWarning) as caught:
            model = make("precomputed").fit(graph)
        assert [str(warning.message) for warning in caught] == [sentence]
        assert caught[0].filename == __file__
        assert model.isolated_.tolist() == [4, 9]
        assert np.isfinite(model.embedding_).all()
        np.testing.assert_allclose(model.kernel_.similarity(), P, rtol=1e-6)


# --- what is refused


@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_negative_affinities_are_refused(connectivities, form):
    P = connectivities.toarray()
    P[3, 5] = -0.25
    sentence = (
        "Negative values in data: precomputed affinities must be positive or zero; got -0.25. "
        "Pass similarities, not distances."
    )
    with refuses(DataError, sentence):
        make("precomputed").fit(form(P))
    model = make("precomputed").fit(form(np.abs(P)))
    with refuses(DataError, sentence):
        model.transform(form(P))


@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_a_matrix_that_is_not_square_is_refused(connectivities, form):
    sentence = (
        "Precomputed affinities must be a square matrix; got shape (70, 60). "
        "Pass the affinities of all pairs of points."
    )
    with refuses(DataError, sentence):
        make("precomputed").fit(form(connectivities.toarray()[:, :60]))


@pytest.mark.parametrize("P", [np.zeros((9, 9)), np.eye(9), csr_array((9, 9))], ids=str)
def test_zeros_alone_are_refused(P):
    sentence = (
        "Precomputed affinities must be positive for at least one pair of different points; all "
        "are zero. Pass similarities."
    )
    with refuses(DataError, sentence):
        make("precomputed").fit(P)


def test_affinities_that_are_not_finite_are_refused(connectivities):
    P = connectivities.toarray()
    P[3, 5] = np.nan
    sentence = (
        "X must be finite; got 1 NaN and 0 infinite value(s), the first in row 3 (counting from "
        "0), column 5. "
        "Leave out or impute the rows that hold them."
    )
    with refuses(DataError, sentence):
        make("precomputed").fit(P)


def test_a_row_of_zeros_is_not_placed(connectivities):
    model = make("precomputed").fit(connectivities)
    rows = np.zeros((3, N))
    rows[1, 7] = 1
    sentence = (
        "Each row must have a positive affinity to at least one fitted point; got 2 row(s) of "
        "zeros. Remove them."
    )
    with refuses(DataError, sentence):
        model.transform(rows)


def test_a_start_from_principal_components_is_refused(connectivities):
    sentence = (
        "start must be 'spectral', 'random' or an array with precomputed distances or affinities; "
        "got start='pca'. Principal components need the points themselves."
    )
    with refuses(ParameterError, sentence):
        make("precomputed", start="pca").fit(connectivities)


@pytest.mark.parametrize("wish", ["dense", "sampled"])
def test_another_form_than_that_of_the_graph_is_refused(connectivities, wish):
    sentence = (
        "affinities must be 'sparse' for these precomputed affinities; got "
        f"affinities='{wish}'. Leave it out."
    )
    with refuses(ParameterError, sentence):
        make("precomputed", affinities=wish).fit(connectivities)


def test_a_large_graph_needs_memory_for_its_entries_alone(memory):
    n, k = 70_000, 15
    graph = csr_array(
        (np.ones(n * k), np.tile(np.arange(k), n), np.arange(0, n * k + 1, k)), (n, n)
    )
    plan = make("precomputed").plan(graph)
    assert (plan.affinities, plan.forces) == ("sparse", "mesh")
    # 16 bytes per entry for the affinities, 32 for their copy in the spectral start, 57 that stay
    # from the symmetrization, and vectors of 1100 bytes per point. A dense matrix takes 20 GB.
    assert 150 * n * k < plan.bytes_needed < 200 * n * k


def test_too_little_memory_does_not_send_a_matrix_to_a_form_that_it_has_not(memory):
    memory(2e5)
    # 4 bytes per pair, 8 for the spectral start, and vectors of at most 28 n bytes per point
    sentence = (
        "affinities must fit in the 200 kB of memory that are available; dense affinities of "
        "1,000 points need 13.1 MB; got affinities='dense'. Fit on at most 90 points."
    )
    with refuses(ParameterError, sentence):
        make("precomputed").fit(np.ones((1000, 1000)))


def test_similarity_is_known_to_the_fitted_points_alone(connectivities):
    kernel = PrecomputedKernel().fit(connectivities)
    assert kernel.similarity(connectivities[:4]).shape == (4, N)
    sentence = (
        "B must be None: affinities between two sets of new points are unknown; got B=3. "
        "Leave it out."
    )
    with refuses(ParameterError, sentence):
        kernel.similarity(None, 3)


def test_the_kernel_by_its_name_is_the_object(connectivities):
    named, composed = (
        make(kernel).fit(connectivities) for kernel in ("precomputed", PrecomputedKernel())
    )
    assert named.embedding_.tobytes() == composed.embedding_.tobytes()
    assert KNNKernel is not type(composed.kernel_)


def test_affinities_beyond_float32_are_refused():
    kernel = PrecomputedKernel().fit(np.array([[0, 1e100], [1.0, 0]]))
    sentence = (
        "Precomputed affinities must be at most 3.4e+38, the limit of float32; got 1e+100. Divide "
        "all of them by the largest."
    )
    with refuses(DataError, sentence):
        kernel.similarity()
