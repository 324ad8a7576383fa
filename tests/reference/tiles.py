"""Counting rows by pixel, one row after the other."""

from collections import defaultdict


def count_pixels(Y, classes, values, corner, side, n_pixels):
    """Return number, sum of values and number of values by (row, column, class), and those outside.

    A value that is None is missing.
    """
    found, n_outside = defaultdict(lambda: [0, 0.0, 0]), 0
    for (x, y), c, value in zip(Y, classes, values, strict=True):
        column = int((float(x) - corner[0]) / side * n_pixels // 1)
        row = int((float(y) - corner[1]) / side * n_pixels // 1)
        if not (0 <= column < n_pixels and 0 <= row < n_pixels):
            n_outside += 1
            continue
        entry = found[row, column, c]
        entry[0] += 1
        if value is not None:
            entry[1] += float(value)
            entry[2] += 1
    return dict(found), n_outside
