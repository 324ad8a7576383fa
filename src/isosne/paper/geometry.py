"""Numbers for what the paper shows in pictures: clusters inside each other, a point thrown away.

The first point of a map is the origin; it belongs to several clusters and counts for none here.
"""

import numpy as np
from scipy.spatial import ConvexHull

from isosne._types import Array


def width(Y: Array) -> float:
    """Return the longer side of the map."""
    return float(np.ptp(Y, axis=0).max())


def cluster(Y: Array, y: Array, label: int) -> Array:
    """Return the points of a cluster without the origin."""
    points: Array = Y[1:][y[1:] == label]
    return points


def share_inside(inner: Array, outer: Array) -> float:
    """Return the share of points that lie in the convex hull of others."""
    hull = ConvexHull(outer.astype(np.float64), qhull_options="QJ")
    normals, offsets = hull.equations[:, :-1], hull.equations[:, -1]
    return float(np.mean((inner @ normals.T + offsets <= 0).all(axis=1)))


def nesting(Y: Array, y: Array, labels: tuple[int, ...]) -> float:
    """Return the largest share of one cluster that lies in the hull of another."""
    clusters = [cluster(Y, y, label) for label in labels]
    return max(share_inside(a, b) for a in clusters for b in clusters if a is not b)


def distance_to_clusters(Y: Array, y: Array, labels: tuple[int, ...]) -> float:
    """Return how far the origin is from the farthest of the clusters, in widths of the map.

    The distance from a cluster is that from its nearest point.
    """
    gaps = [np.linalg.norm(cluster(Y, y, label) - Y[0], axis=1).min() for label in labels]
    return float(max(gaps)) / width(Y)


def place_between(point: Array, a: Array, b: Array) -> tuple[float, float]:
    """Return where a point lies on the line from a (0) to b (1), and how far aside of it.

    The distance aside is relative to that from a to b.
    """
    line = b - a
    along = float((point - a) @ line / (line @ line))
    aside = float(np.linalg.norm(point - a - along * line) / np.linalg.norm(line))
    return along, aside


def distance_in_spreads(Y: Array) -> float:
    """Return the distance of the origin from the center of the others, in their mean radius."""
    others = Y[1:] - Y[1:].mean(axis=0)
    origin = Y[0] - Y[1:].mean(axis=0)
    return float(np.linalg.norm(origin) / np.sqrt((others**2).sum(axis=1).mean()))
