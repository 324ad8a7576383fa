"""Kernels by name: one table for the estimator, sweeps, model files and the command line."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from isosne._checks import is_one_of
from isosne.errors import ParameterError, keyword, suggest
from isosne.kernels.base import MetricKernel
from isosne.kernels.gaussian import GaussianKernel
from isosne.kernels.given import CustomKernel, PrecomputedKernel, UserKernel
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.knn import AdaptiveGaussianKernel, KNNKernel, NeighborKernel
from isosne.kernels.owner import OwnerKernel
from isosne.kernels.views import Layout, ViewsKernel


class Entry(NamedTuple):
    """A kernel that can be chosen by name."""

    kind: type[MetricKernel]
    main_parameter: str  # that a sweep varies; empty if there is none
    options: tuple[str, ...]  # parameters that users can set


KERNELS: dict[str, Entry] = {
    "isolation": Entry(IsolationKernel, "psi", ("psi", "n_partitions", "partition", "metric", "p")),
    "owner": Entry(OwnerKernel, "cell_size", ("cell_size", "metric", "p")),
    "gaussian": Entry(GaussianKernel, "perplexity", ("perplexity", "metric", "p")),
    "adaptive": Entry(AdaptiveGaussianKernel, "k", ("k", "metric", "p")),
    "knn": Entry(KNNKernel, "k", ("k", "metric", "p")),
    "precomputed": Entry(PrecomputedKernel, "", ()),
}

NUMBERS = {
    "psi": "be auto, a number of cells, a fraction of the rows, or several of these with commas",
    "cell_size": "be auto, a number of points, a fraction of the rows, or several with commas",
    "perplexity": "be auto, a number, or several with commas",
    "k": "be a number, or several with commas",
}
"""Parameters that users can write as text: one number or several, and the rule for them."""


def as_kernel(kernel: object, n_points: int, rng: np.random.Generator) -> MetricKernel:
    """Return an unfitted copy of a kernel (name or object), validated for n points, with a seed."""
    own = _unfitted(kernel, n_points)
    if "random_state" in own.get_params() and own.get_params()["random_state"] is None:
        own.set_params(random_state=int(rng.integers(2**31)))
    own.check_parameters(n_points)
    return own


def for_table(kernel: MetricKernel) -> MetricKernel:
    """Return an unfitted copy of a kernel, to compare rows of a mixed table by their leaves."""
    if is_one_of(getattr(kernel, "partition", "voronoi"), ("forest",)):
        rule = "be 'voronoi' for a table with mixed columns, whose rows are leaves of trees already"
        raise ParameterError("partition", rule, "forest", "Leave it out.")
    if isinstance(kernel, CustomKernel) or not is_one_of(kernel.metric, ("euclidean", "hamming")):
        asked = type(kernel).__name__ if isinstance(kernel, CustomKernel) else kernel.metric
        rule = "be left out for a table with columns that are not numbers, or with missing values"
        hint = (
            "Rows of such a table are compared by the leaves of isolation trees that they share. "
            "For Gower's distance pass isosne.tables.gower_points(X)."
        )
        raise ParameterError("metric", rule, asked, hint)
    own: MetricKernel = clone(kernel).set_params(metric="hamming")
    return own


def for_views(kernel: Any, layout: Layout | None) -> Any:
    """Return a kernel (name or object) for the views of an input, if it has views."""
    if layout is None:
        return kernel
    if isinstance(kernel, ViewsKernel):
        return clone(kernel).set_params(layout=layout)
    if is_one_of(kernel, ("owner",)):
        return ViewsKernel(layout=layout)
    if isinstance(kernel, OwnerKernel):
        return ViewsKernel(kernel, random_state=kernel.random_state, layout=layout)
    hint = "Leave it out, or pass an OwnerKernel or a ViewsKernel."
    raise ParameterError("kernel", "be the owner kernel for several views", kernel, hint)


def uses_labels(kernel: Any) -> bool:
    """Return whether a kernel (name or object), or that of one of its views, uses labels."""
    inner = getattr(kernel, "kernels", kernel)
    parts = inner.values() if isinstance(inner, Mapping) else inner
    kernels = [inner] if isinstance(inner, str | MetricKernel) or inner is None else list(parts)
    return any(getattr(each, "label_weight", 0) for each in kernels)


def takes_tables(kernel: object) -> bool:
    """Return whether a kernel, or one with this name, can compare rows of a mixed table."""
    try:
        for_table(_unfitted(kernel, 2))
    except ValueError:  # also of affinities, which have no metric to set
        return False
    return True


def _unfitted(kernel: object, n_points: int) -> MetricKernel:
    if isinstance(kernel, str) and kernel in KERNELS:
        return default_kernel(kernel, n_points)
    if isinstance(kernel, MetricKernel):
        own: MetricKernel = clone(kernel)
        return own
    if isinstance(kernel, UserKernel) and not isinstance(kernel, type):
        return CustomKernel(kernel)
    names = ", ".join(map(repr, KERNELS))
    methods = "a kernel object, or an object with the methods fit(X) and similarity(A, B)"
    hint = suggest(kernel, KERNELS, "Pass for example IsolationKernel(psi=64).")
    raise ParameterError("kernel", f"be one of {names}, {methods}", kernel, hint)


def default_kernel(name: str, n_points: int) -> MetricKernel:
    """Return the named kernel with default parameters for n points."""
    own: MetricKernel = KERNELS[name].kind()
    if isinstance(own, NeighborKernel):
        own.k = min(own.k, n_points - 1)
    return own


def make_kernel(name: str, parameters: Mapping[str, Any]) -> MetricKernel:
    """Return the named kernel with the given parameters."""
    own: MetricKernel = KERNELS[name].kind().set_params(**parameters)
    return own


def parse_numbers(name: str, text: str) -> list[Any]:
    """Return numbers separated by commas, integers where possible; some may be auto."""
    parts = [part.strip() for part in text.split(",")]
    try:
        return [
            part if part == "auto" and "auto" in NUMBERS[name] else _as_number(part)
            for part in parts
        ]
    except ValueError:
        examples = f"{keyword(name, 16)} or {keyword(name, [8, 64])}"
        raise ParameterError(name, NUMBERS[name], text, f"Write for example {examples}.") from None


def _as_number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)
