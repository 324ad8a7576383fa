"""Other packages' measures of the same maps."""

import numpy as np
import pytest
from nxcurve import quality_curve
from zadu.measures import trustworthiness_continuity

from isosne.quality import compare


@pytest.fixture(params=range(3))
def data_and_map(request):
    rng = np.random.default_rng(request.param)
    X = rng.normal(size=(80, 5))
    return X, X[:, :2] + 0.3 * rng.normal(size=(80, 2))


def test_the_curve_and_its_area_are_those_of_nxcurve(data_and_map):
    r, area, _ = quality_curve(*data_and_map, 10, "r", graph=False)
    np.testing.assert_allclose(compare(*data_and_map).curve().r, r, 0, 1e-12)
    np.testing.assert_allclose(compare(*data_and_map).auc(), area, 1e-12)


@pytest.mark.parametrize("k", [3, 20])
def test_trust_of_each_point_is_that_of_zadu(data_and_map, k):
    means, local = trustworthiness_continuity.measure(*data_and_map, k=k, return_local=True)
    found = compare(*data_and_map, k).trust()
    np.testing.assert_allclose(1 - found.false_neighbors, local["local_trustworthiness"], 1e-12)
    np.testing.assert_allclose(1 - found.missing_neighbors, local["local_continuity"], 1e-12)
    np.testing.assert_allclose(
        compare(*data_and_map, k).trustworthiness(), means["trustworthiness"], 1e-12
    )
    np.testing.assert_allclose(compare(*data_and_map, k).continuity(), means["continuity"], 1e-12)
