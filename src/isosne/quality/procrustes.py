"""Similarity transforms of maps: one map is laid onto another (Procrustes), mirrored if needed.

The sum of squared distances between the two places of each common row is minimized over rotations,
reflections, a common factor and a shift (Schönemann and Carroll 1970). t-SNE maps have no
orientation of their own.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._matching import check_ids, match_ids
from isosne._types import Array
from isosne.errors import DataError, ParameterError
from isosne.quality.inputs import check_map


class Similarity(NamedTuple):
    """A similarity transform: factor, rotation or reflection (d, d) of rows, and shift (d,)."""

    factor: float
    rotation: NDArray[np.float64]
    center: NDArray[np.float64]
    target: NDArray[np.float64]

    @property
    def is_mirrored(self) -> bool:
        """Whether the transform contains a reflection."""
        return bool(np.linalg.det(self.rotation) < 0)

    def apply(self, Y: Array) -> NDArray[np.float32]:
        """Return the transformed places (n, d); rows without a place (NaN) stay without one."""
        moved = (Y - self.center) @ (self.factor * self.rotation) + self.target
        return np.asarray(moved, np.float32)


def find_similarity(Y: Array, onto: Array) -> Similarity:
    """Return the transform that lays the rows of Y (n, d) as near as possible to those of onto."""
    A, B = Y.astype(np.float64), onto.astype(np.float64)
    center, target = A.mean(axis=0), B.mean(axis=0)
    A -= center
    left, strengths, right = np.linalg.svd(A.T @ (B - target))
    square = float((A**2).sum())
    factor = float(strengths.sum()) / square if square > 0 else 1.0
    return Similarity(factor, left @ right, center, target)


LARGEST_RESIDUAL = 0.97
"""Residual above which maps have nothing in common: the map would shrink to less than a quarter of
its size, as sqrt(1 - 0.97^2) = 0.24 (chosen)."""


class AlignedMap(NamedTuple):
    """A map that was laid onto another, and how well the common rows fit.

    ``embedding`` (n, n_components) float32: the transformed map. ``similarity``: the transform.
    ``n_common``: number of rows that both maps have. ``residual``: root mean square distance
    between the two places of a common row, relative to the radius of the map that was laid upon.
    """

    embedding: NDArray[np.float32]
    similarity: Similarity
    n_common: int
    residual: float


def align_map(Y: Any, onto: Any, *, ids: Any = None, onto_ids: Any = None) -> AlignedMap:
    """Rotate, mirror, scale and shift a map so that it lies as near as possible to another.

    Parameters
    ----------
    Y : array of shape (n, n_components)
        The map to transform.
    onto : array of shape (m, n_components)
        The map to lay it upon.
    ids, onto_ids : array or None, default=None
        Unique identifiers of the rows of both maps; rows with the same identifier are matched.
        None: rows are matched by position.

    Returns
    -------
    AlignedMap
        The transformed map, the transform, and the residual. Maps with fewer than 2 rows in common,
        or of which one would collapse, are refused.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne import align_map
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> found = align_map(3 * square[:, ::-1] + 5, square)
    >>> bool(np.allclose(found.embedding, square, atol=1e-6)), found.similarity.is_mirrored
    (True, True)
    """
    moved, fixed = check_map(Y, min_rows=1), check_map(onto, "onto", min_rows=1)
    if moved.shape[1] != fixed.shape[1]:
        raise DataError(
            f"Maps must have the same number of dimensions; got {moved.shape[1]} and "
            f"{fixed.shape[1]}. Make both with the same n_components."
        )
    if (ids is None) != (onto_ids is None):
        missing = "ids" if ids is None else "onto_ids"
        hint = "Pass both, or neither to match rows by position."
        raise ParameterError(missing, "be given if the other identifiers are", None, hint)
    if ids is None:
        if len(moved) != len(fixed):
            raise DataError(
                f"Without identifiers, maps must have equally many points; got {len(moved):,} and "
                f"{len(fixed):,}. Pass the identifiers of both."
            )
        ids = onto_ids = np.arange(len(moved))
    rows, found = match_ids(
        check_ids(ids, len(moved), "ids"), check_ids(onto_ids, len(fixed), "onto_ids")
    )
    if len(rows) < 2:
        raise DataError(
            f"Maps must have at least 2 rows in common to be aligned; they have {len(rows)}. "
            "Pass maps of the same rows, with identifiers of the same kind."
        )
    similarity = find_similarity(moved[rows], fixed[found])
    embedding = similarity.apply(moved)
    squares = ((embedding[rows].astype(np.float64) - fixed[found]) ** 2).sum(axis=1)
    radius = float(np.sqrt(fixed[found].var(axis=0, dtype=np.float64).sum()))
    residual = float(np.sqrt(squares.mean())) / (radius or 1.0)
    if not residual <= LARGEST_RESIDUAL:  # also if a map has no extent
        raise DataError(
            f"Maps must be similar to be aligned; the places of their {len(rows):,} common rows "
            f"differ by {100 * residual:.0f} % of the radius. Pass maps of the same rows."
        )
    return AlignedMap(embedding, similarity, len(rows), residual)
