"""Parameters of the estimator as plain values, for files, and back."""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from isosne._types import Array
from isosne.errors import ParameterError
from isosne.kernels._base import MetricKernel
from isosne.kernels.gaussian import GaussianKernel
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.knn import AdaptiveGaussianKernel, KNNKernel
from isosne.layout.objectives import JSE, KL, NeRV
from isosne.layout.schedules import ChangeBelow, Phase, RateFalls, Schedule

KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(KL, NeRV, JSE, Schedule, Phase, RateFalls, ChangeBelow),
        *(IsolationKernel, GaussianKernel, AdaptiveGaussianKernel, KNNKernel),
    )
}


def to_plain(value: Any, arrays: dict[str, Array]) -> Any:
    """Return a value as JSON can hold it; arrays are put aside under names."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None  # its state is not a parameter
    if isinstance(value, list | tuple):
        return [to_plain(part, arrays) for part in value]
    if isinstance(value, dict):
        return {"dict": {name: to_plain(part, arrays) for name, part in value.items()}}
    if isinstance(value, np.ndarray) and value.dtype != object:
        name = f"value{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if type(value).__name__ in KINDS:
        parts = {name: to_plain(part, arrays) for name, part in _parts(value).items()}
        return {"kind": type(value).__name__, "parts": parts}
    raise ParameterError(
        f"Parameters must be numbers, names, arrays or objects of isosne to be written to a file; "
        f"got {value!r}. Pass one of these."
    )


def from_plain(value: Any, arrays: dict[str, Array]) -> Any:
    """Return the value that `to_plain` made plain; a sequence is a tuple."""
    if isinstance(value, list):
        return tuple(from_plain(part, arrays) for part in value)
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "dict" in value:
        return {name: from_plain(part, arrays) for name, part in value["dict"].items()}
    parts = {name: from_plain(part, arrays) for name, part in value["parts"].items()}
    return KINDS[value["kind"]](**parts)


def _parts(value: Any) -> dict[str, Any]:
    if isinstance(value, MetricKernel):
        return dict(value.get_params(deep=False))
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return {}
