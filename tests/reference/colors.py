"""Colors as they are seen, and the assignment of colors to classes, written from the formulas."""

from itertools import combinations, permutations

import numpy as np
from matplotlib.colors import to_rgb

# What a dichromat sees, in linear RGB: Machado, Oliveira and Fernandes 2009, severity 1.
VIEWS = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
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


def seen(colors, view):
    """The colors in OKLab, times 100, as one of the views shows them."""
    rgb = np.array([to_rgb(color) for color in colors])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ np.transpose(VIEWS[view]), 0, 1)
    return 100 * np.cbrt(linear @ TO_CONES.T) @ TO_LAB.T


def distances(colors, view):
    lab = seen(colors, view)
    return np.sqrt(((lab[:, None] - lab[None]) ** 2).sum(axis=2))


def smallest(colors, view):
    return distances(colors, view)[np.triu_indices(len(colors), 1)].min()


def energy(near, cost, order):
    """The sum over pairs of classes of their nearness times the cost of their colors."""
    pairs = combinations(range(len(near)), 2)
    return sum(near[a][b] * cost[order[a]][order[b]] for a, b in pairs)


def best_energy(near, cost):
    """The smallest sum over all assignments: n! of them."""
    return min(energy(near, cost, order) for order in permutations(range(len(near))))


def swapped(order):
    """All assignments that differ from one in the colors of two classes."""
    for a, b in combinations(range(len(order)), 2):
        other = list(order)
        other[a], other[b] = other[b], other[a]
        yield other
