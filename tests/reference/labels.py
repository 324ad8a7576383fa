"""Boxes and cells, one at a time."""


def count_in_box(is_taken, low, high):
    """The number of taken cells from the low cell to before the high one."""
    return sum(bool(is_taken[i][j]) for i in range(low[0], high[0]) for j in range(low[1], high[1]))


def overlap(middle, half, other, other_half):
    """Whether two boxes have a common area."""
    return all(abs(middle[a] - other[a]) < half[a] + other_half[a] for a in range(2))
