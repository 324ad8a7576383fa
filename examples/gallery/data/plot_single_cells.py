"""
Single cells with scanpy
========================

:func:`isosne.scanpy.tsne` is called like ``scanpy.tl.tsne``. The 700 blood cells
of this example are part of scanpy. The map is computed from their principal
components.
"""

import scanpy as sc
from matplotlib import pyplot as plt

import isosne.scanpy

adata = sc.datasets.pbmc68k_reduced()
isosne.scanpy.tsne(adata, affinities=True, trust=True)
adata

# %%
# The affinities of the map are a neighbor graph, which ``scanpy.tl.leiden``
# clusters. The trust of a cell is the share of its 10 nearest neighbors that are
# also its 10 nearest neighbors in the map.

sc.tl.leiden(adata, obsp="isosne_connectivities", flavor="igraph", n_iterations=2)
figure, axes = plt.subplots(2, 2, figsize=(10, 7.5), layout="constrained")
for ax, color in zip(
    axes.flat, ["bulk_labels", "leiden", "CD79A", "isosne_trust"], strict=True
):
    sc.pl.embedding(adata, "isosne", color=color, ax=ax, show=False, frameon=False)

# %%
# :doc:`/scanpy` describes all options.
