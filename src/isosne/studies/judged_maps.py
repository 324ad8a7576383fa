"""Maps with their quality measures, and the comparison of two kernels on one data set.

`study` maps the data with two kernels and several seeds, and measures all maps; `compare_maps`
measures existing maps. `isosne.pages.write_report` writes a `Study` as a page.
"""

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from isosne._checks import check_count, check_points
from isosne._random import RandomState, as_generator, as_seed
from isosne.errors import ParameterError, keyword
from isosne.kernels.gaussian import GaussianKernel
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.registry import default_kernel
from isosne.plots.paint import check_embedding
from isosne.quality import Curve, Report, Trust, report
from isosne.quality.inputs import MIN_POINTS, as_measured, check_in_memory
from isosne.studies.point_columns import as_columns, paint_labels
from isosne.tsne.estimator import TSNE

N_NEIGHBORS = 10  # neighborhood size, the default of `isosne.quality.compare`
BY_SIZE = ((5_000, 5), (20_000, 3))  # points, and maps per kernel up to them: a matter of minutes
SIZES = ("small", "medium", "large")  # parts of the neighborhood sizes, each a third of log k
CLASS_MEASURES = ("davies_bouldin", "calinski_harabasz", "knn_accuracy")
UNLISTED = ("callback", "memory_limit", "n_jobs", "verbose", "kernel", "random_state")
"""Parameters that do not change a map, or that a report states elsewhere."""


@dataclass(frozen=True)
class JudgedMap:
    """A map with its quality measures.

    ``plan`` and ``settings`` state how it was computed, ``notes`` what distorts it; ``fit_seconds``
    and ``measure_seconds`` are run times, of several maps the shortest. ``repeats`` has the
    ``scores`` of further maps with the same settings and other seeds.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.studies import compare_maps
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> float(compare_maps(X, {"three times as large": 3 * X}).maps[0].report.auc_rnx)
    1.0
    """

    title: str
    embedding: NDArray[np.float64]
    report: Report
    curve: Curve
    trust: Trust
    measure_seconds: float
    fit_seconds: float | None = None
    plan: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    repeats: tuple[Mapping[str, float], ...] = ()

    @property
    def name(self) -> str:
        """The map in a sentence: "the Owner kernel", "the map umap.csv"."""
        return f"the {self.title}" if self.title.endswith("kernel") else f"the map {self.title}"

    @property
    def scores(self) -> tuple[Mapping[str, float], ...]:
        """The measures by name of this map, and of the maps with other seeds; NaN if unknown."""
        measured, classes = self.report, self.report.classes
        own = {
            "auc_rnx": measured.auc_rnx,
            **{f"auc_{part}": measured.comparison.auc(part) for part in SIZES},
            "neighbors_kept": measured.neighbors_kept,
            "coarse_kept": measured.coarse_kept,
            "trustworthiness": measured.trustworthiness,
            "continuity": measured.continuity,
            **{name: getattr(classes, name) if classes else math.nan for name in CLASS_MEASURES},
        }
        return own, *self.repeats


