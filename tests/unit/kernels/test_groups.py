"""Groups of rows as vectors, and maps of groups."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline

from isosne import TSNE, GroupFeatures, IsolationKernel
from isosne.errors import DataError, ParameterError
from tests.conftest import refuses
from tests.reference import groups as reference


def draw_groups(n_groups=8, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, n_groups)
    return [rng.normal(g % 2, 1 + g % 3, (m, 3)) for g, m in enumerate(sizes)]


@pytest.mark.parametrize("partition", ["voronoi", "forest", "spheres"])
@pytest.mark.parametrize("psi", [4, (3, 12)])
def test_the_inner_product_is_the_distributional_kernel(partition, psi):
    groups = draw_groups()
    kernel = IsolationKernel(psi, n_partitions=20, partition=partition)
    features = GroupFeatures(kernel, random_state=0)
    V = features.fit_transform(groups)
    K = features.kernel_.similarity().astype(np.float64)
    ends = np.cumsum([len(group) for group in groups])
    rows = [np.arange(end - len(group), end) for group, end in zip(groups, ends, strict=True)]
    # Products of float32 numbers, summed over hundreds of columns.
    np.testing.assert_allclose(V @ V.T, reference.similarity(K, rows), atol=1e-5)
    assert features.get_feature_names_out().shape == V.shape[1:]


def test_groups_of_one_row_have_the_similarity_of_the_rows(two_blobs):
    features = GroupFeatures(random_state=0)
    V = features.fit_transform(two_blobs)
    np.testing.assert_allclose(V @ V.T, features.kernel_.similarity(), atol=1e-5)
    for groups in (list(two_blobs), two_blobs[:, None], [row[None] for row in two_blobs]):
        np.testing.assert_array_equal(GroupFeatures(random_state=0).fit_transform(groups), V)


def test_the_order_and_the_repetition_of_rows_do_not_matter():
    groups = draw_groups()
    features = GroupFeatures(random_state=0).fit(groups)
    turned = [np.vstack([group[::-1]] * 3) for group in groups]
    np.testing.assert_allclose(features.transform(turned), features.transform(groups), rtol=1e-6)


def test_groups_of_all_containers_have_the_same_vectors():
    groups = draw_groups()
    expected = GroupFeatures(random_state=0).fit_transform(groups)
    objects = np.empty(len(groups), object)
    objects[:] = groups
    frames = [pd.DataFrame(group, columns=list("abc")) for group in groups]
    for same in (tuple(groups), objects, frames, [csr_array(group) for group in groups]):
        np.testing.assert_allclose(GroupFeatures(random_state=0).fit_transform(same), expected)


def test_new_groups_are_placed_among_their_kind():
    rng = np.random.default_rng(0)

    def draw(n):  # equal means; two kinds of spread
        return [rng.normal(size=(30, 3)) * (1 + 3 * (g % 2)) for g in range(n)]

    groups, new = draw(60), draw(10)
    model = make_pipeline(GroupFeatures(random_state=0), TSNE(random_state=0))
    Y = model.fit_transform(groups)
    places = model.transform(new)
    nearest = np.linalg.norm(places[:, None] - Y, axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest % 2, np.arange(10) % 2)
    np.testing.assert_array_equal(model.transform(groups[:3]), Y[:3])


ROWS = np.ones((3, 2))
REFUSED = {
    "X must have at least one group; got an empty list. Pass a list of groups.": [],
    "Group 1 must have at least 1 row(s); got n_samples=0. Pass more points, one in each row.": [
        ROWS,
        np.ones((0, 2)),
    ],
    "Group 1 must be finite; got 0 NaN and 1 infinite value(s), the first in row 0 (counting from "
    "0), column 1. Leave out or impute the rows that hold them.": [ROWS, [[1.0, np.inf]]],
}
SAME = (
    "All groups must have the same columns in the same order; those of group 1 (counting from 0) "
    "are not those of group 0. Pass the same columns."
)


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_are_no_groups_is_refused(sentence):
    with refuses(DataError, sentence):
        GroupFeatures().fit(REFUSED[sentence])


@pytest.mark.parametrize("columns", [["a"], ["b", "a"]])
def test_groups_with_other_columns_are_refused(columns):
    frame = pd.DataFrame(ROWS, columns=["a", "b"])
    with refuses(DataError, SAME):
        GroupFeatures().fit([frame, frame[columns]])


def test_only_isolation_kernels_with_cells_compare_rows_of_groups():
    sentence = "kernel must be an IsolationKernel of points; got kernel='owner'. Pass for example "
    with refuses(ParameterError, sentence + "IsolationKernel(psi=64)."):
        GroupFeatures("owner").fit([ROWS, ROWS])
    with pytest.raises(ParameterError, match="n_partitions must be a number to compute cells"):
        GroupFeatures(IsolationKernel(2, n_partitions="exact")).fit([ROWS, ROWS])
