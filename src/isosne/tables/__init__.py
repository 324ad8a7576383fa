"""Tables with columns of any kind and with missing values, as codes that kernels can compare.

* ``columns``: the kind of each column, and tables as numbers
* ``trees``: isolation trees over such tables, compiled
* ``forest``: the estimator that turns rows into leaves of trees
* ``coordinates``: tables as coordinates, for the start of a map
* ``gower``: tables as points for Gower's distance, the reference of quality measures
* ``mixed_rows``: a table as a source of rows
"""

from isosne.tables.columns import Column
from isosne.tables.gower import gower_points

__all__ = ["Column", "gower_points"]