@dataclass(frozen=True)
class Study:
    """Maps of the same points, the most important one first, with labels and columns.

    ``origin`` states where the data come from, by name; ``date`` when the maps were computed.
    ``findings`` has sentences about the data by name, such as the result of a `null_test`, and
    ``notes`` sentences about columns that distort the maps.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.studies import compare_maps
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> [judged.title for judged in compare_maps(X, {"a": X, "b": X[:, ::-1]}).maps]
    ['a', 'b']
    """

    maps: tuple[JudgedMap, ...]
    labels: Any = None
    columns: Any = None
    title: str = "Map quality report"
    random_state: str = ""
    origin: Mapping[str, str] = field(default_factory=dict)
    date: str = ""
    findings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def study(
    X: Any,
    labels: Any = None,
    *,
    columns: Any = None,
    model: TSNE | None = None,
    title: str | None = None,
    origin: Mapping[str, str] | None = None,
    n_seeds: int | None = None,
    random_state: RandomState = 0,
    findings: Mapping[str, str] | None = None,
    notes: Iterable[str] = (),
) -> Study:
    """Map the data with two kernels and several seeds, and measure all maps.

    Parameters
    ----------
    X : array, CSR or data frame of shape (n_samples, n_features)
        The data, at least 4 points; the distance matrix for a kernel with
        ``metric="precomputed"``.
    labels : array of shape (n_samples,) or None, default=None
        The class of each point; empty or None if it is unknown. The name of a series is shown. They
        guide the map of a model with ``label_weight``.
    columns : mapping from str to array, data frame or None, default=None
        Additional data about the points, shown in the report.
    model : TSNE or None, default=None
        Settings of the first map, unfitted. The second map uses the same settings and metric with
        the Gaussian kernel, or with the default kernel of `TSNE` if the first is Gaussian.
    title : str or None, default=None
        Title of the report.
    origin : mapping from str to str or None, default=None
        Provenance of the data, shown in the report, such as ``{"input": "wine.csv"}``.
    n_seeds : int or None, default=None
        Number of maps per kernel. None: 5 up to 5,000 points, 3 up to 20,000, 1 above. With one
        map, the variation between seeds is unknown.
    random_state : int, Generator, RandomState or None, default=0
        First seed of both kernels, unless the model has its own; the others follow it. The seeds
        are drawn from a Generator or RandomState.
    findings : mapping from str to str or None, default=None
        Sentences about the structure of the data, shown in the report, such as
        ``{"null test": str(null_test(X))}``.
    notes : list of str, default=()
        Sentences about the columns, shown in the report besides those of ``TSNE.plan_``.

    Returns
    -------
    Study
        The first map of each kernel with its measures, and the measures of its further maps in
        ``repeats``; `isosne.pages.write_report` writes it as a page.

    Notes
    -----
    The standard errors say how much the measures vary with the seed, and with the sample of points
    above 20,000 points, which is the same for all maps; not how they would vary with other data. A
    report calls one map better than the other if the difference is significant (Welch's t-test, 5 %
    level) and exceeds twice its standard error.

    Cost: ``2 * n_seeds`` fits, and as many rank comparisons as in `isosne.quality.compare`. Of the
    further maps, only the measures are kept.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isosne import TSNE
    >>> from isosne.studies import study
    >>> found = study(*load_iris(return_X_y=True), model=TSNE("isolation"), n_seeds=2)
    >>> [(judged.title, len(judged.scores)) for judged in found.maps]
    [('Isolation kernel', 2), ('Gaussian kernel', 2)]
    """
    measured, metric = as_measured(X, "euclidean")
    points = X if metric == "gower" else check_points(X, min_rows=MIN_POINTS)
    n = points.shape[0]
    _check_about(labels, columns, n)
    n_seeds = resolve_n_seeds(n_seeds, n)
    first = _with_seed(model, random_state)
    seeds = list_seeds(first.random_state, n_seeds)
    maps = []
    for settings in (first, _with_other_kernel(first, n)):
        models = (clone(settings).set_params(random_state=seed) for seed in seeds)
        table = measured if metric == "gower" else None
        shown, *repeats = (_fit_and_judge(one, points, labels, seeds[0], table) for one in models)
        # The first fit of a process may include the compilation.
        names = ("fit_seconds", "measure_seconds")
        fastest = {name: min(getattr(m, name) for m in (shown, *repeats)) for name in names}
        scores = tuple(judged.scores[0] for judged in repeats)
        maps.append(replace(shown, repeats=scores, **fastest))
    about: dict[str, Any] = {
        "random_state": ", ".join(map(str, seeds)),
        "findings": dict(findings or {}),
    }
    about["notes"] = tuple(dict.fromkeys([*notes, *maps[0].notes]))
    return _make_study(maps, labels, columns, title, origin, **about)


def compare_maps(
    X: Any,
    maps: Mapping[str, Any],
    labels: Any = None,
    *,
    columns: Any = None,
    metric: str = "euclidean",
    p: float = 2.0,
    title: str | None = None,
    origin: Mapping[str, str] | None = None,
    random_state: RandomState = 0,
    notes: Iterable[str] = (),
) -> Study:
    """Measure existing maps of the same points, of any program.

    Parameters
    ----------
    X : array, CSR or data frame of shape (n_samples, n_features)
        The data, at least 4 points.
    maps : mapping from str to array of shape (n_samples, n_components)
        The maps by title, the most important one first, such as ``{"UMAP": Y, "t-SNE": Z}``.
    labels, columns, title, origin, notes
        See `study`.
    metric, p
        See `isosne.quality.compare`.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample of points that is evaluated above 20,000 points; the same for all maps.

    Returns
    -------
    Study
        The maps with their measures; `isosne.pages.write_report` writes it as a page.

    Notes
    -----
    Cost: one rank comparison as in `isosne.quality.compare` per map.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.studies import compare_maps
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> found = compare_maps(X, {"first columns": X[:, :2], "last columns": X[:, 1:]})
    >>> [judged.title for judged in found.maps]
    ['first columns', 'last columns']
    """
    if not maps:
        hint = "Pass a mapping from titles to maps."
        raise ParameterError("maps", "contain at least one map", hint=hint)
    check_in_memory(X)  # only a sample of a file would be measured
    measured, metric = as_measured(X, metric)
    points = check_points(measured, min_rows=MIN_POINTS)
    _check_about(labels, columns, points.shape[0])
    checked = {str(name): check_embedding(Y) for name, Y in maps.items()}
    how: dict[str, Any] = {"metric": metric, "p": p, "random_state": list_seeds(random_state, 1)[0]}
    judged = [_judge(points, Y, labels, name, **how) for name, Y in checked.items()]
    return _make_study(judged, labels, columns, title, origin, notes=tuple(notes))


