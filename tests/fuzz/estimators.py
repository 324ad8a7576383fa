"""Area "estimator": strange points and parameters, new points, model files, more steps."""

from typing import Any

import numpy as np

from isosne import TSNE
from isosne.errors import IsosneError
from tests.fuzz.arrays import distances, draw_points, draw_shape
from tests.fuzz.case import BrokenPromiseError, Case
from tests.fuzz.parameters import draw_kernel, draw_schedule, draw_settings

NAMES = ("isolation", "owner", "gaussian", "adaptive", "knn", "precomputed")


def run(case: Case) -> None:
    """Fit an estimator, use it in every way, and hold it to its promises."""
    kernel = case.pick(*NAMES) if case.happens(0.3) else draw_kernel(case)
    shape = draw_shape(case)
    settings = draw_settings(case, shape[0])
    case.note(f"settings: {settings}")
    settings["schedule"] = draw_schedule(case)
    X = draw_input(case, kernel, shape)
    unchanged = X.copy() if isinstance(X, np.ndarray) else None
    model = TSNE(kernel, **settings)
    model.plan(X)
    model.fit(X)
    if unchanged is not None:
        same = np.array_equal(unchanged, X, equal_nan=X.dtype.kind in "fc")
        case.promise(same, "fit changed its input")
    n_points = len(model.landmark_indices_) if settings.get("landmarks") else len_of(X)
    n_components = int(settings.get("n_components", 2))
    case.promise_finite(model.embedding_, (n_points, n_components), "embedding_")
    case.promise(np.isfinite(model.kl_divergence_), f"the objective is {model.kl_divergence_}")
    use(case, model, X)


def draw_input(case: Case, kernel: Any, shape: tuple[int, int]) -> Any:
    """Return points, or distances where the kernel takes them."""
    is_given = "recomputed" in str(kernel)
    if not is_given and hasattr(kernel, "metric") and case.happens(0.1):
        kernel.set_params(metric="precomputed")
        is_given = True
    return distances(case, shape[0]) if is_given and case.happens(0.9) else draw_points(case, shape)


def use(case: Case, model: TSNE, X: Any) -> None:
    """Place new points, take further steps, and do the same with the model from a file."""
    new = (
        draw_points(case, (int(case.rng.integers(0, 6)), model.n_features_in_))
        if case.happens(0.7)
        else X
    )
    placed = model.transform(new)
    case.promise_finite(placed, (len_of(new), model.embedding_.shape[1]), "transform")
    path = case.path("model.isosne")
    model.save(path)
    try:
        read = TSNE.load(path)
    except IsosneError as error:
        raise BrokenPromiseError(f"a saved model is refused: {error}") from error
    same = np.array_equal(read.transform(new), placed)
    case.promise(same, "a loaded model places points elsewhere")
    if case.happens(0.5):
        read.continue_fit(2)
        case.promise_finite(read.embedding_, model.embedding_.shape, "continue_fit")


def len_of(points: Any) -> int:
    """Return the number of rows."""
    return points.shape[0] if hasattr(points, "shape") else len(points)
