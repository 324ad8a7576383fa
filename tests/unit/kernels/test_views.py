"""Several views of the same rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from isosne import TSNE, GaussianKernel, Landmarks, OwnerKernel, ViewsKernel, joint_probabilities
from isosne.errors import DataError, ParameterError
from isosne.kernels.views import Layout, are_views
from tests.reference.owner import rows_of_ranks
from tests.unit.kernels.test_labels import dense


def draw(n=150, widths=(3, 5), seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, width)) * 10.0**i for i, width in enumerate(widths)]


def distances(A):
    return np.sqrt(((A[:, None] - A[None]) ** 2).sum(axis=2))


def test_lists_and_mappings_of_matrices_are_views_and_matrices_are_not():
    A, B = draw()
    assert are_views([A, B])
    assert are_views({"a": A, "b": pd.DataFrame(B)})
    assert not are_views(A)
    assert not are_views(A.tolist())
    assert not are_views(pd.DataFrame(A))
    assert not are_views([])


def test_the_joint_probabilities_are_those_of_the_definition():
    A, B = draw(60)
    B[:7] = np.nan  # these rows lack the second view
    kernel = ViewsKernel(OwnerKernel((3, 6), local_scaling=0), weights=[3, 1])
    found = dense(joint_probabilities([A, B], kernel, random_state=0).joint)
    rows = np.zeros((60, 60))
    rows[:] = rows_of_ranks(distances(A), (20, 10), 59)
    rows[7:] *= 0.75
    rows[7:, 7:] += 0.25 * rows_of_ranks(distances(B[7:]), (18, 9), 52)
    np.testing.assert_allclose(found, (rows + rows.T) / 120, atol=2e-7)


def test_one_view_twice_is_that_view():
    A, _ = draw(300)
    plain = TSNE(random_state=0).fit(A)
    once, twice = (TSNE(random_state=0).fit(views).affinities_ for views in ([A], [A, A]))
    for P in (once, twice):
        np.testing.assert_array_equal(P.indices, plain.affinities_.indices)
        np.testing.assert_array_equal(P.data, plain.affinities_.data)


def test_the_units_of_a_view_do_not_matter():
    A, B = draw(200)
    P = joint_probabilities([A, B], random_state=0).joint
    scaled = joint_probabilities([A, 1024 * B], random_state=0).joint
    np.testing.assert_array_equal(P.data, scaled.data)


def test_views_may_be_sparse_or_have_a_metric_of_their_own():
    A, B = draw(120)
    B = np.abs(B)
    kernels = {"a": OwnerKernel(), "b": OwnerKernel(metric="cosine")}
    of_dense = TSNE(ViewsKernel(kernels), random_state=0).fit({"a": A, "b": B})
    of_sparse = TSNE(ViewsKernel(kernels), random_state=0).fit({"a": A, "b": csr_array(B)})
    np.testing.assert_allclose(of_dense.affinities_.data, of_sparse.affinities_.data, rtol=1e-6)
    assert "cosine" in of_dense.plan_.kernel
    assert "of a (50%)" in of_dense.plan_.kernel


def test_new_rows_are_placed_by_the_views_they_have(tmp_path):
    A, B = draw(200)
    model = TSNE(random_state=0).fit([A, B])
    np.testing.assert_array_equal(model.transform([A[:5], B[:5]]), model.embedding_[:5])
    unknown = np.full((5, 5), np.nan)
    by_first = model.transform([A[:5] + 0.01, unknown])
    assert np.isfinite(by_first).all()
    near = np.linalg.norm(by_first - model.embedding_[:5], axis=1)
    assert np.median(near) < np.linalg.norm(model.embedding_.std(axis=0))
    model.save(tmp_path / "model.isosne")
    loaded = TSNE.load(tmp_path / "model.isosne")
    np.testing.assert_array_equal(loaded.transform([A[:5] + 0.01, unknown]), by_first)
    assert model.extend([A[:9] + 0.1, B[:9]], n_iter=5).embedding_.shape == (209, 2)


def test_similarities_are_those_of_the_views():
    A, B = draw(50)
    kernel = TSNE(random_state=0).fit([A, B]).kernel_
    assert kernel.views_[1].similarity().shape == (50, 50)
    with pytest.raises(DataError, match=r"^Similarities are those of a view\."):
        kernel.similarity()


def test_a_mixture_of_two_copies_is_no_copy():
    A, B = draw(200)
    model = TSNE(random_state=0).fit([A, B])
    mixed = model.transform([A[:1], B[50:51]])
    assert not np.array_equal(mixed[0], model.embedding_[0])
    assert not np.array_equal(mixed[0], model.embedding_[50])


def test_landmarks_labels_and_repeated_runs_work_with_views():
    A, B = draw(260)
    y = np.arange(260) % 3
    kernel = ViewsKernel(OwnerKernel(label_weight=0.3))
    model = TSNE(kernel, landmarks=Landmarks(120), random_state=0).fit([A, B], y)
    assert model.embedding_.shape == (120, 2)
    np.testing.assert_array_equal(model.kernel_.views_[1].labels_, y[model.landmark_indices_])
    first = TSNE(random_state=0).fit([A, B])
    again = TSNE(**first.plan_.parameters).fit([A, B])
    assert again.embedding_.tobytes() == first.embedding_.tobytes()


def test_wrong_views_are_refused():
    A, B = draw(40)
    with pytest.raises(DataError, match=r"^All views must have the same number of rows; got 40, 9"):
        TSNE().fit([A, B[:9]])
    with pytest.raises(DataError, match=r"^Each row must have a view; 2 rows have none"):
        TSNE().fit([np.r_[A[:38], np.full((2, 3), np.nan)], np.r_[B[:38], np.full((2, 5), np.nan)]])
    with pytest.raises(DataError, match=r"^At least 2 rows must have the view view 2; got 1"):
        TSNE().fit([A, np.r_[B[:1], np.full((39, 5), np.nan)]])
    with pytest.raises(ParameterError, match=r"^kernel must be the owner kernel for several views"):
        TSNE(GaussianKernel()).fit([A, B])
    with pytest.raises(ParameterError, match=r"^weights must have one value for each of the views"):
        TSNE(ViewsKernel(weights=[1])).fit([A, B])
    with pytest.raises(ParameterError, match=r"^weights must not all be 0"):
        TSNE(ViewsKernel(weights=[0, 0])).fit([A, B])
    with pytest.raises(DataError, match=r"^X must be a list or a mapping of views"):
        TSNE(ViewsKernel()).fit(A)
    with pytest.raises(ParameterError, match=r"^kernels must be owner kernels"):
        TSNE(ViewsKernel([OwnerKernel(), GaussianKernel()])).fit([A, B])
    model = TSNE(random_state=0).fit({"a": A, "b": B})
    with pytest.raises(DataError, match=r"^X must hold the views a, b; got view 1, view 2"):
        model.transform([A, B])
    with pytest.raises(DataError, match=r"^View b must have 5 columns, as in the fit; got 4"):
        model.transform({"a": A, "b": B[:, :4]})


def test_the_layout_puts_views_side_by_side_with_a_column_for_their_presence():
    A, B = np.full((2, 1), 4.0), np.array([[np.nan, np.nan], [3.0, 4.0]])
    layout = Layout.of([A, B])
    assert layout == (("view 1", "view 2"), (1, 2), (4.0, 4.0))
    expected = [[1, 1, 0, 0, 0], [1, 1, 0.75, 1, 1]]
    np.testing.assert_array_equal(layout.stack([A, B]), expected)
    part, rows = layout.part(layout.stack([A, B]), 1)
    np.testing.assert_array_equal(part, [[3, 4]])
    assert rows.tolist() == [1]
