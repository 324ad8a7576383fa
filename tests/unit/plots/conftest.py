"""Maps to draw, and what can be asked of a picture."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb


def entries(legend):
    return [text.get_text() for text in legend.get_texts()]


def contrast(color, background):
    """The contrast of WCAG 2, from 1 to 21; graphics need 3, texts 4.5."""
    rgb = np.array([to_rgb(color), to_rgb(background)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    low, high = np.sort(linear @ [0.2126, 0.7152, 0.0722])
    return (high + 0.05) / (low + 0.05)


@pytest.fixture
def map_of():
    """Make a map of n points in any dimension, from 1 to 3."""

    def make(n, n_dims=2):
        return (
            np.random.default_rng(n).normal(size=(n, n_dims)) * np.array([3.0, 1.0, 2.0])[:n_dims]
        )

    return make
