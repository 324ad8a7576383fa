"""
How the isolation kernel works
==============================

The isolation kernel draws ``psi`` of the points at random. Every point belongs to
the cell of the nearest drawn point. This is repeated ``n_partitions`` times, and
the similarity of two points is the share of the repetitions in which they are in
the same cell.
"""

import numpy as np
from matplotlib.figure import Figure

from isosne import IsolationKernel, plots

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(0, 0.25, (150, 2)), rng.normal((3, 0), 1.0, (150, 2))])
kernel = IsolationKernel(psi=16, n_partitions=200, random_state=0).fit(X)

figure = Figure(figsize=(10, 4), layout="constrained")
for partition, ax in enumerate(figure.subplots(1, 2)):
    plots.plot_cells(kernel, partition, ax=ax)
    ax.set_title(f"partitioning {partition + 1} of 200")
figure

# %%
# Cells are small where points are dense, so the similarity falls quickly with the
# distance in the dense cluster, and slowly in the sparse one. There is no bandwidth
# to choose.

figure = Figure(figsize=(10, 4), layout="constrained")
for center, ax in zip([(0, 0), (3, 0)], figure.subplots(1, 2), strict=True):
    plots.plot_contours(kernel, center, resolution=80, ax=ax)
figure

# %%
# ``transform`` returns a sparse feature map with one column per cell. The
# similarity is the inner product of two of its rows, divided by the number of
# partitionings, so the kernel is positive semidefinite and works in any linear
# method.

features = kernel.transform(X)
print(features.shape)
print(np.allclose((features @ features.T).toarray() / 200, kernel.similarity()))

# %%
# There are two other kinds of cells: leaves of isolation trees, and spheres around
# the drawn points that reach to the nearest other one. A point outside the sphere
# of its nearest drawn point is in no cell.

figure = Figure(figsize=(12, 3.4), layout="constrained")
for partition, ax in zip(
    ["voronoi", "forest", "spheres"], figure.subplots(1, 3), strict=True
):
    other = IsolationKernel(
        16, n_partitions=200, partition=partition, random_state=0
    )
    plots.plot_contours(other.fit(X), (3, 0), resolution=80, ax=ax)
    ax.set_title(partition)
figure

# %%
# Spheres of one partitioning.

spheres = IsolationKernel(16, partition="spheres", random_state=0).fit(X)
plots.plot_cells(spheres).figure
