"""Methods for the repulsive forces, as values of `TSNE(forces=...)`.

The methods are implemented in `exact`, `mesh` and `tree`.
"""

from dataclasses import dataclass

from isosne._checks import check_number
from isosne.errors import ParameterError, suggest


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
