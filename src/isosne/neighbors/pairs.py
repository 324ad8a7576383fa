"""Compiled loops over pairs of points: distances, and bounds on the rounding of keys.

Every sum has an order that is fixed in the source, so results have the same bits on every CPU. To
be fast without a reordering of sums, loops run over several points, not over the columns of one.
"""

import math

import numpy as np

from isosne._numba import kernel
from isosne._portable import power as portable_power
from isosne._types import Array

UNDERFLOW = 4e-31
"""Squared length whose rounding covers underflow: 2 * 1.2e-38 (smallest normal float32) / 6e-8."""
PANEL, DEPTH = 64, 64
"""Points and columns that `fill_keys` handles together: 32 kB, the size of an L1 cache (chosen)."""
WHOLE_POWER = 64.0
"""Largest power that is computed by multiplications, which are exact for small integers."""
CANCELED = 1e-4
"""Size of a key relative to the norms it is computed from below which it is computed again."""
SAFE_EXPONENT = 900.0
"""Largest exponent (of 2) of a power: float64 ends at 1023 (chosen)."""
COMPARE_COLUMNS = 1024
"""Points per tile: a tile's counts and codes (1 or 2 bytes each) stay in the L1 cache (chosen)."""
MISSING, CATEGORY = -1.0, 2.0
"""Coordinates of points from `isosne.tables.gower_points`: a missing value, the first category."""
FARTHEST = 1.0
"""Gower's distance of two points that have no column in which both values are known."""


@kernel
def rounding_bound(unit: float, sq_norm: float, key: float) -> float:
    """Bound the rounding error of the key of any point that can be as near as `key`.

    A product of d terms has an error of at most (d eps / 2) |x| |z|. A point z within distance r of
    x has |z| <= |x| + r; a point with larger |z| is farther away, however its key is rounded.
    """
    if unit == 0.0:
        return 0.0
    reach = math.sqrt(sq_norm) + math.sqrt(max(key + sq_norm, 0.0))
    return 2.0 * unit * (sq_norm + reach * reach + UNDERFLOW)


@kernel
def sq_distance(X: Array, i: int, Z: Array, j: int) -> float:
    """Return the squared distance of X[i] and Z[j] in float64, summed in a fixed order."""
    # Four lanes, so that every CPU vectorizes and adds in the same order.
    n_columns = X.shape[1]
    s0 = s1 = s2 = s3 = 0.0
    f = 0
    while f + 4 <= n_columns:
        d0 = np.float64(X[i, f]) - np.float64(Z[j, f])
        d1 = np.float64(X[i, f + 1]) - np.float64(Z[j, f + 1])
        d2 = np.float64(X[i, f + 2]) - np.float64(Z[j, f + 2])
        d3 = np.float64(X[i, f + 3]) - np.float64(Z[j, f + 3])
        s0 += d0 * d0
        s1 += d1 * d1
        s2 += d2 * d2
        s3 += d3 * d3
        f += 4
    while f < n_columns:
        d0 = np.float64(X[i, f]) - np.float64(Z[j, f])
        s0 += d0 * d0
        f += 1
    return (s0 + s1) + (s2 + s3)


@kernel
def fill_keys(X: Array, Z: Array, power: float, keys: Array) -> None:
    """Fill keys[i, j] with the sum of |X[i] - Z[j]|^power, for power 1 or 2; else the largest.

    Summed in float64 in the order of the columns. A panel of points is transposed, so that each
    operation runs over all points of the panel; columns of zeros complete the last four.
    """
    n_columns = X.shape[1]
    panel, rows = np.empty((DEPTH, PANEL)), np.empty((X.shape[0], DEPTH))
    keys[:] = 0.0
    for begin in range(0, n_columns, DEPTH):
        depth = min(DEPTH, n_columns - begin)
        panel[depth:], rows[:, depth:] = 0.0, 0.0
        rows[:, :depth] = X[:, begin : begin + depth]
        for first in range(0, Z.shape[0], PANEL):
            last = min(first + PANEL, Z.shape[0])
            for j in range(first, last):
                for f in range(depth):
                    panel[f, j - first] = Z[j, begin + f]
            add_differences(rows, panel, (first, last, depth), power, keys)


