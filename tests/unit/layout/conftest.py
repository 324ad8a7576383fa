import numba
import numpy as np
import pytest

from isosne import GaussianKernel
from isosne.affinities.dense import dense_affinities


@pytest.fixture(scope="package")
def joint():
    """Joint probabilities of twenty points."""
    X = np.random.default_rng(0).normal(size=(20, 4))
    return dense_affinities(GaussianKernel(5).fit(X))[0]


@pytest.fixture
def one_thread():
    """Maps of twenty points are too small to share out."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)
