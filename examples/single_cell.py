"""Map 700 blood cells with scanpy and isosne, cluster them, and draw the map three times.

Run `python examples/single_cell.py [FILE.png]`. Needs `pip install scanpy igraph`. The cells are
those of `scanpy.datasets.pbmc68k_reduced`, which is part of scanpy: nothing is downloaded.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import scanpy as sc
from matplotlib import pyplot as plt

import isosne.scanpy
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
    figure, ((first, beside), (second, third)) = plt.subplots(
        2, 2, figsize=(8, 7.4), layout="constrained"
    )
    style = {"size": 40, "frameon": False, "show": False}
    sc.pl.embedding(adata, "isosne", color="bulk_labels", title="cell type", ax=first, **style)
    first.get_legend().set_in_layout(False)  # it has a panel of its own
    beside.set_axis_off()
    title = "Leiden clusters of the affinities"
    names = {"legend_loc": "on data", "legend_fontoutline": 2}
    sc.pl.embedding(adata, "isosne", color="leiden", title=title, ax=second, **names, **style)
    sc.pl.embedding(adata, "isosne", color="isosne_trust", title="trust", ax=third, **style)
    figure.savefig(target, dpi=130)
    print(f"Wrote {target}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "single_cell.png"))
