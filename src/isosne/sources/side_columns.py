"""The values of columns that are not features, such as ids and labels: integers or text."""

import numpy as np

from isosne._types import Array


def as_integers_or_text(values: Array) -> Array:
    """Return integers unchanged, and other values as text; missing values become ""."""
    if values.dtype.kind in "uiU":
        return values
    if values.dtype.kind == "S":
        return np.char.decode(values, "latin-1")
    texts = ["" if v is None or v != v else str(v) for v in values.tolist()]
    return np.array(texts, dtype=np.str_)


def parse_integers(texts: Array) -> Array:
    """Return texts as integers if all are integers in their usual form, such as 12 but not 012."""
    try:
        numbers = texts.astype(np.int64)
    except (ValueError, OverflowError):
        return texts
    return numbers if np.array_equal(numbers.astype(texts.dtype), texts) else texts
