"""Joint probabilities P without a map (steps 1 and 2), for methods that need nothing else."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from isosne._random import RandomState, as_generator
from isosne._types import DenseMatrix, Joint, PartnerSource, SparseMatrix
from isosne.kernels.base import MetricKernel
from isosne.tsne.assembly import make_affinities
from isosne.tsne.estimator import TSNE
from isosne.tsne.job import Job
from isosne.tsne.plan import make_plan, seeded_kernel

NEGLIGIBLE = 0.01
"""Probability of a pair, relative to the mean over all pairs, below which a dense matrix loses it:
together at most 1 % of the sum."""
N_DRAWS = 4
"""Draws that are averaged for sampled affinities, of 64 partners per point each (chosen)."""


class Similarities(NamedTuple):
    """A fitted kernel and the joint probabilities of its points."""

    kernel: MetricKernel
    joint: Joint


def fit_similarities(X: Any, kernel: Any, random_state: RandomState) -> Similarities:
    """Return the fitted kernel and P of points, as ``TSNE(kernel, random_state).fit`` has them."""
    settings = TSNE(kernel, random_state=random_state)
    rng = as_generator(random_state)
    given = settings._open(X)
    request = settings._request(Job(given, rng, settings._schedule(), None), rng, {})
    plan = make_plan(request, given.size(), settings.get_params(deep=False))
    fitted, _ = given.fit(seeded_kernel(plan, request), rng)
    draws = int(rng.integers(2**31)) if plan.affinities == "sampled" else 0
    return Similarities(fitted, make_affinities(fitted, plan, draws)[0])


def similarities_of(fitted: TSNE | MetricKernel) -> Similarities:
    """Return the kernel and P of a fitted estimator; P is computed if it does not hold it."""
    if isinstance(fitted, TSNE):
        if hasattr(fitted, "affinities_"):
            return Similarities(fitted.kernel_, fitted.affinities_)
        joint, _ = make_affinities(fitted.kernel_, fitted.plan_, fitted._finished.seed)
        return Similarities(fitted.kernel_, joint)
    plan = TSNE(fitted, random_state=0).plan(fitted.X_fit_)
    return Similarities(fitted, make_affinities(fitted, plan, 0)[0])


def as_sparse(joint: Joint) -> SparseMatrix:
    """Return joint probabilities as CSR: without negligible pairs, or the mean of several draws."""
    if isinstance(joint, SparseMatrix):
        return joint
    P = _from_dense(joint) if isinstance(joint, DenseMatrix) else _from_draws(joint)
    return SparseMatrix(P.indptr.astype(np.int64), P.indices.astype(np.int32), P.data)


def _from_dense(joint: DenseMatrix) -> csr_array:
    n = len(joint.factors)
    rows = []
    for values, factor in zip(joint.values, joint.factors, strict=True):
        p = values * (factor + joint.factors)
        p[p < NEGLIGIBLE / n**2] = 0
        columns = np.flatnonzero(p)
        rows.append((columns.astype(np.int32), p[columns].astype(np.float32)))
    indices, data = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    indptr = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    return csr_array((data, indices, indptr), shape=(n, n))


def _from_draws(source: PartnerSource) -> csr_array:
    n = source.n_points
    total = csr_array((n, n), dtype=np.float32)
    for number in range(N_DRAWS):
        ids, weights = source.draw(number)
        indptr = np.arange(0, ids.size + 1, ids.shape[1])
        drawn = csr_array((weights.ravel(), ids.ravel().astype(np.int32), indptr), shape=(n, n))
        drawn.sum_duplicates()
        total = total + drawn
    P = csr_array((total + total.T) * np.float32(0.5 / N_DRAWS))
    P.setdiag(0)
    P.eliminate_zeros()
    return P