@kernel
def add_differences(
    rows: Array, panel: Array, bounds: tuple[int, int, int], power: float, keys: Array
) -> None:
    """Update keys by the differences of rows (n, DEPTH) and columns of the panel."""
    first, last, depth = bounds
    for i in range(keys.shape[0]):
        row = keys[i, first:last]
        f = 0
        while f < depth:  # compiles to faster code than a range
            x0, x1, x2, x3 = rows[i, f], rows[i, f + 1], rows[i, f + 2], rows[i, f + 3]
            z0, z1, z2, z3 = panel[f], panel[f + 1], panel[f + 2], panel[f + 3]
            for j in range(len(row)):
                d0, d1, d2, d3 = x0 - z0[j], x1 - z1[j], x2 - z2[j], x3 - z3[j]
                if power == 2.0:
                    row[j] = row[j] + d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
                elif power == 1.0:
                    row[j] = row[j] + abs(d0) + abs(d1) + abs(d2) + abs(d3)
                else:
                    farther = max(max(abs(d0), abs(d1)), max(abs(d2), abs(d3)))
                    row[j] = max(row[j], farther)
            f += 4


@kernel
def norm(differences: Array, power: float) -> float:
    """Return (sum of |difference|^power)^(1 / power), where powers would overflow too."""
    largest = 0.0
    for difference in differences:
        largest = max(largest, abs(difference))
    if largest == 0.0:
        return 0.0
    _, exponent = math.frexp(largest)
    is_safe = power * (abs(exponent) + 1.0) < SAFE_EXPONENT
    scale = 1.0 if is_safe else largest
    total = 0.0
    for difference in differences:
        total += raise_to(abs(difference) / scale, power)
    return float(scale * portable_power(total, 1.0 / power))


@kernel
def raise_to(x: float, power: float) -> float:
    """Return x^power for x >= 0; by multiplication and a root if 2 power is a small integer."""
    if x == 0.0:
        return 0.0
    if power > WHOLE_POWER or 2.0 * power != math.floor(2.0 * power):
        return float(portable_power(x, power))
    left = int(power)
    result, square = 1.0 if left == power else math.sqrt(x), x
    while left > 0:
        if left & 1:
            result *= square
        square *= square
        left >>= 1
    return result


@kernel
def fill_norms(X: Array, Z: Array, power: float, keys: Array) -> None:
    """Fill keys[i, j] with the Minkowski distance of X[i] and Z[j], in float64."""
    n_columns = X.shape[1]
    differences = np.empty(n_columns)
    for i in range(X.shape[0]):
        for j in range(Z.shape[0]):
            for f in range(n_columns):
                differences[f] = np.float64(X[i, f]) - np.float64(Z[j, f])
            keys[i, j] = norm(differences, power)


Csr = tuple[Array, Array, Array]
"""The arrays (indptr, indices, data) of a CSR or CSC matrix with sorted indices."""


@kernel
def merge_rows(left: Csr, i: int, right: Csr, j: int, power: float) -> float:
    """Return the sum of |x - z|^power, power 1 or 2, of two CSR rows in the order of columns."""
    x_indptr, x_indices, x_data = left
    z_indptr, z_indices, z_data = right
    a, a_end, b, b_end = x_indptr[i], x_indptr[i + 1], z_indptr[j], z_indptr[j + 1]
    total = 0.0
    while a < a_end or b < b_end:
        has_x = a < a_end and (b == b_end or x_indices[a] <= z_indices[b])
        has_z = b < b_end and (a == a_end or z_indices[b] <= x_indices[a])
        difference = 0.0
        if has_x:
            difference += x_data[a]
            a += 1
        if has_z:
            difference -= z_data[b]
            b += 1
        total += difference * difference if power == 2.0 else abs(difference)
    return total


