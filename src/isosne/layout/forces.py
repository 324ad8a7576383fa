"""Forces on the points of a map, and the methods for the repulsive ones that users choose from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_number
from isosne._types import Array, Scalar
from isosne.errors import ParameterError, suggest

Mass = tuple[NDArray[np.float32], ...]
"""Masses of points: nothing if all are 1, or one array (n,)."""


class Forces:
    """Forces on the points of a map (d, n), and the objective that they minimize."""

    dof: Scalar
    masses: Mass = ()  # the gradient is then that of one copy of each point

    def gradient(self, Y: NDArray[np.float32], exaggeration: float = 1.0) -> NDArray[np.float32]:
        """Return the gradient (d, n), with the attraction times the exaggeration."""
        raise NotImplementedError

    def value(self, Y: NDArray[np.float32]) -> float:
        """Return the objective, without exaggeration; not negative."""
        raise NotImplementedError

    def loads(self) -> NDArray[np.float32]:
        """Return n p_i, the affinity of each point relative to the mean, or 1 if unknown (n,)."""
        raise NotImplementedError

    def prepare(self, iteration: int, Y: NDArray[np.float32]) -> None:
        """Prepare step `iteration` (counted from 0)."""

    def step_share(self, progress: float) -> float:
        """Return a factor of the step length; progress is the fraction of the last phase, or 0."""
        return 1.0

    def state(self) -> dict[str, Array]:
        """Return the state, besides the map, that the next forces depend on."""
        return {}

    def restore(self, state: dict[str, Array]) -> None:
        """Restore a state; call it only on new forces, before the first step."""


class Repulsion:
    """Repulsion between all points."""

    def push(self, Y: NDArray[np.float32], push: NDArray[np.float32], masses: Mass = ()) -> float:
        """Fill push = sum_j m_j w u (y_i - y_j) for Y, both (d, n); return the sum of m_i m_j w."""
        raise NotImplementedError

    def state(self) -> dict[str, Array]:
        """Return the state, besides the map, that the next call of `push` depends on."""
        return {}

    def restore(self, state: dict[str, Array]) -> None:
        """Restore a state."""


@dataclass(frozen=True)
class Exact:
    """Sum the repulsive forces over all pairs of points: O(n^2) per step, no approximation."""

    name = "exact"


@dataclass(frozen=True)
class Mesh:
    """Interpolate the repulsive forces on a regular mesh by Fourier transforms: O(n) per step.

    Parameters
    ----------
    accuracy : float, default=0.01
        Target for the relative error of the forces (root mean square over the points), from 0.003
        to 0.2. openTSNE's error is about 0.03 (docs/decisions/0005).

    Notes
    -----
    Forces between near points are summed pair by pair, so the mesh can be coarse
    (docs/decisions/0013).

    Examples
    --------
    >>> from isosne import TSNE, Mesh
    >>> TSNE(forces=Mesh(accuracy=0.02))
    TSNE(forces=Mesh(accuracy=0.02))
    """

    accuracy: float = 0.01
    name = "mesh"

    def __post_init__(self) -> None:
        hint = "0.03 is as accurate as other packages; 0.01 gives better maps."
        check_number(self.accuracy, "accuracy", low=0.003, high=0.2, hint=hint)


@dataclass(frozen=True)
class Tree:
    """Approximate the repulsive forces with a Barnes-Hut tree: O(n log n) per step.

    Unlike a mesh, the cost does not depend on the width of the map.

    Parameters
    ----------
    theta : float, default=0.5
        Largest ratio of the size of a tree cell to its distance at which the cell acts as a single
        point, from 0 (exact) to 1 (coarse). 0.5 is van der Maaten's (2014) default; errors are in
        docs/benchmarks.md.

    Examples
    --------
    >>> from isosne import TSNE, Tree
    >>> TSNE(forces=Tree(theta=0.4))
    TSNE(forces=Tree(theta=0.4))
    """

    theta: float = 0.5
    name = "tree"

    def __post_init__(self) -> None:
        check_number(self.theta, "theta", low=0, high=1, hint="0.5 is usual; 0 is exact.")


Method = Exact | Mesh | Tree
METHODS: dict[str, type[Method]] = {"exact": Exact, "mesh": Mesh, "tree": Tree}


def as_method(forces: object) -> Method | None:
    """Return the method for a name or an object; None for "auto"."""
    if isinstance(forces, Exact | Mesh | Tree):
        return forces
    if isinstance(forces, str) and forces in METHODS:
        return METHODS[forces]()
    if isinstance(forces, str) and forces == "auto":
        return None
    raise ParameterError(
        "forces",
        f"be one of {', '.join(map(repr, ('auto', *METHODS)))}, or Mesh(...) or Tree(...)",
        forces,
        suggest(forces, METHODS, "'auto' chooses by the number of points."),
    )
