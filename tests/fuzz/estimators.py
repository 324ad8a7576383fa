"""Area "estimator": strange points and parameters, new points, model files, more steps."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

from isosne import (
    JSE,
    KL,
    TSNE,
    AdaptiveGaussianKernel,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    Landmarks,
    Mesh,
    NeRV,
    OwnerKernel,
    Phase,
    PrecomputedKernel,
    Schedule,
    Sparse,
    Tree,
    nearest_neighbors,
)
from isosne._checks import METRICS
from isosne.errors import IsosneError
from isosne.layout.schedules import ChangeBelow, RateFalls
from tests.fuzz.case import Case

WRONG = (
    *(None, True, -1, 0, 0.5, 10**30, -1e300, float("nan"), float("inf"), 1j),
    *("", "none", "2", b"x", [], [None], {}, (), object(), np.float64(2), np.int8(-1)),
    *(np.array([]), np.array([[1, 2], [3, 4]]), np.array(3), TSNE, print, range(3), {1}),
    *(np.arange(300).reshape(100, 3), "x" * 5000, "two\nlines"),
)
"""Values that are wrong for nearly every parameter."""
SCALES = (1, 2, 9.5, 30, [2, 4], (1.0, 3.0, 8.0), np.float32(3), 1e-3, 38)
COUNTS = (1, 2, 3, 7, 20, 39, np.int32(4))
POWERS = (1, 1.5, 2, 50.0, 1e6)
RANDOM = (0, 7, None, np.random.default_rng(0), np.random.RandomState(0), np.uint8(3), 2**32)
METRIC = {"metric": tuple(METRICS), "p": POWERS}
ISOLATION = {
    "psi": (2, 3, 16, 40, 0.5, 1.0, [2, 5], (0.2, 0.8), "auto", np.int64(3), 1, [3, 3]),
    "n_partitions": (1, 2, 7, 20, 255, 256, "exact", "auto"),
    "partition": ("voronoi", "forest", "spheres"),
    "random_state": RANDOM,
}
KERNELS = (
    (IsolationKernel, ISOLATION | METRIC),
    (OwnerKernel, {"cell_size": ("auto", *SCALES), "random_state": RANDOM, **METRIC}),
    (GaussianKernel, {"perplexity": SCALES, **METRIC}),
    (AdaptiveGaussianKernel, {"k": COUNTS, **METRIC}),
    (KNNKernel, {"k": COUNTS, **METRIC}),
    (PrecomputedKernel, {}),
)
PHASE = {
    "exaggeration": (1, 4.0, 12, 0.5, 0, -1, 1e9),
    "momentum": (0, 0.5, 0.99, 1, 2, -1),
    "step": (0, 1e-3, 1, 1e3, 1e30, None),
    "last_exaggeration": (None, 1, 0.5, 0),
    "stop": (RateFalls(), ChangeBelow(), RateFalls(0, 1, 0), ChangeBelow(0, 1, 1.0)),
}
SETTINGS = {
    "n_components": (1, 2, 3, np.int64(2)),
    "objective": ("kl", "nerv", "jse", KL(dof=0.01), KL(dof=np.inf), NeRV(0, dof=10), JSE(1e-9)),
    "exaggeration": (None, 1, 2.5, 1e6),
    "start": ("auto", "pca", "spectral", "random", np.zeros((9, 2)), np.full((20, 2), 1e30)),
    "affinities": ("auto", "dense", "sparse", "sampled", Sparse("exact"), Sparse("approximate")),
    "forces": ("auto", "exact", "mesh", "tree", Mesh(0.003), Mesh(0.2), Tree(0), Tree(1)),
    "landmarks": (None, 2, 5, 41, Landmarks(4, "spread")),
    "memory_limit": (None, "2GB", 10**9, 1000),
    "random_state": RANDOM,
    "n_jobs": (1, None, 2),
}
DTYPES = ("bool", "int8", "uint8", "uint64", "float16", "f4", ">f8", "longdouble", "complex128")
VALUES = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "grid": lambda rng, shape: rng.integers(-1, 2, shape).astype(float),
    "two rows": lambda rng, shape: rng.normal(size=(2, shape[1]))[rng.integers(0, 2, shape[0])],
    "scales": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.integers(-12, 13, shape[1]),
    "huge": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.integers(100, 308),
    "denormal": lambda rng, shape: rng.integers(-5, 6, shape) * 5e-324,
    "far apart": lambda rng, shape: 1e15 * rng.integers(0, 2, (shape[0], 1)) + rng.random(shape),
    "zeros": lambda rng, shape: np.zeros(shape),
    "bad": lambda rng, shape: rng.choice([1.0, np.nan, np.inf, 1e308], shape),
}
CONTAINERS = {
    "list": lambda X: X.tolist(),
    "reversed": lambda X: X[::-1, ::-1],
    "masked": lambda X: np.ma.masked_less(X, 0),
    "text": lambda X: X.astype(str),
    "object": lambda X: X.astype(object),
    "csr": lambda X: sparse.csr_array(X.real.astype(float)),
    "broken csr": lambda X: _broken(sparse.csr_array(X.real.astype(float))),
    "frame": lambda X: pd.DataFrame(X.real.astype(float)).assign(extra="x"),
    "polars": lambda X: pl.DataFrame({f"c{k}": c for k, c in enumerate(X.real.astype(float).T)}),
    "flat": np.ravel,
    "dates": lambda X: np.full(X.shape, np.datetime64("2020-01-01")),
    "ragged": lambda X: [*X.tolist(), [1.0]],
    "word": lambda X: "no such file",
}


def _broken(X):
    """Return a matrix whose indices lead nowhere: SciPy does not check later changes."""
    X.indices[:1] = 2**31 - 1
    X.indptr[1:2] = 10**6
    return X


def draw(case: Case, names: dict[str, tuple], share: float) -> dict[str, Any]:
    """Return values for a share of the names; a few are wrong."""
    chosen = {name: values for name, values in names.items() if case.happens(share)}
    return {name: case.pick(*(WRONG if case.happens(0.03) else v)) for name, v in chosen.items()}


def draw_points(case: Case, shape: tuple[int, int]) -> Any:
    """Return points, as an array or in another container."""
    name = case.pick(*VALUES) if case.happens(0.5) else "normal"
    X = np.asarray(VALUES[name](case.rng, shape), np.float64)
    with np.errstate(all="ignore"):
        X = X.astype(case.pick(*DTYPES)) if case.happens(0.4) else X
    container = case.pick(*CONTAINERS) if case.happens(0.4) else "array"
    case.note(f"points: {name} {shape} {X.dtype} {container}")
    return CONTAINERS.get(container, lambda X: X)(X)


def run_estimator(case: Case) -> None:
    """Fit an estimator, use it in every way, and hold it to its promises."""
    kind, names = case.pick(*KERNELS)
    kernel = kind(**draw(case, names, 0.5))
    few = (0, 1, 2, 3) if case.happens(0.1) else range(4, 41)
    shape = case.pick(*few), case.pick(0, *range(1, 7))
    X = draw_points(case, shape)
    if "precomputed" in str(kernel) and case.happens(0.8):
        points = case.rng.normal(size=(shape[0], 2))
        X = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    settings = {"random_state": 0} | draw(case, SETTINGS, 0.2)
    case.note(f"{kernel!r} {settings}")
    phase = Phase(3) if case.happens(0.5) else Phase(case.pick(0, 3, 7), **draw(case, PHASE, 0.25))
    if case.happens(0.2):
        compare(case, kernel, X)
        return
    model = TSNE(kernel, schedule=Schedule((phase,)), **settings)
    model.plan(X)
    model.fit(X)
    n_points = len(getattr(model, "landmark_indices_", range(len_of(X))))
    case.promise_finite(model.embedding_, (n_points, int(model.n_components)), "embedding_")
    case.promise(np.isfinite(model.kl_divergence_), f"the objective is {model.kl_divergence_}")
    new = draw_points(case, (case.pick(*range(6)), model.n_features_in_))
    new = new if case.happens(0.7) else X
    placed = model.transform(new)
    case.promise_finite(placed, (len_of(new), model.embedding_.shape[1]), "transform")
    path = case.path("model.isosne")
    model.save(path)
    try:
        stored = TSNE.load(path)
    except IsosneError as error:
        raise AssertionError(f"a saved model is refused: {error}") from error
    same = np.array_equal(stored.transform(new), placed)
    case.promise(same, "a loaded model places points elsewhere")
    stored.continue_fit(2)
    case.promise_finite(stored.embedding_, model.embedding_.shape, "continue_fit")


def compare(case: Case, kernel: Any, X: Any) -> None:
    """Fit a kernel alone, and search for neighbors."""
    K = kernel.fit(X).similarity()
    case.promise_finite(K, (len_of(X), len_of(X)), "similarity")
    case.promise(K.min() >= 0, "a similarity is negative")
    k = case.pick(*COUNTS, *WRONG[:6])
    lists = nearest_neighbors(X, k, metric=kernel.metric, p=kernel.p)
    case.promise_finite(lists.distances, (len_of(X), int(k)), "distances")
    ids = np.sort(np.column_stack([lists.indices, np.arange(len_of(X))]), axis=1)
    case.promise(np.all(np.diff(ids, axis=1) > 0), "a neighbor is found twice, or is the point")


def len_of(points: Any) -> int:
    """Return the number of rows."""
    return points.shape[0] if hasattr(points, "shape") else len(points)