@kernel
def settle_near(
    left: Csr, right: Csr, norms: tuple[Array, Array], power: float, keys: Array
) -> None:
    """Recompute the keys of CSR rows that are small next to the norms that cancel in them.

    norms: the sums of |value|^power of the rows. A key that stays has a relative error of about
    1e-16 / CANCELED.
    """
    for i in range(keys.shape[0]):
        for j in range(keys.shape[1]):
            if keys[i, j] < CANCELED * (norms[0][i] + norms[1][j]):
                keys[i, j] = merge_rows(left, i, right, j, power)


@kernel
def add_shared_columns(query: Csr, columns: Csr, power: float, keys: Array) -> None:
    """Add |x - z|^power - |x|^power - |z|^power over the columns that both points store.

    power: 1 or 2; query: rows (CSR); columns: those of the search set (CSC). Each pair is summed in
    the order of its columns, so the key of a duplicate is exactly zero.
    """
    q_indptr, q_indices, q_data = query
    c_indptr, c_indices, c_data = columns
    for i in range(keys.shape[0]):
        for e in range(q_indptr[i], q_indptr[i + 1]):
            x, column = q_data[e], q_indices[e]
            for f in range(c_indptr[column], c_indptr[column + 1]):
                z = c_data[f]
                shared = -2.0 * x * z if power == 2.0 else abs(x - z) - abs(x) - abs(z)
                keys[i, c_indices[f]] += shared


@kernel
def scale_rows(indptr: Array, data: Array, scaled: Array) -> None:
    """Fill scaled with rows (as in CSR) of length 1; each is divided by its largest value first."""
    for i in range(len(indptr) - 1):
        largest = sq_length = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            largest = max(largest, abs(np.float64(data[e])))
        for e in range(indptr[i], indptr[i + 1]):
            scaled[e] = data[e] / largest
            value = np.float64(scaled[e])
            sq_length += value * value
        for e in range(indptr[i], indptr[i + 1]):
            scaled[e] /= math.sqrt(sq_length)


@kernel
def compare_cells(A: Array, B_columns: Array, counts: Array) -> None:
    """Count equal entries of rows of A (n, t) and columns of B_columns (t, m). O(n m t)."""
    n_partitions, m = B_columns.shape
    for start in range(0, m, COMPARE_COLUMNS):
        stop = min(start + COMPARE_COLUMNS, m)
        for i in range(A.shape[0]):
            row = counts[i, start:stop]
            for p in range(n_partitions):
                cell = A[i, p]
                column = B_columns[p, start:stop]
                for j in range(len(row)):
                    row[j] += np.uint8(column[j] == cell)  # uint8, so that the loop vectorizes


def unmatched(cells: Array, n_cells: int) -> Array:
    """Return cells to compare others with: that of points in none, n_cells, is equal to no other.

    Of cells that hold all points, the same array.
    """
    is_none = cells == n_cells
    return np.where(is_none, cells.dtype.type(n_cells + 1), cells) if is_none.any() else cells


@kernel
def compare_partners(A: Array, B: Array, partners: Array, counts: Array) -> None:
    """Count the columns on which row i of A equals rows partners[i] of B. O(n k t)."""
    for i in range(A.shape[0]):
        for q in range(partners.shape[1]):
            other = B[partners[i, q]]
            total = 0
            for p in range(A.shape[1]):
                total += A[i, p] == other[p]
            counts[i, q] = total


@kernel
def fill_gower(X: Array, Z: Array, keys: Array) -> None:
    """Fill keys[i, j] with Gower's distance (1971) of X[i] and Z[j].

    It is the mean difference over the columns in which both values are known, summed in the order
    of the columns: of numbers from 0 to 1, or 0 or 1 for two categories.
    """
    for i in range(X.shape[0]):
        for j in range(Z.shape[0]):
            total = 0.0
            n_known = 0
            for f in range(X.shape[1]):
                a, b = X[i, f], Z[j, f]
                if a == MISSING or b == MISSING:
                    continue
                n_known += 1
                if a >= CATEGORY or b >= CATEGORY:
                    total += np.float64(a != b)
                else:
                    total += abs(a - b)
            keys[i, j] = total / n_known if n_known else FARTHEST
