"""A study of some data: a map with either kernel, and what can be said of each.

`study` computes; `isosne.pages.render` only writes down. Maps that are there already are judged
with `judge` and put into a `Study` by hand.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from isosne._checks import check_points
from isosne._random import RandomState
from isosne.errors import DataError, ParameterError
from isosne.kernels.gaussian import GaussianKernel
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.registry import KERNELS
from isosne.plots.frames import check_embedding
from isosne.quality import Curve, Report, Trust, report, rnx_curve, trust
from isosne.studies.columns import as_columns, paint_labels
from isosne.tsne.estimator import TSNE

FEWEST = 4
"""Points that neighborhoods can be compared among."""
NEIGHBORS = 10
SILENT = ("callback", "memory_limit", "n_jobs", "verbose", "kernel", "random_state")
"""Settings that do not change a map, or that a report names elsewhere."""


@dataclass(frozen=True)
class JudgedMap:
    """A map and what was measured of it.

    ``plan`` and ``settings`` say how it was made; ``fit_seconds`` and ``measure_seconds`` how long
    it took, None where nobody looked.
    """

    title: str
    embedding: NDArray[np.float64]
    report: Report
    curve: Curve
    trust: Trust
    plan: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    fit_seconds: float | None = None
    measure_seconds: float | None = None


@dataclass(frozen=True)
class Study:
    """Maps of the same points, the one that matters first, with labels and columns beside them.

    ``origin`` says by name where the points come from; ``date`` is when they were mapped.
    """

    maps: tuple[JudgedMap, ...]
    labels: Any = None
    columns: Any = None
    title: str = "A map and how far to trust it"
    random_state: str = ""
    origin: Mapping[str, str] = field(default_factory=dict)
    date: str = ""

    def __post_init__(self) -> None:
        sizes = sorted({len(judged.embedding) for judged in self.maps})
        if len(sizes) != 1:
            came = f"{sizes[0]} and {sizes[-1]} points" if sizes else "none"
            raise ParameterError(
                f"maps must hold at least one map, and all of the same points; got {came}. "
                "Pass what judge returned for each map of the data."
            )


def study(
    X: Any,
    labels: Any = None,
    *,
    columns: Any = None,
    model: TSNE | None = None,
    title: str | None = None,
    origin: Mapping[str, str] | None = None,
    random_state: RandomState = 0,
) -> Study:
    """Map the points with the isolation kernel and with the Gaussian, and judge both maps.

    Parameters
    ----------
    X : array, CSR or data frame of shape (n_samples, n_features)
        The points, at least 4; for a kernel with ``metric="precomputed"``, their distances.
    labels : array of shape (n_samples,) or None, default=None
        The class of each point, empty or None where it has none. A series has its name told.
    columns : mapping from str to array, data frame or None, default=None
        What readers see of a point beside its label.
    model : TSNE or None, default=None
        Settings of the first map, unfitted. The second has the same ones with the Gaussian kernel
        (the isolation kernel, if the first is Gaussian), and the same metric.
    title : str or None, default=None
        Title of the report.
    origin : mapping from str to str or None, default=None
        What a reader must know to make the maps anew, such as ``{"input": "wine.csv"}``.
    random_state : int, Generator, RandomState or None, default=0
        Seed of both maps, unless the model has one of its own.

    Returns
    -------
    Study
        What `render` turns into a page.

    Notes
    -----
    Cost: two fits, and six comparisons of ranks as in `isosne.quality.rnx_curve`. Not in the paper.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isosne.studies import study
    >>> found = study(*load_iris(return_X_y=True))
    >>> [judged.title for judged in found.maps]
    ['Isolation kernel', 'Gaussian kernel']
    """
    points = check_points(X, min_rows=FEWEST)
    n = points.shape[0]
    paint_labels(labels, n, kind="labels")  # what a page would refuse is refused before the work
    as_columns(columns, n)
    first = _with_seed(model, random_state)
    maps = tuple(_map_and_judge(settings, points, labels) for settings in (first, _other(first, n)))
    return Study(
        maps,
        labels,
        columns,
        title=Study.title if title is None else title,
        random_state=_seed_text(first.random_state),
        origin=dict(origin or {}),
        date=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    )


def judge(
    X: Any,
    embedding: Any,
    labels: Any = None,
    *,
    title: str,
    metric: str = "euclidean",
    p: float = 2.0,
    plan: str = "",
    settings: Mapping[str, str] | None = None,
    fit_seconds: float | None = None,
    random_state: RandomState = 0,
) -> JudgedMap:
    """Measure a map that is there already, for a `Study`.

    Parameters
    ----------
    X : array, CSR or data frame of shape (n_samples, n_features)
        The points, at least 4.
    embedding : array of shape (n_samples, n_components)
        Their map.
    labels : array of shape (n_samples,) or None, default=None
        The class of each point.
    title : str
        What to call the map, such as "Isolation kernel".
    metric, p
        As in `isosne.quality.rnx_curve`.
    plan : str, default=""
        How the map was made, such as ``str(model.plan_)``.
    settings : mapping from str to str or None, default=None
        Further settings to state.
    fit_seconds : float or None, default=None
        How long the map took.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample that is measured above 20 000 points.

    Returns
    -------
    JudgedMap
        The map and its measures at neighborhoods of 10 points, or of fewer where there are few.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.studies import judge
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> judge(X, X[:, :2], title="first two columns").report.k
    10
    """
    began = time.perf_counter()
    Y = check_embedding(embedding)
    if len(Y) < FEWEST:
        raise DataError(
            f"A map must have at least {FEWEST} points to be judged; got {len(Y)}. "
            "Pass more points."
        )
    k = min(NEIGHBORS, (len(Y) - 1) // 2)
    common: dict[str, Any] = {"metric": metric, "p": p, "random_state": random_state}
    return JudgedMap(
        title=title,
        embedding=Y,
        report=report(X, Y, labels, k=k, **common),
        curve=rnx_curve(X, Y, **common),
        trust=trust(X, Y, k, **common),
        plan=plan,
        settings=dict(settings or {}),
        fit_seconds=fit_seconds,
        measure_seconds=time.perf_counter() - began,
    )


def _with_seed(model: TSNE | None, random_state: RandomState) -> TSNE:
    """Return unfitted settings that have a seed."""
    if model is None:
        return TSNE(random_state=random_state)
    if not isinstance(model, TSNE):
        raise ParameterError(
            f"model must be a TSNE or None; got {type(model).__name__}. "
            "Pass for example TSNE(IsolationKernel(psi=64))."
        )
    settings: TSNE = clone(model)
    if settings.random_state is None:
        settings.set_params(random_state=random_state)
    return settings


def _seed_text(random_state: RandomState) -> str:
    is_number = isinstance(random_state, int | np.integer)
    return str(random_state) if is_number else "drawn anew; pass a number to repeat the maps"


def _other(first: TSNE, n: int) -> TSNE:
    """Return the same settings with the Gaussian kernel, or with the isolation kernel for it."""
    kernel = KERNELS["isolation" if _is_gaussian(first) else "gaussian"].default(n)
    if not isinstance(first.kernel, str):
        kernel.set_params(metric=first.kernel.metric, p=first.kernel.p)
    other: TSNE = clone(first).set_params(kernel=kernel)
    return other


def _is_gaussian(model: TSNE) -> bool:
    return model.kernel == "gaussian" or isinstance(model.kernel, GaussianKernel)


def _map_and_judge(model: TSNE, points: Any, labels: Any) -> JudgedMap:
    began = time.perf_counter()
    model.fit(points)
    seconds = time.perf_counter() - began
    settings = {
        name: repr(value)
        for name, value in model.get_params(deep=False).items()
        if name not in SILENT
    }
    if isinstance(model.kernel_, IsolationKernel):
        settings = {"psi": ", ".join(map(str, model.kernel_.psi_)), **settings}
    kernel = type(model.kernel_).__name__.removesuffix("Kernel")
    seed = model.random_state
    return judge(
        points,
        model.embedding_,
        labels,
        title=f"{kernel} kernel",
        metric=model.kernel_.metric,
        p=model.kernel_.p,
        plan=str(model.plan_),
        settings=settings,
        fit_seconds=seconds,
        random_state=seed if isinstance(seed, int | np.integer) else 0,
    )