def _check_about(labels: Any, columns: Any, n: int) -> None:
    """Raise before anything is computed if labels or columns are not those of n points."""
    paint_labels(labels, n, kind="labels")
    as_columns(columns, n)


def _make_study(
    maps: list[JudgedMap], labels: Any, columns: Any, title: str | None, origin: Any, **about: Any
) -> Study:
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    about |= {"title": title or Study.title, "origin": dict(origin or {}), "date": now}
    return Study(tuple(maps), labels, columns, **about)


def _judge(X: Any, Y: NDArray[np.float64], labels: Any, title: str, **how: Any) -> JudgedMap:
    """Measure a map; how: metric, p and random_state of `isosne.quality.report`."""
    began = time.perf_counter()
    k = min(N_NEIGHBORS, (X.shape[0] - 1) // 2)
    judged = judge_report(report(X, Y, labels, k=k, **how), Y, title)
    return replace(judged, measure_seconds=time.perf_counter() - began)


def judge_report(measured: Report, Y: NDArray[np.float64], title: str) -> JudgedMap:
    """Return a map that has been measured."""
    curve, trust = measured.comparison.curve(), measured.comparison.trust()
    return JudgedMap(title, Y, measured, curve, trust, 0.0)


def _with_seed(model: TSNE | None, random_state: RandomState) -> TSNE:
    if model is None:
        return TSNE(random_state=random_state)
    if not isinstance(model, TSNE):
        hint = "Pass, for example, TSNE(IsolationKernel(psi=64))."
        raise ParameterError("model", f"be a TSNE or None, not {type(model).__name__}", hint=hint)
    settings: TSNE = clone(model)
    if settings.random_state is None:
        settings.set_params(random_state=random_state)
    return settings


def _with_other_kernel(first: TSNE, n: int) -> TSNE:
    """Return the same settings with the Gaussian kernel, or for that with the default kernel."""
    own = first.kernel
    is_gaussian = own == "gaussian" if isinstance(own, str) else isinstance(own, GaussianKernel)
    kernel = default_kernel(str(TSNE().kernel) if is_gaussian else "gaussian", n)
    if not isinstance(own, str):
        kernel.set_params(metric=own.metric, p=own.p)
    other: TSNE = clone(first).set_params(kernel=kernel)
    return other


def resolve_n_seeds(n_seeds: Any, n_points: int) -> int:
    """Return the number of maps per kernel; None chooses it by the number of points."""
    if n_seeds is None:
        return next((number for limit, number in BY_SIZE if n_points <= limit), 1)
    hint = (
        "Pass the number of maps per kernel, or leave out "
        f"{keyword('n_seeds')} to choose it by the number of points."
    )
    return check_count(n_seeds, "n_seeds", low=1, hint=hint)


def list_seeds(random_state: RandomState, n_seeds: int) -> list[int]:
    """Return consecutive seeds from an integer on, or seeds drawn from a generator."""
    first = as_seed(random_state)
    generator = as_generator(first)  # raise if it is not a seed
    if isinstance(first, int | np.integer):
        return [int(first) + i for i in range(n_seeds)]
    return [int(seed) for seed in generator.integers(2**31, size=n_seeds)]


def _fit_and_judge(
    model: TSNE, points: Any, labels: Any, sample_seed: int, table: Any
) -> JudgedMap:
    """Fit and measure a map; table: points for Gower's distance, if the columns are mixed."""
    began = time.perf_counter()
    model.fit(points, labels)
    seconds = time.perf_counter() - began
    parameters = model.get_params(deep=False)
    settings = {name: repr(parameters[name]) for name in parameters if name not in UNLISTED}
    if isinstance(model.kernel_, IsolationKernel):
        settings = {"psi": ", ".join(map(str, model.kernel_.psi_)), **settings}
    judged = _judge(
        points if table is None else table,
        check_embedding(model.embedding_),
        labels,
        f"{type(model.kernel_).__name__.removesuffix('Kernel')} kernel",
        metric=model.kernel_.metric if table is None else "gower",
        p=model.kernel_.p,
        random_state=sample_seed,
    )
    about: dict[str, Any] = {"plan": str(model.plan_), "settings": settings}
    about["notes"] = model.plan_.notes
    return replace(judged, **about, fit_seconds=seconds)
