"""Boxes, segments and cells, one at a time."""

from fractions import Fraction


def count_in_box(is_taken, low, high):
    """The number of taken cells from the low cell to before the high one."""
    return sum(bool(is_taken[i][j]) for i in range(low[0], high[0]) for j in range(low[1], high[1]))


def meets_box(start, end, low, high):
    """Whether a segment has a point in a box: clipped to one side after another, exactly."""
    first, last = Fraction(0), Fraction(1)
    for a in range(2):
        p, step = Fraction(start[a]), Fraction(end[a]) - Fraction(start[a])
        if step == 0:
            if not low[a] <= p <= high[a]:
                return False
            continue
        t = sorted([(Fraction(low[a]) - p) / step, (Fraction(high[a]) - p) / step])
        first, last = max(first, t[0]), min(last, t[1])
    return first <= last


def cross(start, end, begin, target):
    """Whether two segments cross in one inner point: solved for the place on both, exactly."""
    (a, b), (c, d) = ([Fraction(float(v)) for v in p] for p in (start, end))
    (e, f), (g, h) = ([Fraction(float(v)) for v in p] for p in (begin, target))
    det = (c - a) * (h - f) - (d - b) * (g - e)
    if det == 0:
        return False
    s = ((e - a) * (h - f) - (f - b) * (g - e)) / det
    t = ((e - a) * (d - b) - (f - b) * (c - a)) / det
    return 0 < s < 1 and 0 < t < 1


def overlap(middle, half, other, other_half):
    """Whether two boxes have a common area."""
    return all(abs(middle[a] - other[a]) < half[a] + other_half[a] for a in range(2))
