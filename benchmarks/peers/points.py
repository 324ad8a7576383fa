"""The data that methods are compared on: real sets, and a mixture of any size."""

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.preprocessing import minmax_scale

from benchmarks.paper.data import load
from isosne.errors import DataError

N_COLUMNS = 50
MIXTURE_ROWS = 1_000_000
N_CLUSTERS, N_COMPANIONS = 40, 8
CACHE = Path(tempfile.gettempdir()) / "isosne-benchmarks"


class LabeledPoints(NamedTuple):
    """Points in random order, their classes, and which rows of the set they are."""

    label: str
    """Name of the set, with the number of rows if they are not all: a file name."""
    source: str
    X: np.ndarray
    classes: np.ndarray
    rows: np.ndarray


def draw_points(name: str, n: int | None = None) -> LabeledPoints:
    """Return n points of a set, or all of them; a smaller sample is part of a larger one.

    Of a mixture, each n is another draw.
    """
    if name == "mixture":
        n = n or MIXTURE_ROWS
        X, classes = mixture(n)
        label = name if n == MIXTURE_ROWS else f"{name}-{n}"
        source = f"mixture of {N_CLUSTERS} Gaussian clusters, uneven in size and density"
        return LabeledPoints(label, source, X, classes, np.arange(n))
    X, classes, source = real_set(name)
    if n is not None and n > len(X):
        raise DataError(f"{name} has {len(X)} points; got n={n}. Choose a smaller n.")
    rows = np.random.default_rng(0).permutation(len(X))[:n]
    label = name if len(rows) == len(X) else f"{name}-{len(rows)}"
    return LabeledPoints(label, source, np.ascontiguousarray(X[rows]), classes[rows], rows)


def mixture(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n points of clusters whose sizes and scales differ a lot, and their clusters.

    Sizes follow a power law (85 to 1); scales are log-uniform from 0.3 to 3; within a cluster
    the scale falls along its axes, so that about ten dimensions count. Some clusters overlap: each
    of the last few has its center near another's.
    """
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(N_CLUSTERS, N_COLUMNS))
    scales = np.exp(rng.uniform(np.log(0.3), np.log(3.0), N_CLUSTERS))
    for c in range(N_CLUSTERS - N_COMPANIONS, N_CLUSTERS):
        other = int(rng.integers(N_CLUSTERS - N_COMPANIONS))
        away = rng.normal(size=N_COLUMNS)
        centers[c] = centers[other] + scales[other] * away / np.linalg.norm(away)
    shares = np.arange(1, N_CLUSTERS + 1) ** -1.2
    shares = rng.permutation(shares / shares.sum())
    falling = np.exp(-np.arange(N_COLUMNS) / 10)
    axes = [np.linalg.qr(rng.normal(size=(N_COLUMNS, N_COLUMNS)))[0] for _ in range(N_CLUSTERS)]
    clusters = rng.choice(N_CLUSTERS, n, p=shares)
    X = rng.standard_normal((n, N_COLUMNS), np.float32)
    for c in range(N_CLUSTERS):
        ids = np.flatnonzero(clusters == c)
        shape = (scales[c] * falling)[:, None] * axes[c].T
        X[ids] = X[ids] @ shape.astype(np.float32) + centers[c].astype(np.float32)
    return X, clusters


def real_set(name: str) -> tuple[np.ndarray, np.ndarray, str]:
    """Return a set by name: its columns scaled to 0..1, or 50 principal components of them.

    The digits of MNIST keep their pixel values. Components are kept in a folder for temporary
    files.
    """
    data = load(name)
    if data.X.shape[1] <= N_COLUMNS:
        return minmax_scale(data.X).astype(np.float32), data.y, f"{name}, columns scaled to 0..1"
    source = f"{N_COLUMNS} principal components of {name}"
    path = CACHE / f"{name}-{data.X.shape[0]}-pca{N_COLUMNS}.npy"
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        np.save(path, principal_components(data.X, raw=name.startswith("mnist")))
    return np.load(path), data.y, source


def principal_components(X: Any, *, raw: bool) -> np.ndarray:
    """Return 50 components of pixel values, of columns scaled to 0..1, or of sparse data."""
    if issparse(X):
        return TruncatedSVD(N_COLUMNS, random_state=0).fit_transform(X).astype(np.float32)
    columns = X.astype(np.float32) if raw else minmax_scale(X).astype(np.float32)
    return PCA(N_COLUMNS, random_state=0).fit_transform(columns)
