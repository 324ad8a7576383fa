"""Measures of labeled classes, word for word."""

import math
from collections import Counter


def _centers(Y, labels):
    members = {c: [y for y, label in zip(Y, labels, strict=True) if label == c] for c in labels}
    means = {c: [sum(axis) / len(m) for axis in zip(*m, strict=True)] for c, m in members.items()}
    return members, means


def scaled(Y):
    """Return the map with each axis scaled to 0..1; an axis without extent is zero."""
    lows = [min(axis) for axis in zip(*Y, strict=True)]
    spans = [max(axis) - low or 1.0 for axis, low in zip(zip(*Y, strict=True), lows, strict=True)]
    return [[(v - a) / s for v, a, s in zip(y, lows, spans, strict=True)] for y in Y]


def davies_bouldin(Y, labels):
    """Eq. 12."""
    members, means = _centers(Y, labels)
    width = {c: sum(math.dist(y, means[c]) for y in m) / len(m) for c, m in members.items()}
    worst = [
        max((width[a] + width[b]) / math.dist(means[a], means[b]) for b in means if b != a)
        for a in means
    ]
    return sum(worst) / len(worst)


def calinski_harabasz(Y, labels, power):
    """Eq. 13, as printed with power 1; the usual index with power 2."""
    members, means = _centers(Y, labels)
    center = [sum(axis) / len(Y) for axis in zip(*Y, strict=True)]
    between = sum(len(m) * math.dist(means[c], center) ** power for c, m in members.items())
    within = sum(math.dist(y, means[c]) ** power for c, m in members.items() for y in m)
    return (between / (len(means) - 1)) / (within / (len(Y) - len(means)))


def votes(Y, labels, k):
    """Return the class that each point's k nearest others vote for; ties to the nearest's."""
    found = []
    for i, y in enumerate(Y):
        others = sorted((math.dist(y, z) ** 2, j) for j, z in enumerate(Y) if j != i)[:k]
        classes = [labels[j] for _, j in others]
        count = Counter(classes)
        found.append(next(c for c in classes if count[c] == max(count.values())))
    return found
