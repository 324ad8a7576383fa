"""Build the joint probabilities (step 2) and the forces (step 3) that a plan specifies."""

import warnings

import numpy as np
from numpy.typing import NDArray

from isosne._types import DenseMatrix, Joint, Neighbors, SparseMatrix
from isosne.affinities.dense import dense_affinities
from isosne.affinities.given import given_affinities
from isosne.affinities.sampled import SampledAffinities
from isosne.affinities.sparse import sparse_affinities
from isosne.errors import IsolatedPointsWarning
from isosne.kernels.base import MetricKernel
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.precomputed import PrecomputedKernel
from isosne.layout.attraction import DrawnAttraction, ListedAttraction
from isosne.layout.custom import CustomForces
from isosne.layout.exact import ExactForces, ExactRepulsion
from isosne.layout.forces import Attraction, Repulsion, SplitForces
from isosne.layout.mesh_repulsion import MeshRepulsion
from isosne.layout.objectives import JSE, KL, NeRV, Objective, dof_of
from isosne.layout.tree_repulsion import TreeRepulsion
from isosne.neighbors.search import make_search
from isosne.tsne.plan import Plan

Forces = ExactForces | SplitForces | CustomForces


def make_affinities(kernel: MetricKernel, plan: Plan, seed: int) -> tuple[Joint, NDArray[np.int64]]:
    """Return the joint probabilities in the form that the plan specifies, and isolated points.

    seed: seed of the draws, if affinities are sampled.
    """
    joint: Joint
    if isinstance(kernel, PrecomputedKernel):
        joint, isolated = given_affinities(kernel.X_fit_, as_dense=plan.affinities == "dense")
        _warn_of_isolated(isolated, plan.n_points, "only repulsion acts on them")
        return joint, isolated
    if plan.affinities == "dense":
        joint, isolated = dense_affinities(kernel)
    elif plan.affinities == "sampled":
        joint = sample_affinities(kernel, seed)
        isolated = joint.isolated
    else:
        joint, isolated = sparse_affinities(kernel, _find_neighbors(kernel, plan), plan.n_partners)
    what = "each is tied to its nearest neighbor"
    if isinstance(kernel, IsolationKernel):
        what += ". Lower psi, or raise n_partitions"
    _warn_of_isolated(isolated, plan.n_points, what)
    return joint, isolated


def _find_neighbors(kernel: MetricKernel, plan: Plan) -> Neighbors:
    """Return the neighbor lists; the copies of the points in the search are freed on return."""
    search = make_search(kernel.X_fit_, kernel.metric_, plan.neighbors or "exact")
    return search.neighbors(plan.n_neighbors or 1)


def sample_affinities(kernel: MetricKernel, seed: int = 0) -> SampledAffinities:
    """Return the sampled affinities of a kernel with cells."""
    assert isinstance(kernel, IsolationKernel)  # the plan allows sampling for no other kernel
    return SampledAffinities(kernel, random_state=seed)


def _warn_of_isolated(isolated: NDArray[np.int64], n_points: int, what: str) -> None:
    if len(isolated):
        warnings.warn(
            f"{len(isolated)} of {n_points} points have no affinity to any other point; {what}.",
            IsolatedPointsWarning,
            stacklevel=5,
        )


def make_forces(joint: Joint, plan: Plan, objective: Objective) -> Forces:
    """Return the forces that the plan specifies."""
    dof = dof_of(objective)
    if isinstance(joint, DenseMatrix):
        if isinstance(objective, KL | NeRV | JSE):
            return ExactForces(joint, objective, dof)
        return CustomForces(joint, objective)
    attraction: Attraction
    if isinstance(joint, SparseMatrix):
        attraction = ListedAttraction(joint, dof)
    else:
        attraction = DrawnAttraction(joint, dof)
    return SplitForces(attraction, _make_repulsion(plan, dof), dof)


def _make_repulsion(plan: Plan, dof: float) -> Repulsion:
    if plan.accuracy is not None:
        return MeshRepulsion(plan.n_components, dof, plan.accuracy)
    if plan.theta is not None:
        return TreeRepulsion(plan.n_components, dof, plan.theta)
    return ExactRepulsion(dof)
