"""Options for clusters, outliers and the null test, and the columns that they compute."""

from dataclasses import dataclass
from typing import Annotated, Any

from isosne.cli.options import STRUCTURE, option
from isosne.errors import ParameterError, keyword


@dataclass(frozen=True)
class StructureOptions:
    """What to compute beside the map."""

    clusters: Annotated[
        bool,
        option(
            "Add a column cluster: the Leiden algorithm on the joint probabilities.",
            "--clusters",
            panel=STRUCTURE,
        ),
    ] = False
    resolution: Annotated[
        float | None,
        option(
            "Resolution of the clusters; higher values give more of them.",
            panel=STRUCTURE,
            default="0.5",
            metavar="X",
        ),
    ] = None
    outliers: Annotated[
        bool,
        option(
            "Add a column outlier_score: 0 for the most typical rows, up to 1 for outliers.",
            "--outliers",
            panel=STRUCTURE,
        ),
    ] = False

    def check(self) -> None:
        """Refuse a resolution without clusters."""
        if self.resolution is not None and not self.clusters:
            rule = f"be used together with {keyword('clusters')}"
            hint = f"Add {keyword('clusters')}, or leave out {keyword('resolution')}."
            raise ParameterError("resolution", rule, self.resolution, hint)


@dataclass(frozen=True)
class Found:
    """Columns about the points by name, what is recorded of them, and sentences about them."""

    columns: dict[str, Any]
    about: dict[str, Any]
    sentences: dict[str, str]


def find_structure(
    source: Any, kernel: Any, points: Any, options: StructureOptions, random_state: Any
) -> Found:
    """Return the clusters and the outlier scores of points, as chosen.

    source: the points, or a model fitted to them, which has their joint probabilities.
    """
    found = Found({}, {}, {})
    if options.clusters:
        _add_clusters(source, kernel, options.resolution, random_state, found)
    if options.outliers:
        _add_outliers(kernel, points, random_state, found)
    return found


def _add_clusters(
    source: Any, kernel: Any, resolution: float | None, random_state: Any, found: Found
) -> None:
    from isosne.clusters import LeidenClustering

    clusters = LeidenClustering(kernel, random_state=random_state)
    if resolution is not None:
        clusters.set_params(resolution=resolution)
    clusters.fit(source)
    found.columns["cluster"] = clusters.labels_
    found.about["clusters"] = {
        "resolution": float(clusters.resolution),
        "n_clusters": clusters.n_clusters_,
        "modularity": clusters.modularity_,
        "stability": clusters.stability_,
        "cluster_stability": clusters.cluster_stability_.tolist(),
    }
    s = "" if clusters.n_clusters_ == 1 else "s"
    found.sentences["clusters"] = (
        f"{clusters.n_clusters_:,} cluster{s} at resolution {clusters.resolution:g}. Runs with "
        f"different seeds agree to {clusters.stability_:.2f} (mean adjusted Rand index; 1 is "
        "complete agreement)."
    )


def _add_outliers(kernel: Any, points: Any, random_state: Any, found: Found) -> None:
    from isosne.outliers import IsolationOutliers

    outliers = IsolationOutliers(metric=kernel.metric, p=kernel.p, random_state=random_state)
    scores = outliers.fit(points).score_samples(points)
    n_outliers = int((scores < outliers.offset_).sum())
    found.columns["outlier_score"] = 1 - scores / scores.max()
    found.about["outliers"] = {"psi": outliers.psi, "n_outliers": n_outliers}
    found.sentences["outliers"] = (
        f"{n_outliers:,} of {len(scores):,} rows are likely outliers: their similarity to the data "
        "is less than a quarter of the median."
    )


def add_null_test(kernel: Any, points: Any, n_draws: int, random_state: Any, found: Found) -> None:
    """Add a p-value per point, and the sentences of the test."""
    from isosne.studies import null_test

    test = null_test(points, kernel, n_draws=n_draws, random_state=random_state)
    found.columns["null_p"] = test.point_p_values
    found.sentences["null test"] = str(test)
