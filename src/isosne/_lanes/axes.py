"""Vectors along the axes of a map: a tuple with one vector of 16 coordinates per axis.

The number of axes, 1 to 3, is the length of the tuple, so that it is known when a function is
compiled. Maps are stored by axis, as a tuple of contiguous arrays, or by row, as an array (n, d).
"""

from collections.abc import Callable
from typing import Any

from numba.extending import overload

from isosne._lanes.definitions import Vector, fma, gather, load, splat, total
from isosne._types import Array, Scalar

Vectors = tuple[Vector, ...]


def loaded(Y: tuple[Array, ...], start: int) -> Vectors:
    """Return the coordinates of the points start to start + 15 of a map stored by axis."""
    return tuple(load(y, start) for y in Y)


def gathered(Y: Array, indices: Array, start: int, like: Vectors) -> Vectors:
    """Return the coordinates of the points indices[start : start + 16] of a map stored by row."""
    return tuple(gather(Y, indices, start, c) for c in range(len(like)))


def point(Y: tuple[Array, ...], i: int) -> tuple[Scalar, ...]:
    """Return the coordinates of a point of a map stored by axis."""
    return tuple(y[i] for y in Y)


def rows(Y: Array, like: tuple[Any, ...]) -> tuple[Array, ...]:
    """Return the first rows of an array; `like` has one entry per row."""
    return tuple(Y[c] for c in range(len(like)))


def row(Y: Array, i: int, like: tuple[Any, ...]) -> tuple[Scalar, ...]:
    """Return the coordinates of a point of a map stored by row; `like` has one entry per axis."""
    return tuple(Y[i, c] for c in range(len(like)))


def repeated(x: tuple[Scalar, ...]) -> Vectors:
    """Return the coordinates of one point, in all lanes."""
    return tuple(splat(coordinate) for coordinate in x)


def minus(x: Vectors, y: Vectors) -> Vectors:
    """Return the differences x - y."""
    return tuple(a - b for a, b in zip(x, y, strict=True))


def sq_length(d: Vectors) -> Vector:
    """Return the sum of the squares over the axes."""
    square = d[0] * d[0]
    for x in d[1:]:
        square = fma(x, x, square)
    return square


def plus_product(sums: Vectors, weight: Vector, d: Vectors) -> Vectors:
    """Return sums + weight * d."""
    return tuple(fma(weight, x, s) for s, x in zip(sums, d, strict=True))


def totals(sums: Vectors) -> tuple[Scalar, ...]:
    """Return the sum of the lanes of each axis."""
    return tuple(total(s) for s in sums)


def by_length(given: Any, *forms: Callable[..., Any]) -> Callable[..., Any]:
    """Return the form for a tuple of one, two or three entries."""
    return forms[len(given) - 1]


@overload(loaded)
def _loaded(Y, start):  # type: ignore[no-untyped-def]
    return by_length(
        Y,
        lambda Y, start: (load(Y[0], start),),
        lambda Y, start: (load(Y[0], start), load(Y[1], start)),
        lambda Y, start: (load(Y[0], start), load(Y[1], start), load(Y[2], start)),
    )


@overload(gathered)
def _gathered(Y, indices, start, like):  # type: ignore[no-untyped-def]
    return by_length(
        like,
        lambda Y, indices, start, like: (gather(Y, indices, start, 0),),
        lambda Y, indices, start, like: (
            gather(Y, indices, start, 0),
            gather(Y, indices, start, 1),
        ),
        lambda Y, indices, start, like: (
            gather(Y, indices, start, 0),
            gather(Y, indices, start, 1),
            gather(Y, indices, start, 2),
        ),
    )


@overload(point)
def _point(Y, i):  # type: ignore[no-untyped-def]
    return by_length(
        Y,
        lambda Y, i: (Y[0][i],),
        lambda Y, i: (Y[0][i], Y[1][i]),
        lambda Y, i: (Y[0][i], Y[1][i], Y[2][i]),
    )


@overload(rows)
def _rows(Y, like):  # type: ignore[no-untyped-def]
    return by_length(
        like,
        lambda Y, like: (Y[0],),
        lambda Y, like: (Y[0], Y[1]),
        lambda Y, like: (Y[0], Y[1], Y[2]),
    )


@overload(row)
def _row(Y, i, like):  # type: ignore[no-untyped-def]
    return by_length(
        like,
        lambda Y, i, like: (Y[i, 0],),
        lambda Y, i, like: (Y[i, 0], Y[i, 1]),
        lambda Y, i, like: (Y[i, 0], Y[i, 1], Y[i, 2]),
    )


@overload(repeated)
def _repeated(x):  # type: ignore[no-untyped-def]
    return by_length(
        x,
        lambda x: (splat(x[0]),),
        lambda x: (splat(x[0]), splat(x[1])),
        lambda x: (splat(x[0]), splat(x[1]), splat(x[2])),
    )


@overload(minus)
def _minus(x, y):  # type: ignore[no-untyped-def]
    return by_length(
        x,
        lambda x, y: (x[0] - y[0],),
        lambda x, y: (x[0] - y[0], x[1] - y[1]),
        lambda x, y: (x[0] - y[0], x[1] - y[1], x[2] - y[2]),
    )


@overload(sq_length)
def _sq_length(d):  # type: ignore[no-untyped-def]
    return by_length(
        d,
        lambda d: d[0] * d[0],
        lambda d: fma(d[1], d[1], d[0] * d[0]),
        lambda d: fma(d[2], d[2], fma(d[1], d[1], d[0] * d[0])),
    )


@overload(plus_product)
def _plus_product(sums, weight, d):  # type: ignore[no-untyped-def]
    return by_length(
        d,
        lambda sums, weight, d: (fma(weight, d[0], sums[0]),),
        lambda sums, weight, d: (fma(weight, d[0], sums[0]), fma(weight, d[1], sums[1])),
        lambda sums, weight, d: (
            fma(weight, d[0], sums[0]),
            fma(weight, d[1], sums[1]),
            fma(weight, d[2], sums[2]),
        ),
    )


@overload(totals)
def _totals(sums):  # type: ignore[no-untyped-def]
    return by_length(
        sums,
        lambda sums: (total(sums[0]),),
        lambda sums: (total(sums[0]), total(sums[1])),
        lambda sums: (total(sums[0]), total(sums[1]), total(sums[2])),
    )
