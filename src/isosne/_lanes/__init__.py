"""Vectors of 16 float32 numbers, for sums whose order does not depend on the CPU.

If a compiler may reorder a sum to vectorize it, the result depends on the width of the CPU's
registers; if it may not, the sum is several times slower. Here the source fixes the order: term j
is added to lane j modulo 16, and `total` adds the lanes in pairs. Every CPU does the same
operations, on registers of its own width (docs/decisions/0010).

Compiled functions use ``+``, ``-``, ``*`` and ``/`` with vectors and numbers, and these functions:
`definitions` says what they return, `compiled` which instructions they become.
"""

from isosne._lanes import compiled as _compiled
from isosne._lanes.definitions import (
    LANES,
    Vector,
    at_least,
    between,
    exp,
    fma,
    gather,
    load,
    log,
    splat,
    split,
    total,
    two_to_the,
    with_entry,
)

__all__ = [
    "LANES",
    "Vector",
    "at_least",
    "between",
    "exp",
    "fma",
    "gather",
    "load",
    "log",
    "splat",
    "split",
    "total",
    "two_to_the",
    "with_entry",
]

assert _compiled  # imported because it makes the functions known to Numba
