"""Grids of psi and perplexity: the paper's grid, and subsets of it for large data sets."""

import math

from isosne.studies.parameter_sweep import paper_grid

PARTS = {
    "thin": ((5, 9, 13, 21, 29, 49, 97), (0.05, 0.25, 0.49, 0.81)),
    "least": ((29,), (0.05, 0.49)),
}
"""Absolute values, and fractions of n; all of them belong to the paper's grid."""
USUAL_PERPLEXITY = 29
"""The value of all these grids that is nearest to the usual default of 30."""
MAX_PAPER_POINTS, MAX_THIN_POINTS = 1300, 5000
"""Largest data sets for the whole grid and for "thin"; chosen to bound the run time."""
MAX_EXACT_STEPS = 5e9
"""Steps of the exact kernel beyond which a value is skipped: about half a minute; chosen."""
LISTED_PER_CELL = 14
"""Neighbors that the exact kernel ranks per point, relative to the mean cell size n / psi."""


def choose_grid(n_points: int, *, quick: bool = False) -> str:
    """Return the name of the grid for a data set of this size."""
    if n_points > MAX_THIN_POINTS:
        return "least"
    return "thin" if quick or n_points > MAX_PAPER_POINTS else "paper"


def grid_values(name: str, n_points: int) -> list[int]:
    """Return the values of a grid for a number of points, in ascending order."""
    if name == "paper":
        return paper_grid(n_points)
    numbers, shares = PARTS[name]
    values = {*numbers, *(round(share * n_points) for share in shares)}
    return sorted(value for value in values if 2 <= value < n_points)


def is_affordable_exactly(psi: int, n_points: int) -> bool:
    """Return whether the exact kernel of all pairs takes at most about half a minute."""
    listed = min(n_points, LISTED_PER_CELL * n_points / psi)
    return n_points**2 / 2 * listed <= MAX_EXACT_STEPS


def finest_exact(n_points: int) -> int:
    """Return the smallest psi for which the exact kernel is affordable."""
    if is_affordable_exactly(2, n_points):
        return 2
    return math.ceil(LISTED_PER_CELL * n_points**3 / (2 * MAX_EXACT_STEPS))
