"""Values of psi and perplexity to try: the paper's, or parts of them where a map takes long."""

import math

from isosne.studies.parameter_sweep import paper_grid

PARTS = {
    "thin": ((5, 9, 13, 21, 29, 49, 97), (0.05, 0.25, 0.49, 0.81)),
    "least": ((29,), (0.05, 0.49)),
}
"""Numbers, and shares of n; all of them belong to the paper's grid."""
USUAL_PERPLEXITY = 29
"""The value of all these grids that is nearest to the usual 30."""
LARGEST_FOR_PAPER, LARGEST_FOR_THIN = 1300, 5000
LONGEST_COMPARISON = 5e9
"""Steps of the exact kernel, a few nanoseconds each, beyond which a value is left out."""
LISTED = 14
"""Points the exact kernel ranks, for each point in a cell on average."""


def choose_grid(n_points: int, *, quick: bool = False) -> str:
    """Return the name of the grid for a set of this size."""
    if n_points > LARGEST_FOR_THIN:
        return "least"
    return "thin" if quick or n_points > LARGEST_FOR_PAPER else "paper"


def grid_values(name: str, n_points: int) -> list[int]:
    """Return the values of a grid for a number of points, ascending."""
    if name == "paper":
        return paper_grid(n_points)
    numbers, shares = PARTS[name]
    values = {*numbers, *(round(share * n_points) for share in shares)}
    return sorted(value for value in values if 2 <= value < n_points)


def is_affordable_exactly(psi: int, n_points: int) -> bool:
    """Return whether the exact kernel of all pairs takes half a minute or less, or little more."""
    listed = min(n_points, LISTED * n_points / psi)
    return n_points**2 / 2 * listed <= LONGEST_COMPARISON


def finest_exact(n_points: int) -> int:
    """Return the smallest psi for which the exact kernel is affordable."""
    if is_affordable_exactly(2, n_points):
        return 2
    return math.ceil(LISTED * n_points**3 / (2 * LONGEST_COMPARISON))
