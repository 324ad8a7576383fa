"""From a plan to its parts: the joint probabilities, and the forces that draw a map of them."""

import warnings
from typing import Any, NamedTuple

from isosne._types import Array, DenseMatrix, Joint, SparseMatrix
from isosne.affinities.dense import dense_affinities
from isosne.affinities.sampled import SampledAffinities
from isosne.affinities.sparse import sparse_affinities
from isosne.errors import IsolatedPointsWarning
from isosne.layout.attraction import DrawnAttraction, ListedAttraction
from isosne.layout.exact import ExactForces, ExactRepulsion
from isosne.layout.forces import Attraction, Repulsion, SplitForces
from isosne.layout.mesh import MeshRepulsion
from isosne.layout.objectives import Objective
from isosne.layout.tree import TreeRepulsion
from isosne.neighbors.search import make_search
from isosne.tsne.plan import Plan

Forces = ExactForces | SplitForces


class ForceSettings(NamedTuple):
    """Numbers that the forces depend on."""

    dof: float
    mesh_accuracy: float
    theta: float


def join(kernel: Any, plan: Plan, seed: int) -> tuple[Joint, Array]:
    """Return the joint probabilities in the form of the plan, and the points that are alone.

    seed: of the partners, where they are drawn.
    """
    joint: Joint
    if plan.affinities == "dense":
        joint, isolated = dense_affinities(kernel)
    elif plan.affinities == "sampled":
        joint = SampledAffinities(kernel, random_state=seed)
        isolated = joint.isolated
    else:
        search = make_search(kernel.X_fit_, kernel.metric_, plan.neighbors or "exact")
        neighbors = search.neighbors(plan.n_neighbors or 1)
        joint, isolated = sparse_affinities(kernel, neighbors, kernel.n_partners(plan.n_points))
    if len(isolated):
        warnings.warn(
            f"{len(isolated)} of {plan.n_points} points share no cell with any other; each is "
            "tied to its nearest neighbor. Lower psi, or raise n_partitions.",
            IsolatedPointsWarning,
            stacklevel=3,
        )
    return joint, isolated


def make_forces(joint: Joint, plan: Plan, objective: Objective, settings: ForceSettings) -> Forces:
    """Return the forces of the plan."""
    dof = settings.dof
    if isinstance(joint, DenseMatrix):
        return ExactForces(joint, objective, dof)
    attraction: Attraction
    if isinstance(joint, SparseMatrix):
        attraction = ListedAttraction(joint, dof)
    else:
        attraction = DrawnAttraction(joint, dof)
    repulsion: Repulsion
    if plan.forces == "mesh":
        accuracy = settings.mesh_accuracy
        repulsion = MeshRepulsion(plan.n_components, dof, accuracy, plan.n_points)
    elif plan.forces == "tree":
        repulsion = TreeRepulsion(plan.n_components, dof, settings.theta)
    else:
        repulsion = ExactRepulsion(dof)
    return SplitForces(attraction, repulsion, dof)
