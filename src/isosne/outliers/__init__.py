"""Outliers by the isolation distributional kernel: how much of the data resembles a point.

* ``spheres``: the partitionings
* ``estimator``: the public class
"""

from isosne.outliers.estimator import IsolationOutliers

__all__ = ["IsolationOutliers"]
