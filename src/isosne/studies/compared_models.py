"""The two models that a study compares: the user's, and the same with another kernel."""

from typing import Any

from sklearn.base import clone

from isosne._random import RandomState
from isosne.errors import ParameterError
from isosne.kernels.gaussian import GaussianKernel
from isosne.kernels.registry import KERNELS
from isosne.tsne.estimator import TSNE


def with_seed(model: TSNE | None, random_state: RandomState) -> TSNE:
    """Return an unfitted model that has a seed."""
    if model is None:
        return TSNE(random_state=random_state)
    if not isinstance(model, TSNE):
        raise ParameterError(
            "model",
            f"be a TSNE or None, not {type(model).__name__}",
            hint="Pass, for example, TSNE(IsolationKernel(psi=64)).",
        )
    settings: TSNE = clone(model)
    if settings.random_state is None:
        settings.set_params(random_state=random_state)
    return settings


def other_kernel(kernel: Any) -> str:
    """Return the kernel to compare with: "gaussian", or for that the default kernel of TSNE."""
    is_gaussian = isinstance(kernel, GaussianKernel) or (
        isinstance(kernel, str) and kernel == "gaussian"
    )
    return str(TSNE().kernel) if is_gaussian else "gaussian"


def with_other_kernel(first: TSNE, n: int) -> TSNE:
    """Return the same settings with the kernel to compare with."""
    kernel = KERNELS[other_kernel(first.kernel)].default(n)
    if not isinstance(first.kernel, str):
        kernel.set_params(metric=first.kernel.metric, p=first.kernel.p)
    other: TSNE = clone(first).set_params(kernel=kernel)
    return other
