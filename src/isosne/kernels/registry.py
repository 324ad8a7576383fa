"""Kernels by name."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from isosne.errors import ParameterError
from isosne.kernels.base import MetricKernel
from isosne.kernels.gaussian import GaussianKernel
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.knn import AdaptiveGaussianKernel, KNNKernel

KERNELS: dict[str, Callable[[int], Any]] = {
    "isolation": lambda n: IsolationKernel(),
    "gaussian": lambda n: GaussianKernel(min(30.0, (n - 1) / 3) if n > 4 else 1.0),
    "adaptive": lambda n: AdaptiveGaussianKernel(min(7, n - 1)),
    "knn": lambda n: KNNKernel(min(7, n - 1)),
}
"""The kernels, with parameters that suit n points."""


def as_kernel(kernel: Any, n_points: int, rng: np.random.Generator) -> Any:
    """Return a kernel of one's own, unfitted, with a seed and parameters that n points allow."""
    is_name = isinstance(kernel, str)
    if kernel not in KERNELS if is_name else not isinstance(kernel, MetricKernel):
        raise ParameterError(
            f"kernel must be one of {', '.join(KERNELS)} or a kernel object; "
            f"got {kernel!r}. Pass for example IsolationKernel(psi=64)."
        )
    own = KERNELS[kernel](n_points) if is_name else clone(kernel)
    if "random_state" in own.get_params() and own.random_state is None:
        own.set_params(random_state=int(rng.integers(2**31)))
    own.check_parameters(n_points)
    return own
