"""LeidenClustering, the public estimator."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils.validation import check_is_fitted, validate_data

from isosne._blocks import for_each_block
from isosne._checks import check_count, check_number
from isosne._numba import threads
from isosne._random import RandomState, as_generator
from isosne._types import Array, Joint
from isosne.affinities.sparse import as_sparse
from isosne.kernels.base import MetricKernel
from isosne.rows import is_stored
from isosne.structure.leiden import Graph, as_graph, leiden, modularity
from isosne.tsne.estimator import TSNE
from isosne.tsne.fit import joint_probabilities, similarities_of


class LeidenClustering(ClusterMixin, BaseEstimator):
    """Clusters of points by the Leiden algorithm on the joint probabilities of a kernel.

    The joint probabilities P are those that `TSNE` maps. Clusters are computed from P, not from the
    coordinates of the map, so they do not depend on the distortions of the map. Their number
    follows from the data and from `resolution`.

    Parameters
    ----------
    kernel : str or kernel, default="owner"
        Similarity of the points, as for `TSNE`. Ignored if `fit` is given a fitted estimator.
    resolution : float, default=0.5
        Higher values give more and smaller clusters.
    n_runs : int, default=5
        Number of runs with different seeds, at least 2. The run with the highest modularity is
        kept; the others tell how stable its clusters are.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the runs, and of the samples of the kernel.
    n_jobs : int or None, default=None
        Number of threads; None: Numba's number. The clusters do not depend on it.

    Attributes
    ----------
    labels_ : array of int64, shape (n_samples,)
        Cluster of each point; 0 is the largest cluster.
    n_clusters_ : int
        Number of clusters.
    modularity_ : float
        Modularity of the clusters, at most 1.
    stability_ : float
        Mean adjusted Rand index over all pairs of runs; 1 if all runs agree.
    cluster_stability_ : array of float64, one value per cluster
        For each cluster, the Jaccard index with the most similar cluster of another run, on average
        over the other runs; 1 if all runs found the cluster.

    Notes
    -----
    Modularity is the probability P of pairs within clusters, less `resolution` times the
    probability of such pairs if partners were independent. The algorithm is that of Traag, Waltman
    and van Eck (2019), with a greedy refinement.

    The stability figures compare seeds, and do not tell how clusters would change with other data:
    see `isosne.structure.null_test`.

    Cost: that of steps 1 and 2 of `TSNE`, and about n_runs times 1 microsecond per pair with a
    probability.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from isosne import LeidenClustering
    >>> found = LeidenClustering(random_state=0).fit(scale(load_wine().data))
    >>> found.n_clusters_, found.stability_
    (3, 1.0)
    """

    def __init__(
        self,
        kernel: Any = "owner",
        *,
        resolution: float = 0.5,
        n_runs: int = 5,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.resolution = resolution
        self.n_runs = n_runs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array, CSR, data frame, fitted TSNE or fitted kernel
            The points, in any form that `TSNE` takes; or a fitted estimator, whose points are
            clustered. A `TSNE` holds its joint probabilities, which are not computed again. If it
            has landmarks, these are clustered.
        y : None
            Ignored.

        Returns
        -------
        LeidenClustering
            The fitted estimator; the clusters are in ``labels_``.
        """
        hint = "Higher values give more clusters; 0.25 to 2 are usual."
        check_number(self.resolution, "resolution", low=0, hint=hint)
        check_count(self.n_runs, "n_runs", low=2, high=1000, hint="Two runs or more are compared.")
        rng = as_generator(self.random_state)
        seed, kernel_seed = (int(drawn) for drawn in rng.integers(2**31, size=2))
        with threads(self.n_jobs):
            self._cluster(as_graph(as_sparse(self._joint(X, kernel_seed))), seed)
        return self

    def _joint(self, X: Any, seed: int) -> Joint:
        if isinstance(X, TSNE | MetricKernel):
            check_is_fitted(X)
            self.n_features_in_ = X.n_features_in_
            return similarities_of(X).joint
        found = joint_probabilities(X, self.kernel, random_state=seed)
        self.n_features_in_ = found.kernel.X_fit_.shape[1]
        if not is_stored(X):
            validate_data(self, X, reset=True, skip_check_array=True)
        return found.joint

    def _cluster(self, graph: Graph, seed: int) -> None:
        resolution = float(self.resolution)
        runs = np.empty((self.n_runs, len(graph.strengths)), np.int64)

        def work(part: slice) -> None:
            run = part.start
            runs[run] = leiden(graph, resolution, np.random.default_rng([seed, run]))

        for_each_block(self.n_runs, 1, work)
        values = [modularity(graph, resolution, labels) for labels in runs]
        best = int(np.argmax(values))
        self.labels_ = runs[best]
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.modularity_ = values[best]
        self.stability_ = mean_agreement(runs)
        self.cluster_stability_ = best_jaccard(self.labels_, np.delete(runs, best, axis=0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def mean_agreement(runs: Iterable[Array]) -> float:
    """Return the mean adjusted Rand index over all pairs of clusterings."""
    return float(np.mean([adjusted_rand_score(a, b) for a, b in combinations(runs, 2)]))


def best_jaccard(labels: Array, others: Iterable[Array]) -> NDArray[np.float64]:
    """Return for each cluster the largest Jaccard index in another clustering, on average.

    The Jaccard index of two clusters is the number of common members, divided by the number of
    points that belong to either.
    """
    largest = []
    for other in others:
        common = contingency_matrix(labels, other)
        either = common.sum(axis=1, keepdims=True) + common.sum(axis=0) - common
        largest.append((common / either).max(axis=1))
    mean: NDArray[np.float64] = np.mean(largest, axis=0)
    return mean
