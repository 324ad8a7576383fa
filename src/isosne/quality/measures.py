"""All measures of an embedding in one object, which prints as a table."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isosne._html import pairs_table
from isosne._numba import threads
from isosne._random import RandomState
from isosne._types import Array
from isosne.neighbors.metric import Metric
from isosne.quality import inputs
from isosne.quality.classes import calinski_harabasz, davies_bouldin, knn_accuracy_of
from isosne.quality.comparison import Comparison, compare_checked
from isosne.quality.inputs import Estimate
from isosne.quality.ranks import coarse_size
from isosne.rows import is_stored


@dataclass(frozen=True)
class ClassReport:
    """Class separation in the embedding; computed if labels are given."""

    n_classes: int
    davies_bouldin: float
    calinski_harabasz: float
    knn_accuracy: Estimate


@dataclass(frozen=True)
class Report:
    """Measures of an embedding. Prints as a table; ``as_dict`` returns plain values.

    ``n_features`` is None for a distance matrix. ``classes`` has ``n_classes``,
    ``davies_bouldin``, ``calinski_harabasz`` and ``knn_accuracy``; it is None without labels, or if
    class measures are undefined; ``class_note`` then gives the reason. The ``n_unlabeled`` points
    without a label are excluded from the class measures. ``comparison`` gives the R_NX curve and
    the trust without another rank comparison.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import report
    >>> report(np.eye(9, 2), np.eye(9, 2), k=3).as_dict()["auc_rnx"]
    1.0
    """

    n_points: int
    n_features: int | None
    n_components: int
    metric: str
    k: int
    n_queries: int
    auc_rnx: Estimate
    rnx: Estimate
    trustworthiness: Estimate
    continuity: Estimate
    neighbors_kept: Estimate
    coarse_kept: Estimate
    comparison: Comparison = field(repr=False, compare=False)
    n_unlabeled: int = 0
    class_note: str = ""
    classes: ClassReport | None = None

    @property
    def is_sampled(self) -> bool:
        """Whether the neighborhood measures are estimated from a sample of the points."""
        return self.n_queries < self.n_points

    def __repr__(self) -> str:
        rows = self.rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)

    def _repr_html_(self) -> str:
        return pairs_table(self.rows())

    def rows(self) -> list[tuple[str, str]]:
        """Return the name and the value of each measure, as text."""
        space = f"{self.n_features:,} dimensions" if self.n_features else "a distance matrix"
        evaluated = f"a sample of {self.n_queries:,} points" if self.is_sampled else "all points"
        rows = [
            ("points", f"{self.n_points:,} from {space} to {self.n_components}"),
            ("metric", self.metric),
            ("evaluated on", evaluated),
            ("AUC_RNX", str(self.auc_rnx)),
            (f"R_NX({self.k})", str(self.rnx)),
            (f"trustworthiness, k = {self.k}", str(self.trustworthiness)),
            (f"continuity, k = {self.k}", str(self.continuity)),
            (f"neighbors kept, of {self.k}", str(self.neighbors_kept)),
            (f"within {coarse_size(self.k, self.n_points)} on the map", str(self.coarse_kept)),
        ]
        if self.classes is not None:
            rows += [
                ("classes", f"{self.classes.n_classes:,}"),
                ("Davies-Bouldin", f"{self.classes.davies_bouldin:.4f}"),
                ("Calinski-Harabasz", f"{self.classes.calinski_harabasz:,.1f}"),
                (f"{self.k}-NN accuracy", str(self.classes.knn_accuracy)),
            ]
        if self.class_note:
            rows.append(("classes", f"not evaluated: {self.class_note}"))
        if self.n_unlabeled:
            rows.append(("unlabeled", f"{self.n_unlabeled:,} points, excluded from class measures"))
        return rows

    def as_dict(self) -> dict[str, Any]:
        """Return the measures as numbers and strings, with ``..._standard_error`` of estimates."""
        plain: dict[str, Any] = {"is_sampled": self.is_sampled}
        for name, value in (vars(self) | (vars(self.classes) if self.classes else {})).items():
            if isinstance(value, Estimate):
                plain[name] = value.value
                plain[f"{name}_standard_error"] = value.standard_error
            elif name not in ("comparison", "classes"):
                plain[name] = value
        return plain


def report(
    X: Any,
    Y: Any,
    labels: Any = None,
    *,
    k: int = 10,
    metric: str = "euclidean",
    p: float = 2.0,
    n_queries: Any = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Report:
    """Compute all measures of an embedding with one rank comparison.

    Parameters
    ----------
    X, Y, metric, p, n_queries, random_state, n_jobs
        See `compare`. X may also be a path or a Dask collection; the measures are then computed on
        a sample of 100,000 rows, and refer to that smaller data set.
    labels : array of shape (n_samples,) or None, default=None
        The class of each point, for the class measures; empty, None or NaN if it is unknown.
    k : int, default=10
        Neighborhood size, less than half of the number of points.

    Returns
    -------
    Report
        AUC_RNX over all k, R_NX(k), trustworthiness, continuity, and the mean fractions of the k
        nearest neighbors in the data that are among the k, and among the 10 k, nearest on the map.
        With labels also the Davies-Bouldin and Calinski-Harabasz indices of the embedding with its
        axes scaled to 0..1, and the k-NN accuracy. See `compare` for the cost.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import report
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> print(report(X, X[:, :2]))
    points                   200 from 3 dimensions to 2
    metric                   euclidean
    evaluated on             all points
    AUC_RNX                  0.4138
    R_NX(10)                 0.3983
    trustworthiness, k = 10  0.8419
    continuity, k = 10       0.9641
    neighbors kept, of 10    0.4285
    within 99 on the map     0.9990
    """
    if is_stored(X):
        X, Y, labels = inputs.draw_rows(X, Y, labels, random_state)
    checked = inputs.check_inputs(X, Y, k, Metric(metric, p), n_queries, random_state)
    (data, embedding), own, queries, k = checked
    n = data.shape[0]
    named = np.empty(0) if labels is None else inputs.check_label_shape(labels, n)
    labeled = np.flatnonzero(~inputs.is_unlabeled(named))
    note = "" if labels is None else _undefined_because(named[labeled], k)
    classes = None
    with threads(n_jobs):
        if labels is not None and not note:
            among_labeled = np.flatnonzero(np.isin(labeled, queries))
            classes = _measure_classes(embedding[labeled], named[labeled], k, among_labeled)
        comparison = compare_checked(*checked)
    trust = comparison.trust()
    return Report(
        n_points=n,
        n_features=None if own.name == "precomputed" else data.shape[1],
        n_components=embedding.shape[1],
        metric=own.name,
        k=k,
        n_queries=len(queries),
        auc_rnx=comparison.auc(),
        rnx=comparison.rnx(),
        trustworthiness=comparison.trustworthiness(),
        continuity=comparison.continuity(),
        neighbors_kept=inputs.estimate_mean(trust.agreement, n),
        coarse_kept=inputs.estimate_mean(trust.coarse, n),
        comparison=comparison,
        n_unlabeled=len(named) - len(labeled),
        class_note=note,
        classes=classes,
    )


def _undefined_because(labels: Array, k: int) -> str:
    """Return why class measures are undefined for known labels; empty if they are defined."""
    if len(labels) <= k:
        return f"k = {k} requires more than {k} labeled points, found {len(labels)}"
    return "all labeled points belong to one class" if (labels == labels[0]).all() else ""


def _measure_classes(Y: Array, labels: Array, k: int, queries: Array) -> ClassReport:
    """Measure the classes; all points are queries if fewer than two are given."""
    classes = inputs.check_labels(labels, len(Y))
    if len(queries) < 2:
        queries = np.arange(len(Y))
    return ClassReport(
        n_classes=len(classes.names),
        davies_bouldin=davies_bouldin(Y, labels),
        calinski_harabasz=calinski_harabasz(Y, labels),
        knn_accuracy=knn_accuracy_of(Y, classes, k, queries),
    )
