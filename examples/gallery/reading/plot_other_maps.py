"""
Judge the map of another program
================================

All measures work on any map. Here, two maps of the same cells are compared: the
UMAP that is stored in scanpy's example data, and a map by isosne.
"""

import scanpy as sc

from isosne import TSNE, plots, quality
from isosne.studies import compare_maps

adata = sc.datasets.pbmc68k_reduced()
X = adata.obsm["X_pca"]
cell_type = adata.obs["bulk_labels"].astype(str).to_numpy()
maps = {
    "isosne": TSNE(random_state=0).fit_transform(X),
    "UMAP": adata.obsm["X_umap"],
}
axes = plots.plot_maps(maps, cell_type)
axes[0].figure

# %%
found = compare_maps(X, maps, cell_type)
for judged in found.maps:
    print(judged.title, judged.report, sep="\n", end="\n\n")

# %%
plots.plot_rnx(
    {name: quality.compare(X, Y).curve() for name, Y in maps.items()}
).figure

# %%
# On the command line::
#
#     isosne measure cells.h5ad cells.h5ad:X_umap --key X_pca --label bulk_labels
