"""Clusters from the joint probabilities of a kernel, and how stable they are.

* ``leiden``: the Leiden algorithm
* ``stability``: agreement of repeated clusterings
* ``estimator``: the public class
"""

from isosne.clusters.estimator import LeidenClustering

__all__ = ["LeidenClustering"]
