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
    sentences: list[str]


def find_structure(model: Any, options: StructureOptions, random_state: Any) -> Found:
    """Return the clusters and the outlier scores of the points of a fitted model, as chosen."""
    found = Found({}, {}, [])
    if options.clusters:
        _add_clusters(model, options.resolution, random_state, found)
    if options.outliers:
        _add_outliers(model, random_state, found)
    return found


def _add_clusters(model: Any, resolution: float | None, random_state: Any, found: Found) -> None:
    from isosne.clusters import LeidenClustering

    clusters = LeidenClustering(random_state=random_state)
    if resolution is not None:
        clusters.set_params(resolution=resolution)
    clusters.fit(model)
    found.columns["cluster"] = clusters.labels_
    found.about["clusters"] = {
        "resolution": float(clusters.resolution),
        "n_clusters": clusters.n_clusters_,
        "modularity": clusters.modularity_,
        "stability": clusters.stability_,
        "cluster_stability": clusters.cluster_stability_.tolist(),
    }
    n, s = clusters.n_clusters_, "" if clusters.n_clusters_ == 1 else "s"
    found.sentences.append(
        f"{n:,} cluster{s}; runs with different seeds agree to {clusters.stability_:.2f} (mean "
        "adjusted Rand index)"
    )


def _add_outliers(model: Any, random_state: Any, found: Found) -> None:
    from isosne.kernels.precomputed import PrecomputedKernel
    from isosne.outliers import IsolationOutliers

    kernel = model.kernel_
    if isinstance(kernel, PrecomputedKernel):
        rule = f"be left out with {keyword('kernel', 'precomputed')}, which has no points"
        raise ParameterError("outliers", rule, hint="Leave it out.")
    outliers = IsolationOutliers(metric=kernel.metric, p=kernel.p, random_state=random_state)
    scores = outliers.fit(kernel.X_fit_).score_samples(kernel.X_fit_)
    n_outliers = int((scores < outliers.offset_).sum())
    found.columns["outlier_score"] = 1 - scores / scores.max()
    found.about["outliers"] = {"psi": outliers.psi, "n_outliers": n_outliers}
    found.sentences.append(
        f"{n_outliers:,} of {len(scores):,} rows have less than a quarter of the median similarity "
        "to the data: likely outliers"
    )
