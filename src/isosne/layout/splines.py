"""Spread charges of points over the nodes of a mesh, and interpolate a field, by B-splines.

Compiled functions of `mesh`. An unused axis has a spline of order 1. The order of a
spline is passed as the length of a tuple of zeros, so that it is known at compile time.
"""

from typing import Any

import numpy as np

from isosne._lanes import weighted, with_entry
from isosne._numba import kernel, parallel_kernel, prange
from isosne._types import Array, Scalar

CHUNK_POINTS = 4096
"""Smallest number of points per chunk: clearing and adding a mesh must cost less than spreading
(chosen; not measured). It is fixed, so that results do not depend on the number of threads."""
SUM_BLOCK = 8192
"""Nodes summed together: 32 kB per chunk, which fits in the L1 cache (chosen; not measured)."""


@kernel
def spline_weights(f: Scalar, zeros: tuple[Scalar, ...]) -> tuple[Scalar, Scalar]:
    """Return the weights of a B-spline at the nodes that it spans, and those of one order less.

    f, from 0 to 1, is the position between two nodes; len(zeros) is the order. Differences of the
    weights of lower order are the derivative. Recurrence of Cox and de Boor.
    """
    order = len(zeros)
    one = np.float32(1)
    if order == 1:  # an unused axis
        return with_entry(zeros, 0, one), zeros
    weights = with_entry(with_entry(zeros, 0, one - f), 1, f)
    lower = weights
    for k in range(3, order + 1):
        lower = weights
        share = one / np.float32(k - 1)
        weights = with_entry(weights, 0, share * (one - f) * lower[0])
        for j in range(1, k - 1):
            rising = (f + np.float32(k - 1 - j)) * lower[j - 1]
            weights = with_entry(weights, j, share * (rising + (np.float32(j + 1) - f) * lower[j]))
        weights = with_entry(weights, k - 1, share * f * lower[k - 2])
    return weights, lower


@kernel
def locate(
    y: Scalar, origin: Scalar, inverse: Scalar, zeros: tuple[Scalar, ...], side: int
) -> tuple:  # type: ignore[type-arg]
    """Return the first node of a coordinate, its weights, and those of one order less."""
    u = (y - origin) * inverse
    # Clamped to the mesh; the comparison is false for NaN, which becomes 0.
    u = min(u, np.float32(side - len(zeros))) if u > 0 else np.float32(0)
    node = int(u)
    weights, lower = spline_weights(np.float32(u - np.float32(node)), zeros)
    return node, weights, lower


@parallel_kernel
def spread(
    Y: Array,
    origin: Array,
    inverse: Scalar,
    zeros: tuple[tuple[Scalar, ...], ...],
    sides: tuple[int, ...],
    masses: tuple[Array, ...],
    bounds: Array,
    charges: Array,
) -> None:
    """Spread the masses of Y (3, n), or 1, in chunks: charges (n_chunks, nodes), overwritten.

    Only the nodes bounds[t, 0] to bounds[t, 1] of chunk t are set.
    """
    n = Y.shape[1]
    n_chunks = min(len(charges), 1 + n // CHUNK_POINTS)
    n_a, n_b, n_c = sides
    zeros_a, zeros_b, zeros_c = zeros
    # Flat index distance from the first to one past the last node that a point touches.
    reach = ((len(zeros_a) - 1) * n_b + len(zeros_b) - 1) * n_c + len(zeros_c)
    for t in prange(n_chunks):  # each chunk writes only its own mesh
        start, stop = t * n // n_chunks, (t + 1) * n // n_chunks
        low, high = charges.shape[1], 0
        for i in range(start, stop):
            a, _, _ = locate(Y[0, i], origin[0], inverse, zeros_a, n_a)
            b, _, _ = locate(Y[1, i], origin[1], inverse, zeros_b, n_b)
            c, _, _ = locate(Y[2, i], origin[2], inverse, zeros_c, n_c)
            # The last index varies fastest (C order).
            low = min(low, (a * n_b + b) * n_c + c)
            high = max(high, (a * n_b + b) * n_c + c + reach)
        bounds[t, 0], bounds[t, 1] = low, high  # clearing the whole mesh would cost more
        grid = charges[t]
        grid[low:high] = np.float32(0)
        for i in range(start, stop):
            a, wa, _ = locate(Y[0, i], origin[0], inverse, zeros_a, n_a)
            b, wb, _ = locate(Y[1, i], origin[1], inverse, zeros_b, n_b)
            c, wc, _ = locate(Y[2, i], origin[2], inverse, zeros_c, n_c)
            for p in range(len(wa)):
                for q in range(len(wb)):
                    weight = weighted(wa[p] * wb[q], masses, i)
                    first = ((a + p) * n_b + b + q) * n_c + c
                    for r in range(len(wc)):
                        grid[first + r] += weight * wc[r]


@parallel_kernel
def sum_chunks(charges: Array, bounds: Array, total: Array) -> None:
    """Fill total (nodes,) with the sum of the chunks within their bounds, in a fixed order."""
    n_nodes = len(total)
    for block in prange((n_nodes + SUM_BLOCK - 1) // SUM_BLOCK):
        start, stop = block * SUM_BLOCK, min((block + 1) * SUM_BLOCK, n_nodes)
        total[start:stop] = np.float32(0)
        for t in range(len(charges)):
            for e in range(max(start, bounds[t, 0]), min(stop, bounds[t, 1])):
                total[e] += charges[t, e]


@kernel
def read_at(
    field: Array, position: tuple[Scalar, ...], origin: Array, inverse: Scalar, zeros: Any
) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """Return the potential and the push = -grad / 2 at a position (3 coordinates) on the mesh."""
    a, wa, la = locate(position[0], origin[0], inverse, zeros[0], field.shape[0])
    b, wb, lb = locate(position[1], origin[1], inverse, zeros[1], field.shape[1])
    c, wc, lc = locate(position[2], origin[2], inverse, zeros[2], field.shape[2])
    zero = np.float32(0)
    phi = ga = gb = gc = zero
    before_a = zero
    for p in range(len(wa)):
        plane = plane_b = plane_c = zero
        before_b = zero
        for q in range(len(wb)):
            row = row_c = zero
            before_c = zero
            for r in range(len(wc)):
                value = field[a + p, b + q, c + r]
                row += wc[r] * value
                row_c += (before_c - lc[r]) * value
                before_c = lc[r]
            plane += wb[q] * row
            plane_b += (before_b - lb[q]) * row
            plane_c += wb[q] * row_c
            before_b = lb[q]
        phi += wa[p] * plane
        ga += (before_a - la[p]) * plane
        gb += wa[p] * plane_b
        gc += wa[p] * plane_c
        before_a = la[p]
    half = np.float32(-0.5) * inverse  # push = -grad / 2, per unit of the map
    return phi, half * ga, half * gb, half * gc


@parallel_kernel
def read(
    field: Array,
    Y: Array,
    origin: Array,
    inverse: Scalar,
    zeros: tuple[tuple[Scalar, ...], ...],
    push: Array,
    potential: Array,
) -> None:
    """Fill potential (n,) and push (3, n) at the points Y (3, n), interpolated from the nodes."""
    zeros_a, zeros_b, zeros_c = zeros
    for i in prange(Y.shape[1]):
        position = Y[0, i], Y[1, i], Y[2, i]
        phi, qa, qb, qc = read_at(field, position, origin, inverse, (zeros_a, zeros_b, zeros_c))
        potential[i] = phi
        push[0, i], push[1, i], push[2, i] = qa, qb, qc
