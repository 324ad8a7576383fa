"""Which class gets which color: classes near each other on the map get colors far apart.

Up to ten classes keep the order of the palette, so that a class has the same color in every figure.
For more classes the assignment minimizes

    sum over pairs of classes a, b of  nearness(a, b) / distance(color of a, color of b)^2

where nearness is 1 / (squared distance of the centers + softening)^3. That is a quadratic
assignment problem; swapping the best pair of colors as long as the sum falls finds a local minimum.
The powers are chosen: for 60 classes on a grid of centers, the colors of neighbors are at least 22
apart with normal vision and 7.4 in the worst view (units of `palette`), instead of 8.4 and 4.3.
"""

from functools import cache

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from isosne.plots.paint import Classes, Paint

Floats = NDArray[np.float64]

N_DISTINCT = 10
"""Up to this many colors are far apart in any order."""
# From linear RGB to what is seen: normal vision, protanopia, deuteranopia and tritanopia, after
# Machado, Oliveira and Fernandes 2009, severity 1.
VIEWS = np.array(
    [
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ]
)
# From linear RGB to OKLab: Ottosson 2020.
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def spread_colors(paint: Paint, Y: Floats) -> Paint:
    """Return a paint whose colors differ most between classes that are near each other."""
    if not isinstance(paint, Classes) or not N_DISTINCT < paint.n_classes <= len(paint.palette):
        return paint
    centers = _centers(paint, Y)
    shown = np.flatnonzero(np.isfinite(centers).all(axis=1))  # a class may have no points here
    if len(shown) < 2:
        return paint
    palette = tuple(paint.palette[: paint.n_classes])
    cost = 1 / (color_distances(palette) + np.eye(len(palette))) ** 2
    np.fill_diagonal(cost, 0)
    near = np.zeros((paint.n_classes, paint.n_classes))
    near[np.ix_(shown, shown)] = _nearness(centers[shown])
    order = assign(near, cost)
    return paint._replace(palette=[palette[c] for c in order.tolist()])


def _centers(classes: Classes, Y: Floats) -> Floats:
    """Return the mean position of each class; NaN for a class without points."""
    n = classes.n_classes
    counts = np.bincount(classes.of_point, minlength=n)[:n]
    sums = [np.bincount(classes.of_point, axis, n)[:n] for axis in Y.T]
    with np.errstate(invalid="ignore"):
        return np.asarray(np.column_stack(sums) / counts[:, None])


def _nearness(centers: Floats) -> Floats:
    """Return how near the centers are to each other, 1 for coinciding ones."""
    sq_dist = ((centers[:, None] - centers) ** 2).sum(axis=2)
    np.fill_diagonal(sq_dist, np.inf)
    softening = max(float(np.median(sq_dist.min(axis=1))) / 4, np.finfo(np.float64).tiny)
    return np.asarray((1 + sq_dist / softening) ** -3.0)


def assign(near: Floats, cost: Floats) -> NDArray[np.int64]:
    """Return the color (m,) of each class for which no swap of two lowers the sum of products.

    Both matrices (m, m) are symmetric with a diagonal of zeros. O(m^3) time per swap.
    """
    order = np.arange(len(near))
    while True:
        costs = cost[np.ix_(order, order)]
        mixed = near @ costs
        own = np.diag(mixed)
        change = mixed + mixed.T - own - own[:, None] + 2 * near * costs
        a, b = np.unravel_index(change.argmin(), change.shape)
        if change[a, b] > -1e-9 * abs(own.sum()):  # less is rounding
            return order
        order[[a, b]] = order[[b, a]]


@cache
def color_distances(colors: tuple[str, ...]) -> Floats:
    """Return the distances (m, m) of colors in OKLab: mean of normal vision and the worst view."""
    rgb = np.array([to_rgb(color) for color in colors])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ VIEWS.transpose(0, 2, 1), 0, 1)
    lab = np.cbrt(seen @ TO_CONES.T) @ TO_LAB.T
    distances = np.sqrt(((lab[:, :, None] - lab[:, None]) ** 2).sum(axis=3))
    return np.asarray((distances[0] + distances.min(axis=0)) / 2)
