"""Area "kernel": kernels without TSNE, and the nearest-neighbor search."""

from typing import Any

import numpy as np

from isosne import IsolationKernel, nearest_neighbors
from isosne._checks import METRICS
from tests.fuzz.arrays import draw_points, draw_shape
from tests.fuzz.case import Case
from tests.fuzz.estimators import draw_input, len_of
from tests.fuzz.parameters import COUNTS, POWERS, WRONG, draw_kernel


def run(case: Case) -> None:
    """Fit a kernel and compare points with it, or search for neighbors."""
    if case.happens(0.2):
        search(case)
        return
    kernel = draw_kernel(case)
    X = draw_input(case, kernel, draw_shape(case))
    kernel.fit(X)
    n = len_of(X)
    check_similarity(case, kernel.similarity(), (n, n))
    new = draw_points(case, (int(case.rng.integers(0, 6)), kernel.X_fit_.shape[1]))
    if case.happens(0.5):
        K = kernel.similarity(new)
        check_similarity(case, K, (n if new is None else len_of(new), n))
    elif isinstance(kernel, IsolationKernel):
        use_cells(case, kernel, new)


def check_similarity(case: Case, K: Any, shape: tuple[int, int]) -> None:
    """Hold a matrix of similarities to what every kernel promises."""
    case.promise_finite(K, shape, "similarity")
    case.promise(K.size == 0 or K.min() >= 0, "a similarity is negative")


def use_cells(case: Case, kernel: IsolationKernel, new: Any) -> None:
    """Compare the feature map of new points with their counts of shared cells."""
    counts = kernel.counts(new)
    features = kernel.transform(new)
    shape = len(counts) if new is None else len_of(new), kernel.X_fit_.shape[0]
    case.promise(counts.shape == shape, f"counts has shape {counts.shape} instead of {shape}")
    if len(kernel.psi_) == 1:
        products = (features @ kernel.transform(kernel.X_fit_).T).toarray()
        case.promise(np.array_equal(products, counts), "feature map and counts differ")


def search(case: Case) -> None:
    """Find neighbors: as many as were asked for, none of them the point itself."""
    X = draw_points(case)
    wrong = case.happens(0.1)
    options = {
        "metric": case.pick(*METRICS),
        "p": case.pick(*WRONG, 2) if wrong else case.pick(*POWERS),
        "method": case.pick("exact", "approximate"),
    }
    k = case.pick(*WRONG) if case.happens(0.05) else case.pick(*COUNTS)
    case.note(f"k={k} {options}")
    found = nearest_neighbors(X, k, **options)
    shape = len_of(X), int(k)
    case.promise_finite(found.distances, shape, "distances")
    case.promise(found.indices.shape == shape, f"indices has shape {found.indices.shape}")
    ids = np.sort(np.column_stack([found.indices, np.arange(shape[0])]), axis=1)
    case.promise(np.all(np.diff(ids, axis=1) > 0), "a neighbor is found twice, or is the point")
    case.promise(ids.min() >= 0 and ids.max() < shape[0], "a neighbor does not exist")
    case.promise(np.all(np.diff(found.distances, axis=1) >= 0), "neighbors are not in order")
