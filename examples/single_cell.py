"""Map 700 blood cells with scanpy and isosne, cluster them, and draw the map three times.

Run `python examples/single_cell.py [FILE.png]`. Needs `pip install scanpy igraph`. The cells are
those of `scanpy.datasets.pbmc68k_reduced`, which is part of scanpy: nothing is downloaded.
"""

import sys
from pathlib import Path

import scanpy as sc

import isosne.scanpy
from isosne.plots import plot_map, save_figure
from isosne.plots.figures import add_axes, new_figure
from isosne.quality import compare

MAPS = {"isosne": "X_isosne", "scanpy's t-SNE": "X_tsne", "UMAP": "X_umap"}


def main(target: Path) -> None:
    """Map and cluster the cells, compare three maps, and write the figure."""
    adata = sc.datasets.pbmc68k_reduced()
    isosne.scanpy.tsne(adata, affinities=True, trust=True)
    sc.tl.leiden(adata, obsp="isosne_connectivities", flavor="igraph", n_iterations=2)
    sc.tl.tsne(adata)
    for name, key in MAPS.items():
        kept = compare(adata.obsm["X_pca"], adata.obsm[key], k=10).trust().agreement.mean()
        print(f"{name:15} preserves {kept:.0%} of the 10 nearest neighbors")
    cells = adata.obsm["X_isosne"]
    trust = compare(adata.obsm["X_pca"], cells, k=10).trust()
    figure = new_figure(15.5, 4.8)
    axes = [add_axes(figure, 2, 1, 3, i) for i in (1, 2, 3)]
    colors = {"cell type": adata.obs["bulk_labels"].rename(""), "neighbors kept": trust}
    clusters = adata.obs["leiden"].to_numpy()
    plot_map(cells, clusters, annotate=True, title="Leiden clusters of the affinities", ax=axes[0])
    for ax, (title, color) in zip(axes[1:], colors.items(), strict=True):
        plot_map(cells, color, title=title, ax=ax)
    save_figure(figure, target, dpi=110)
    print(f"Wrote {target}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "single_cell.png"))
