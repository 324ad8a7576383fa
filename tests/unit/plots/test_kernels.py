"""Kernels in the plane: contours and cells."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection

from isosne import GaussianKernel, IsolationKernel
from isosne.plots import plot_cells, plot_contours

X = np.random.default_rng(0).random((60, 2))


def collections(ax, kind):
    return [found for found in ax.collections if type(found) is kind]


@pytest.mark.parametrize(
    "kernel",
    [
        IsolationKernel(8, n_partitions=20, random_state=0),
        IsolationKernel(8, n_partitions="exact"),
        GaussianKernel(10),
    ],
)
def test_contours_are_drawn_for_every_kernel(kernel):
    ax = plot_contours(kernel.fit(X), (0.5, 0.5), resolution=30)
    ax.figure.draw_without_rendering()
    points, cross = collections(ax, PathCollection)
    np.testing.assert_array_equal(points.get_offsets(), X)
    np.testing.assert_array_equal(cross.get_offsets(), [[0.5, 0.5]])
    assert ax.figure.axes[1].get_ylabel() == "similarity to the cross"


def test_contours_enclose_the_center():
    ax = plot_contours(GaussianKernel(10).fit(X), (0.4, 0.6), resolution=60)
    lines = [c for c in ax.collections if not isinstance(c, PathCollection)][1]
    widest = next(path for path in lines.get_paths() if len(path.vertices))
    assert widest.contains_point((0.4, 0.6))


def test_cells_have_the_sampled_points_for_centers():
    kernel = IsolationKernel([8, 5], n_partitions=3, random_state=0).fit(X)
    for partition, samples in (
        (1, kernel.partitions_[0].samples[1]),
        (4, kernel.partitions_[1].samples[1]),
    ):
        centers = collections(plot_cells(kernel, partition), PathCollection)[-1]
        np.testing.assert_array_equal(centers.get_offsets(), X[samples])


def test_edges_of_cells_are_as_far_from_two_centers():
    kernel = IsolationKernel(12, n_partitions=1, random_state=0).fit(X)
    (edges,) = collections(plot_cells(kernel), LineCollection)
    centers = X[kernel.partitions_[0].samples[0]]
    middles = np.array([path.vertices.mean(axis=0) for path in edges.get_paths()])
    near = middles[np.abs(middles).max(axis=1) < 2]
    distances = np.sort(np.linalg.norm(near[:, None] - centers, axis=2), axis=1)
    assert len(near) > 12
    np.testing.assert_allclose(distances[:, 0], distances[:, 1], rtol=1e-9)


def test_cells_of_copies_and_of_points_on_a_line_are_drawn():
    line = np.column_stack([np.repeat(np.arange(5.0), 2), np.zeros(10)])
    plot_cells(IsolationKernel(6, n_partitions=2, random_state=0).fit(line))


def test_spheres_reach_to_the_nearest_other_center():
    kernel = IsolationKernel(12, n_partitions=1, partition="spheres", random_state=0).fit(X)
    (circles,) = collections(plot_cells(kernel), LineCollection)
    centers = X[kernel.partitions_[0].samples[0]]
    distances = np.linalg.norm(centers[:, None] - centers, axis=2)
    radii = np.sort(distances, axis=1)[:, 1]
    for path, center, radius in zip(circles.get_paths(), centers, radii, strict=True):
        found = np.linalg.norm(path.vertices - center, axis=1)
        np.testing.assert_allclose(found, radius, rtol=1e-9)
