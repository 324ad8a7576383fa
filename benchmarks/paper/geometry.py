"""Numbers for what the paper shows in figures: nested clusters, and the position of the origin.

The first point of a map is the origin. It belongs to several clusters and is excluded from all of
them here.
"""

import numpy as np
from scipy.spatial import ConvexHull

from isosne._types import Array


def width(Y: Array) -> float:
    """Return the longer side of the map."""
    return float(np.ptp(Y, axis=0).max())


def cluster_points(Y: Array, y: Array, label: int) -> Array:
    """Return the points of a cluster without the origin."""
    points: Array = Y[1:][y[1:] == label]
    return points


def share_inside(inner: Array, outer: Array) -> float:
    """Return the fraction of points inside the convex hull of others."""
    hull = ConvexHull(outer.astype(np.float64), qhull_options="QJ")
    normals, offsets = hull.equations[:, :-1], hull.equations[:, -1]
    return float(np.mean((inner @ normals.T + offsets <= 0).all(axis=1)))


def nesting(Y: Array, y: Array, labels: tuple[int, ...]) -> float:
    """Return the largest fraction of a cluster inside the convex hull of another."""
    clusters = [cluster_points(Y, y, label) for label in labels]
    return max(share_inside(a, b) for a in clusters for b in clusters if a is not b)


def distance_to_clusters(Y: Array, y: Array, labels: tuple[int, ...]) -> float:
    """Return the distance of the origin to the farthest cluster, relative to the map's width.

    The distance to a cluster is the distance to its nearest point.
    """
    gaps = [np.linalg.norm(cluster_points(Y, y, label) - Y[0], axis=1).min() for label in labels]
    return float(max(gaps)) / width(Y)


def project_between(point: Array, a: Array, b: Array) -> tuple[float, float]:
    """Project a point on the line from a (0) to b (1); return its coordinate and distance.

    The distance to the line is relative to the distance of a and b.
    """
    line = b - a
    along = float((point - a) @ line / (line @ line))
    aside = float(np.linalg.norm(point - a - along * line) / np.linalg.norm(line))
    return along, aside


def distance_in_spreads(Y: Array) -> float:
    """Return the distance of the origin to the center of all others, relative to their radius.

    The radius is the root mean square distance to the center.
    """
    others = Y[1:] - Y[1:].mean(axis=0)
    origin = Y[0] - Y[1:].mean(axis=0)
    return float(np.linalg.norm(origin) / np.sqrt((others**2).sum(axis=1).mean()))
