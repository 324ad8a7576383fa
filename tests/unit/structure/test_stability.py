import numpy as np
import pytest

from isosne.structure.clusters import best_jaccard, mean_agreement
from tests.reference.modularity import mean_best_jaccard


def test_a_cluster_that_is_divided_elsewhere_has_a_low_index():
    labels = np.array([0, 0, 0, 0, 1, 1])
    other = np.array([0, 0, 0, 1, 2, 2])
    # The first cluster keeps 3 of 4 members, the second all.
    np.testing.assert_allclose(best_jaccard(labels, [other]), [0.75, 1])
    assert 0 < mean_agreement([labels, other]) < 1


@pytest.mark.parametrize("seed", range(3))
def test_the_index_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    labels, *others = (np.unique(rng.integers(0, k, 50), return_inverse=True)[1] for k in (4, 3, 6))
    np.testing.assert_allclose(best_jaccard(labels, others), mean_best_jaccard(labels, others))
