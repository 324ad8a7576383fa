"""Every measure of a map in one object that prints as a table."""

import json
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from isosne._numba import threads
from isosne._random import RandomState
from isosne._types import Array
from isosne.neighbors.distances import Metric
from isosne.quality.clusters import (
    calinski_harabasz_of,
    davies_bouldin_of,
    knn_accuracy_of,
)
from isosne.quality.inputs import (
    Classes,
    check_k,
    check_label_shape,
    check_labels,
    check_pair,
    draw_rows,
)
from isosne.quality.labels import is_unlabeled
from isosne.quality.neighborhoods import compare
from isosne.quality.sampling import Estimate, choose_queries
from isosne.sources import is_stored


@dataclass(frozen=True)
class ClassReport:
    """Measures that need labels."""

    n_classes: int
    davies_bouldin: float
    calinski_harabasz: float
    knn_accuracy: Estimate


@dataclass(frozen=True)
class Report:
    """Measures of a map. Prints as a table; ``as_dict`` and ``to_json`` give plain values.

    ``n_features`` is None for points known by their distances, ``classes`` None without labels, or
    where they cannot be measured: ``class_note`` says why. Points without a label (empty, None or
    NaN), ``n_unlabeled`` of them, are left out of the measures of classes.
    """

    n_points: int
    n_features: int | None
    n_components: int
    metric: str
    k: int
    n_queries: int
    auc_rnx: Estimate
    trustworthiness: Estimate
    continuity: Estimate
    n_unlabeled: int = 0
    class_note: str = ""
    classes: ClassReport | None = None

    @property
    def is_sampled(self) -> bool:
        """Whether the means were taken over a sample of the points."""
        return self.n_queries < self.n_points

    def __str__(self) -> str:
        space = f"{self.n_features:,} dimensions" if self.n_features else "a distance matrix"
        asked = f"{self.n_queries:,} points, a sample" if self.is_sampled else "all points"
        rows = [
            ("points", f"{self.n_points:,} from {space} to {self.n_components}"),
            ("metric", self.metric),
            ("measured at", asked),
            ("AUC_RNX", str(self.auc_rnx)),
            (f"trustworthiness, k = {self.k}", str(self.trustworthiness)),
            (f"continuity, k = {self.k}", str(self.continuity)),
        ]
        if self.classes is not None:
            rows += [
                ("classes", f"{self.classes.n_classes:,}"),
                ("Davies-Bouldin", f"{self.classes.davies_bouldin:.4f}"),
                ("Calinski-Harabasz", f"{self.classes.calinski_harabasz:,.1f}"),
                (f"{self.k}-NN accuracy", str(self.classes.knn_accuracy)),
            ]
        if self.class_note:
            rows.append(("classes", f"not measured: {self.class_note}"))
        if self.n_unlabeled:
            rows.append(("no label", f"{self.n_unlabeled:,} of the points, left out of classes"))
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers and text by name, the class measures beside the others.

        Returns
        -------
        dict
            A mean over points takes two entries: its value, and ``..._standard_error``.
        """
        flat = asdict(self)
        flat |= flat.pop("classes") or {}
        plain: dict[str, Any] = {"is_sampled": self.is_sampled}
        for name, value in flat.items():
            if isinstance(value, Estimate):
                plain[name] = value.value
                plain[f"{name}_standard_error"] = value.standard_error
            else:
                plain[name] = value
        return plain

    def to_json(self) -> str:
        """Return the dict as JSON text.

        Returns
        -------
        str
            One object, indented.
        """
        return json.dumps(self.as_dict(), indent=2, allow_nan=False)


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
    """Take every measure of a map, with one comparison of ranks for all.

    Parameters
    ----------
    X, Y, metric, p, n_queries, random_state, n_jobs
        As in `rnx_curve`. X may also be a path or a Dask collection: the measures are those of
        100 000 of its rows then, as `draw_rows` draws them.
    labels : array of shape (n_samples,) or None, default=None
        The class of each point, for the measures of classes; empty, None or NaN where it has none.
    k : int, default=10
        Size of a neighborhood, less than half of the number of points.

    Returns
    -------
    Report
        AUC_RNX over all k, trustworthiness and continuity; with labels also Davies-Bouldin and
        Calinski-Harabasz of the map with its axes scaled, and the accuracy of k nearest neighbors.

    Notes
    -----
    Departures from the paper: those of each measure. Cost: as `rnx_curve`.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import report
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> print(report(X, X[:, :2]))
    points                   200 from 3 dimensions to 2
    metric                   euclidean
    measured at              all points
    AUC_RNX                  0.4138
    trustworthiness, k = 10  0.8419
    continuity, k = 10       0.9641
    """
    if is_stored(X):
        X, Y, labels = draw_rows(X, Y, labels, random_state=random_state)
    data, drawn = check_pair(X, Y, metric, p)
    n = data.shape[0]
    k = check_k(k, n)
    labeling = _read_labels(labels, n, k)
    queries = choose_queries(n, n_queries, random_state)
    classes = None
    with threads(n_jobs):
        if labeling.classes is not None:
            rows = labeling.rows
            asked = _asked_among(rows, queries, n)
            classes = _measure_classes(drawn[rows], labeling.classes, k, asked)
        found = compare((data, drawn), Metric(metric, p), queries, k=k)
    return Report(
        n_points=n,
        n_features=None if metric == "precomputed" else data.shape[1],
        n_components=drawn.shape[1],
        metric=metric,
        k=k,
        n_queries=len(queries),
        auc_rnx=found.auc(),
        trustworthiness=found.trustworthiness(),
        continuity=found.continuity(),
        n_unlabeled=labeling.n_unlabeled,
        class_note=labeling.note,
        classes=classes,
    )


class Labeling(NamedTuple):
    """Points that have a label by their rows, their classes, or why these cannot be measured."""

    rows: Array
    n_unlabeled: int = 0
    classes: Classes | None = None
    note: str = ""


def _read_labels(labels: Any, n: int, k: int) -> Labeling:
    if labels is None:
        return Labeling(np.arange(0))
    array = check_label_shape(labels, n)
    missing = is_unlabeled(array)
    rows = np.flatnonzero(~missing)
    n_missing = n - len(rows)
    if len(rows) <= k:
        note = f"k = {k} needs more than the {len(rows)} points with a label"
        return Labeling(rows, n_missing, note=note)
    named = array[rows]
    if (named == named[0]).all():
        return Labeling(rows, n_missing, note="all points are of one, and it takes two to compare")
    return Labeling(rows, n_missing, check_labels(named, len(rows)))


def _asked_among(rows: Array, queries: Array, n: int) -> Array:
    """Return the places among the labeled rows at which queries lie; all, if these are too few."""
    if len(rows) == n:
        return queries
    asked = np.flatnonzero(np.isin(rows, queries))
    return asked if len(asked) > 1 else np.arange(len(rows))


def _measure_classes(Y: Array, classes: Classes, k: int, queries: Array) -> ClassReport:
    return ClassReport(
        n_classes=len(classes.names),
        davies_bouldin=davies_bouldin_of(Y, classes, scale=True),
        calinski_harabasz=calinski_harabasz_of(Y, classes, scale=True),
        knn_accuracy=knn_accuracy_of(Y, classes, k, queries),
    )
