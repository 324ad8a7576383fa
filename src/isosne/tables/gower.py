"""Tables as points that Gower's distance compares: the reference of quality measures."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne.neighbors.gower import CATEGORY, MISSING
from isosne.tables.columns import read_columns
from isosne.tables.forest import category_flags


def gower_points(X: Any, categorical: Any = None) -> NDArray[np.float64]:
    """Return a table with mixed columns as points for ``metric="gower"``.

    Gower's distance of two rows is the mean difference over the columns in which both values are
    known: relative to the range of the column for numbers, dates and ordered categories, and 0 or 1
    for other categories. `isosne.quality` measures maps of tables by it.

    Parameters
    ----------
    X : data frame or array of shape (n_samples, n_features)
        The table; values may be missing.
    categorical : list of str or int, or None, default=None
        Columns to treat as categories although they hold numbers.

    Returns
    -------
    array of shape (n_samples, n_columns)
        Numbers from 0 to 1, categories from 2 up, and -1 for missing values. Identifiers are left
        out.

    Notes
    -----
    Not part of the paper (Gower 1971).

    Examples
    --------
    >>> import pandas as pd
    >>> from isosne.tables import gower_points
    >>> gower_points(pd.DataFrame({"size": [1, 2, 5], "color": ["red", None, "blue"]}))
    array([[ 0.  ,  3.  ],
           [ 0.25, -1.  ],
           [ 1.  ,  2.  ]])
    """
    columns, table = read_columns(X, categorical)
    points = np.empty(table.shape)
    for c, is_category in enumerate(category_flags(columns)):
        values = table[:, c]
        known = ~np.isnan(values)
        if is_category:
            points[:, c] = CATEGORY + values
        else:
            low, high = (values[known].min(), values[known].max()) if known.any() else (0.0, 0.0)
            # Halves, because the range may overflow.
            points[:, c] = (values / 2 - low / 2) / ((high / 2 - low / 2) or 1.0)
        points[~known, c] = MISSING
    return points
