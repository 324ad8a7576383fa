"""Missing labels: an empty string, None or NaN. Points without a label belong to no class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array


def is_unlabeled(labels: Array) -> NDArray[np.bool_]:
    """Return for each label (n,) whether it is missing."""
    if labels.dtype.kind in "biu":
        return np.zeros(len(labels), bool)
    if labels.dtype.kind == "U":
        return np.asarray(labels == "")
    return np.array([_is_missing(label) for label in labels.tolist()], bool)


def _is_missing(label: Any) -> bool:
    try:
        return label is None or label in ("", b"") or bool(label != label)
    except TypeError:  # pandas.NA is neither equal nor unequal to itself
        return True
