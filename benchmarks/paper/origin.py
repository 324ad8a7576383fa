"""Figure of section 3.1: similarity of the origin, which three clusters share, to their points."""

from benchmarks.paper.artifacts import format_table, write_json, write_markdown
from benchmarks.paper.settings import SEED, Settings
from isosne import GaussianKernel, IsolationKernel
from isosne._types import Array
from isosne.datasets import make_five_clusters
from isosne.plots import plot_similarity_from, save_figure

VALUE = 250
"""Perplexity and psi of the paper's figure."""
TITLE = "Similarity of three clusters to the origin that they share"
EXPLANATION = (
    "The largest similarity of the origin to a point of cluster 1, and those to clusters 2 and 3 "
    "relative to it. The paper: about equal with the isolation kernel; much larger for the dense "
    "cluster with the Gaussian kernel."
)


def reproduce(settings: Settings) -> None:
    """Write a figure of the similarities, and a table of their largest values."""
    X, y = make_five_clusters(random_state=SEED)
    kernels = {
        f"Gaussian, perplexity {VALUE}": GaussianKernel(VALUE),
        f"isolation, psi {VALUE}": IsolationKernel(VALUE, n_partitions=200, random_state=SEED),
    }
    rows = {title: kernel.fit(X).similarity()[0] for title, kernel in kernels.items()}
    shared = (y < 3) & (X != 0).any(axis=1)  # clusters 1 to 3, without the origin itself
    axes = plot_similarity_from({title: row[shared] for title, row in rows.items()}, y[shared] + 1)
    save_figure(axes, settings.out / "similarity.png")
    values = {title: find_largest(row[shared], y[shared]) for title, row in rows.items()}
    lines = [[title, *(f"{number:.3g}" for number in v.values())] for title, v in values.items()]
    header = ["kernel", *next(iter(values.values()))]
    picture = "![similarities](similarity.png)"
    write_markdown(
        settings, "similarity", TITLE, [EXPLANATION, format_table(header, lines), picture]
    )
    write_json(settings, "similarity", values)


def find_largest(similarity: Array, y: Array) -> dict[str, float]:
    """Return the largest similarity to cluster 1, and those to clusters 2 and 3 relative to it."""
    top = [float(similarity[y == label].max()) for label in range(3)]
    return {
        "cluster 1": top[0],
        "cluster 2 / cluster 1": top[1] / top[0],
        "cluster 3 / cluster 1": top[2] / top[0],
    }
