"""Maps to draw, and what can be asked of a picture."""

import numpy as np
import pytest


@pytest.fixture
def map_of():
    """Make a map of n points in any dimension, from 1 to 3."""

    def make(n, n_dims=2):
        return (
            np.random.default_rng(n).normal(size=(n, n_dims)) * np.array([3.0, 1.0, 2.0])[:n_dims]
        )

    return make
