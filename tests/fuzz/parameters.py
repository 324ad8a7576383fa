"""Parameters of kernels and of TSNE, drawn from valid, unusual and invalid values."""

from collections.abc import Mapping
from typing import Any

import numpy as np

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
)
from isosne._checks import METRICS
from isosne.layout.schedules import ChangeBelow, RateFalls
from tests.fuzz.case import Case

WRONG = (
    *(None, True, -1, 0, 0.5, 10**30, -1e300, float("nan"), float("inf"), 1j),
    *("", "none", "2", b"x", [], [None], {}, (), object(), np.float64(2), np.int8(-1)),
    *(np.array([]), np.array([[1, 2], [3, 4]]), np.array(3), TSNE, print, range(3), {1}),
    *(np.arange(300).reshape(100, 3), "x" * 5000, "two\nlines"),
)
"""Values that are wrong for nearly every parameter."""
PSI = (2, 3, 5, 16, 40, 0.5, 0.9, 1.0, [2, 5], (0.2, 0.8), "auto", np.int64(3), 1, [3, 3])
N_PARTITIONS = (1, 2, 7, 20, 255, 256, "exact", "auto")
SCALES = (1, 1.0, 2, 5, 9.5, 30, [2, 4], (1.0, 3.0, 8.0), np.float32(3), 1e-3, 38)
COUNTS = (1, 2, 3, 7, 20, 39, np.int32(4))
POWERS = (1, 1.0, 1.5, 2, 3, 10, 50.0, 1000, 1e6)
DOF = (0.01, 0.5, 1, 2.0, 10, 1e6, float("inf"))


def draw_kernel(case: Case) -> Any:
    """Return a kernel with some parameters changed."""
    kind, names = case.pick(*KERNELS)
    chosen = _draw(case, names, 0.5, wrong=0.03)
    case.note(f"{kind.__name__} {chosen}")
    return kind(**chosen)


def draw_schedule(case: Case) -> Any:
    """Return a short schedule, mostly of one phase."""
    if case.happens(0.5):
        return Schedule((Phase(3),))
    phases = tuple(
        Phase(int(case.rng.integers(0, 8)), **_draw(case, PHASE, 0.25, wrong=0.01))
        for _ in range(int(case.rng.integers(0, 4) if case.happens(0.2) else 1))
    )
    return Schedule(
        phases,
        **_draw(case, {"min_gain": (0.01, 0, 1.0, -1), "bounded": (True, False)}, 0.1, wrong=0.05),
    )


def draw_settings(case: Case, n_rows: int) -> dict[str, Any]:
    """Return parameters of TSNE: most are left out, and a few are wrong."""
    settings: dict[str, Any] = {"random_state": int(case.rng.integers(9))}
    settings |= _draw(case, SETTINGS, 0.2, wrong=0.03)
    if case.happens(0.1):
        width = settings.get("n_components", 2)
        is_width = isinstance(width, int | np.integer) and width in (1, 2, 3)
        width = int(width) if is_width else 2  # True is 1
        start = case.rng.normal(size=(n_rows, width)) * case.pick(0, 1e-30, 1, 1e3, 1e30, np.nan)
        with np.errstate(invalid="ignore"):
            settings["start"] = start.astype(case.pick("f4", "f8", "i8", "O", "c16"))
    if case.happens(0.1):
        settings["landmarks"] = case.pick(2, 5, n_rows, n_rows + 1, Landmarks(4, "spread"))
    return settings


def call(case: Case, make: Any, names: Mapping[str, tuple[Any, ...]]) -> Any:
    """Return an object of isosne from drawn arguments."""
    return make(**_draw(case, names, 0.7, wrong=0.05))


def _draw(
    case: Case, names: Mapping[str, tuple[Any, ...]], share: float, *, wrong: float
) -> dict[str, Any]:
    """Return values for a share of the names; a function among the values is called."""
    chosen = {}
    for name, values in names.items():
        if case.happens(share):
            value = case.pick(*WRONG) if case.happens(wrong) else case.pick(*values)
            chosen[name] = value(case) if isinstance(value, _Made) else value
    return chosen


class _Made:
    """A value that is drawn itself."""

    def __init__(self, make: Any, **names: tuple[Any, ...]) -> None:
        self.make, self.names = make, names

    def __call__(self, case: Case) -> Any:
        return call(case, self.make, self.names)


class Stop:
    """A callback that ends a run after two steps."""

    def __call__(self, state: Any) -> bool:
        return state.iteration >= 2


RANDOM = (0, 7, None, np.random.default_rng(0), np.random.RandomState(0), np.uint8(3), 2**32)
METRIC = {"metric": tuple(name for name in METRICS if name != "precomputed"), "p": POWERS}
KERNELS = (
    (
        IsolationKernel,
        {
            "psi": PSI,
            "n_partitions": N_PARTITIONS,
            "partition": ("voronoi", "forest"),
            **METRIC,
            "random_state": RANDOM,
        },
    ),
    (
        OwnerKernel,
        {
            "cell_size": ("auto", *SCALES),
            **METRIC,
            "random_state": RANDOM,
        },
    ),
    (GaussianKernel, {"perplexity": SCALES, **METRIC}),
    (AdaptiveGaussianKernel, {"k": COUNTS, **METRIC}),
    (KNNKernel, {"k": COUNTS, **METRIC}),
    (PrecomputedKernel, {}),
)
PHASE = {
    "exaggeration": (1, 4.0, 12, 0.5, 0, -1, 1e9),
    "momentum": (0, 0.5, 0.99, 1, 2, -1),
    "step": (0, 1e-3, 1, 1e3, 1e30, None),
    "shortest": (0, 50, 1e9),
    "divisor": (1, 12, 0, 1e9),
    "last_exaggeration": (None, 1, 0.5, 0),
    "stop": (RateFalls(), ChangeBelow(), RateFalls(0, 1, 0), ChangeBelow(0, 1, 1.0)),
}
SETTINGS: dict[str, tuple[Any, ...]] = {
    "n_components": (1, 2, 3, np.int64(2)),
    "objective": (
        *("kl", "nerv", "jse"),
        _Made(KL, dof=DOF),
        _Made(NeRV, trade_off=(0, 0.1, 0.9, 1), dof=DOF),
        _Made(JSE, mixture=(1e-9, 0.1, 0.5, 0.999), dof=DOF),
    ),
    "exaggeration": (None, 1, 2.5, 4, 1e6),
    "start": ("auto", "pca", "spectral", "random"),
    "affinities": ("auto", "dense", "sparse", "sampled", Sparse("exact"), Sparse("approximate")),
    "forces": (
        *("auto", "exact", "mesh", "tree"),
        _Made(Mesh, accuracy=(0.003, 0.05, 0.2)),
        _Made(Tree, theta=(0, 0.5, 1)),
    ),
    "memory_limit": (None, "2GB", 10**9, "100 MB", 1000),
    "random_state": RANDOM,
    "n_jobs": (1, None, 2),
    "verbose": (False, True),
    "callback": (None, Stop()),
}
