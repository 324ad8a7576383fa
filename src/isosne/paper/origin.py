"""The figure of similarities to the origin: who is near a point that three clusters share."""

from isosne import GaussianKernel, IsolationKernel
from isosne._types import Array
from isosne.datasets import make_five_clusters
from isosne.paper.outputs import table, write_page, write_values
from isosne.paper.settings import SEED, Settings
from isosne.plots import plot_similarity_from, save_figure

VALUE = 250
TITLE = "Similarity of the points of three clusters to the origin they share"
EXPLANATION = (
    "The largest similarity of the origin to a point of cluster 1, and those to clusters 2 and 3 "
    "relative to it. The paper: about equal with the isolation kernel; far larger for the dense "
    "cluster with the Gaussian kernel."
)


def reproduce(settings: Settings) -> None:
    """Write the similarities as a picture, and their largest values as a table."""
    X, y = make_five_clusters(random_state=SEED)
    kernels = {
        f"Gaussian, perplexity {VALUE}": GaussianKernel(VALUE),
        f"isolation, psi {VALUE}": IsolationKernel(VALUE, n_partitions=200, random_state=SEED),
    }
    rows = {title: kernel.fit(X).similarity()[0] for title, kernel in kernels.items()}
    meets = (y < 3) & (X != 0).any(axis=1)
    axes = plot_similarity_from({title: row[meets] for title, row in rows.items()}, y[meets] + 1)
    save_figure(axes, settings.out / "similarity.png")
    values = {title: largest(row[meets], y[meets]) for title, row in rows.items()}
    lines = [[title, *(f"{number:.3g}" for number in v.values())] for title, v in values.items()]
    header = ["kernel", *next(iter(values.values()))]
    picture = "![similarities](similarity.png)"
    write_page(settings, "similarity", TITLE, [EXPLANATION, table(header, lines), picture])
    write_values(settings, "similarity", values)


def largest(similarity: Array, y: Array) -> dict[str, float]:
    """Return the largest similarity to cluster 1, and those to clusters 2 and 3 relative to it."""
    top = [float(similarity[y == label].max()) for label in range(3)]
    return {
        "cluster 1": top[0],
        "cluster 2 / cluster 1": top[1] / top[0],
        "cluster 3 / cluster 1": top[2] / top[0],
    }
