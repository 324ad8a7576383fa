"""Tables with columns of any kind and with missing values, as codes that kernels can compare.

* ``columns``: the kind of each column, and tables as numbers
* ``trees``: isolation trees over such tables, and the estimator that turns rows into leaves
* ``coordinates``: tables as coordinates for the start of a map, and as points and rows for Gower's
  distance
* ``mixed``: the rows of a table that was read
* ``notes``: columns that distort a map, in sentences
"""

from isosne.tables.columns import Column
from isosne.tables.coordinates import gower_points

__all__ = ["Column", "gower_points"]
