"""Structure of data: clusters, outliers, and whether there is any at all.

* ``clusters``: `LeidenClustering`, with ``leiden`` (the algorithm) and ``stability`` (of clusters)
* ``outliers``: `IsolationOutliers`, with ``spheres`` (the partitionings)
* ``null_test``: `null_test`
"""

from isosne.structure.null import NullTest, null_test

__all__ = ["NullTest", "null_test"]
