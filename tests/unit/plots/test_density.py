"""Lines of equal density: the fractions that they enclose."""

import numpy as np

from isosne.plots import plot_map
from isosne.plots.density import ENCLOSED, GRID, estimate_density, find_levels

LIMITS = np.array([[-4.0, 4.0], [-4.0, 4.0]])


def test_levels_enclose_the_stated_fractions_of_the_points():
    Y = np.random.default_rng(0).normal(size=(5000, 2)).clip(-3.9, 3.9)
    density = estimate_density(Y, LIMITS)
    np.testing.assert_allclose(density.sum(), 5000, rtol=1e-3)  # some leaves the grid
    levels = find_levels(density, Y, LIMITS)
    # The lines of a normal distribution are circles of radius r with 1 - exp(-r^2 / 2) inside.
    for level, fraction in zip(levels, ENCLOSED, strict=True):
        area = (density > level).sum() * (8 / GRID) ** 2
        np.testing.assert_allclose(np.sqrt(area / np.pi), np.sqrt(-2 * np.log(1 - fraction)), 0.1)


def test_coinciding_points_have_one_line():
    Y = np.zeros((50, 2))
    density = estimate_density(Y, LIMITS)
    (level,) = find_levels(density, Y, LIMITS)
    assert 0 < level < density.max()
    plot_map(Y, contours=True).figure.canvas.draw()


def test_lines_are_drawn_over_the_points_within_the_same_limits(map_of):
    plain, ax = plot_map(map_of(300)), plot_map(map_of(300), contours=True)
    assert len(ax.collections) == len(plain.collections) + 1
    assert len(ax.collections[-1].levels) == len(ENCLOSED)
    assert (ax.get_xlim(), ax.get_ylim()) == (plain.get_xlim(), plain.get_ylim())
