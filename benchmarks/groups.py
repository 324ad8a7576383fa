"""Maps of groups of rows: the isolation distributional kernel beside means of the groups.

Groups of 20 to 80 rows are drawn from real data sets: each of 400 groups has one of eight types,
and a type is a mixture of the classes. The groups of *equal means* differ in shape alone. Real
groups are those of multiple instance learning, which the package mil ships: ``python -m benchmarks
groups --folder FOLDER`` with the folder of its CSV files, whose first columns are label and group.
A map is measured by the 10-NN accuracy of the types. Columns are scaled to 0..1.
"""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.harness import table
from benchmarks.structure import load_scaled
from isosne import TSNE, GroupFeatures, IsolationKernel
from isosne.quality import knn_accuracy

SETS = ["usps", "mnist10k", "pendig", "segment", "bendall20k", "equal means"]
REAL = ["musk1", "musk2", "elephant", "corel_dogs", "birds_brown_creeper", "web_recommendation_1"]
N_GROUPS, N_TYPES, SIZE, SEEDS = 400, 8, 40, 3
SIZES = (2, 5, 20, 80)
PSIS = (8, 16, 32, 64, 128, 256)
Groups = list[np.ndarray]
Vectors = Callable[[Groups, int], np.ndarray]


def isolation(psi: int | None = None, partition: str = "voronoi") -> Vectors:
    """Return what makes vectors with an isolation kernel; psi None: the default."""
    own = IsolationKernel(psi or 64, n_partitions=100, partition=partition)
    kernel = None if psi is None else own
    return lambda groups, seed: GroupFeatures(kernel, random_state=seed).fit_transform(groups)


def means(groups: Groups, seed: int) -> np.ndarray:
    """Return the mean of each group."""
    return np.array([group.mean(axis=0) for group in groups])


def means_and_deviations(groups: Groups, seed: int) -> np.ndarray:
    """Return mean and standard deviation of each column in each group."""
    return np.array([np.r_[group.mean(axis=0), group.std(axis=0)] for group in groups])


METHODS: dict[str, Vectors] = {
    "means": means,
    "means and deviations": means_and_deviations,
    "groups": isolation(),
    "spheres": isolation(64, "spheres"),
    "trees": isolation(64, "forest"),
}


def draw(name: str, seed: int, size: int = SIZE) -> tuple[Groups, np.ndarray]:
    """Return groups of size / 2 to 2 size rows, and the type of each."""
    if name == "equal means":
        return equal_means(seed, size)
    X, y = load_scaled(name)
    rng = np.random.default_rng(seed)
    classes = [np.flatnonzero(y == c) for c in range(y.max() + 1)]
    mixtures = rng.dirichlet(np.full(len(classes), 0.7), N_TYPES)
    types = rng.integers(0, N_TYPES, N_GROUPS)
    groups = []
    for kind in types:
        shares = rng.dirichlet(30 * mixtures[kind] + 1e-3)
        drawn = rng.choice(len(classes), rng.integers(max(1, size // 2), 2 * size), p=shares)
        groups.append(X[[rng.choice(classes[c]) for c in drawn]])
    return groups, types


def equal_means(seed: int, size: int) -> tuple[Groups, np.ndarray]:
    """Return groups in ten columns with mean 0 and variance 1, of four shapes."""
    rng = np.random.default_rng(seed)
    types = rng.integers(0, 4, N_GROUPS)
    groups = []
    for kind in types:
        n = rng.integers(max(1, size // 2), 2 * size)
        Z = rng.normal(size=(n, 10))
        if kind == 1:  # two clusters
            Z = 0.6 * Z + 0.8 * rng.choice([-1, 1], (n, 1))
        elif kind == 2:  # long tails
            Z /= np.sqrt(rng.chisquare(3, (n, 1)))
        elif kind == 3:  # clusters at all corners of a cube
            Z = 0.6 * Z + 0.8 * rng.choice([-1, 1], (n, 10))
        groups.append(Z)
    return groups, types


def read(folder: str, name: str) -> tuple[Groups, np.ndarray]:
    """Return the groups of a file, and the label of each."""
    values = np.genfromtxt(Path(folder) / f"{name}.csv", delimiter=",")
    X, low, high = values[:, 2:], values[:, 2:].min(axis=0), values[:, 2:].max(axis=0)
    X = (X - low) / np.where(high > low, high - low, 1)
    names, first = np.unique(values[:, 1], return_index=True)
    return [X[values[:, 1] == group] for group in names], values[first, 0].astype(int)


def accuracies(drawn: list[tuple[Groups, np.ndarray]], make: Vectors) -> tuple[str, float]:
    """Return mean and standard error of the accuracy over the seeds, and seconds of a map."""
    found, start = [], time.perf_counter()
    for seed, (groups, types) in enumerate(drawn):
        Y = TSNE(random_state=seed).fit_transform(make(groups, seed))
        found.append(float(knn_accuracy(Y, types)))
    seconds = (time.perf_counter() - start) / len(drawn)
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    return f"{np.mean(found):.3f} ± {error:.3f}", seconds


def row(name: str, drawn: list[tuple[Groups, np.ndarray]]) -> list[object]:
    """Return the accuracies of all methods, and the seconds of two of them."""
    groups, _ = drawn[0]
    found = {method: accuracies(drawn, make) for method, make in METHODS.items()}
    most = np.mean([np.bincount(of_group).max() / len(of_group) for _, of_group in drawn])
    rows = sum(map(len, groups))
    times = [f"{found[method][1]:.1f}" for method in ("means", "groups")]
    return [name, len(groups), rows, f"{most:.2f}", *(cell for cell, _ in found.values()), *times]


def run(quick: bool, folder: str | None = None) -> str:
    """Return the tables."""
    names, seeds = SETS[2:3] if quick else SETS, range(SEEDS)
    header = ["data", "groups", "rows", "largest type", *METHODS, "s, means", "s, groups"]
    rows = [row(name, [draw(name, seed) for seed in seeds]) for name in names]
    for name in REAL if folder is not None and not quick else ():
        rows.append(row(name, [read(str(folder), name)] * SEEDS))
    sizes = []
    for name in names[:3]:
        for size in SIZES:
            drawn = [draw(name, seed, size) for seed in seeds]
            cells = [accuracies(drawn, METHODS[method])[0] for method in list(METHODS)[:3]]
            sizes.append([name, f"{max(1, size // 2)} to {2 * size - 1}", *cells])
    scales = []
    for name in names:
        drawn = [draw(name, seed) for seed in seeds]
        scales.append([name, *(accuracies(drawn, isolation(psi))[0] for psi in PSIS)])
    return "\n\n".join(
        [
            "### Groups",
            table(header, rows),
            table(["data", "rows per group", *list(METHODS)[:3]], sizes),
            table(["data", *(f"psi {psi}" for psi in PSIS)], scales),
        ]
    )
