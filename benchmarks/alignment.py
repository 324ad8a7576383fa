"""Aligned maps and growing maps: stability against quality, and rows that are far away.

Stability: the mean distance between the two places of a row on successive maps, after a similarity
transform, relative to the radius of the map. Quality: AUC_RNX of each map.
"""

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.harness import in_fresh_process, table
from benchmarks.kernels import read
from isosne import TSNE, Alignment, OwnerKernel
from isosne.layout.anchors import radius_of
from isosne.quality import compare
from isosne.quality.procrustes import find_similarity

STRENGTHS = (0, 1, 3, 10, 30, 100, 1000)
N_EXTENSIONS = 10
LATE = 7
"""Class of digits that arrives late."""
N_QUERIES = 1000
"""Points whose neighborhoods are compared."""


class Stage(NamedTuple):
    """A stage of a series: points, their identifiers, and the kernel."""

    X: np.ndarray
    ids: np.ndarray
    kernel: Any = "owner"


def growing_digits() -> Iterator[Stage]:
    """Yield digits in six growing batches; one class arrives in the fourth."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    early, late = order[y[order] != LATE], order[y[order] == LATE]
    for b in range(1, 7):
        rows = early[: b * len(early) // 6]
        if b >= 4:
            rows = np.concatenate([rows, late[: (b - 3) * len(late) // 3]])
        yield Stage(X[rows], rows)


def cell_sizes() -> Iterator[Stage]:
    """Yield the digits with cells that double in size."""
    X = load_digits().data[:1000]
    for size in (4, 8, 16, 32, 64):
        yield Stage(X, np.arange(len(X)), OwnerKernel(cell_size=size))


def days(name: str, n_rows: int) -> Iterator[Stage]:
    """Yield six days: 70 % of the rows each, with noise of a tenth of each column's spread."""
    found = read(name)
    if found is None:
        return
    X, rng = found[0][:n_rows], np.random.default_rng(0)
    for _ in range(6):
        rows = np.sort(rng.choice(len(X), 7 * len(X) // 10, replace=False))
        noise = 0.1 * X.std(axis=0) * rng.normal(size=(len(rows), X.shape[1]))
        yield Stage((X[rows] + noise).astype(np.float32), rows)


def moved(before: Stage, A: np.ndarray, after: Stage, B: np.ndarray) -> float:
    """Return the mean distance between the places of common rows, relative to the radius."""
    _, here, there = np.intersect1d(before.ids, after.ids, return_indices=True)
    laid = find_similarity(B[there], A[here]).apply(B[there])
    return float(np.linalg.norm(laid - A[here], axis=1).mean() / radius_of(A[here]))


def judge(X: np.ndarray, Y: np.ndarray) -> Any:
    """Return the comparison of neighborhoods, from a sample of the points."""
    return compare(X, Y, n_queries=min(N_QUERIES, len(X)), random_state=0)


def follow(stages: list[Stage], strength: float | None) -> list[float]:
    """Return movement, AUC_RNX, R(10) and KL, the means of all maps but the first.

    None: every map is made for itself.
    """
    maps: list[np.ndarray] = []
    figures = []
    for stage in stages:
        align_to = None
        if maps and strength is not None:
            before = stages[len(maps) - 1]
            align_to = Alignment(maps[-1], strength, ids=stage.ids, previous_ids=before.ids)
        model = TSNE(stage.kernel, align_to=align_to, random_state=0).fit(stage.X)
        maps.append(model.embedding_)
        if len(maps) > 1:
            compared = judge(stage.X, maps[-1])
            curve = compared.curve()
            near = float(curve.r[curve.k == 10][0])
            figures.append([compared.auc().value, near, model.kl_divergence_])
    steps = zip(pairwise(stages), pairwise(maps), strict=True)
    movement = [moved(before, A, after, B) for (before, after), (A, B) in steps]
    return [float(np.mean(movement)), *np.mean(figures, axis=0).tolist()]


def stability(name: str, n_rows: int) -> list[list[Any]]:
    """Return a row per strength for one series."""
    series = {"growing digits": growing_digits, "cell sizes": cell_sizes}
    stages = list(series[name]() if name in series else days(name, n_rows))
    if not stages:
        return []
    rows: list[list[Any]] = [[name, "separate maps", *follow(stages, None)]]
    return rows + [[name, strength, *follow(stages, strength)] for strength in STRENGTHS]


def growth(name: str, n_rows: int) -> list[list[Any]]:
    """Return a row per way to make the map of all rows, most of which arrive in ten extensions."""
    found = read(name) if name != "digits" else load_digits(return_X_y=True)
    if found is None:
        return []
    order = np.random.default_rng(1).permutation(len(found[0]))[:n_rows]
    X = found[0][order]
    sizes = [round(len(X) / 1.1 ** (N_EXTENSIONS - k)) for k in range(N_EXTENSIONS + 1)]
    TSNE(random_state=0).fit(X[:200]).extend(X[200:300])  # compiles
    began = time.perf_counter()
    fresh = TSNE(random_state=0).fit(X)
    seconds = time.perf_counter() - began
    first = TSNE(random_state=0).fit(X[: sizes[0]])
    rows = [[name, "fresh fit", 1.0, *_quality(X, fresh, fresh), "-", "-"]]
    placed = np.concatenate([first.embedding_, first.transform(X[sizes[0] :])])
    rows.append([name, "transform", "-", compare_auc(X, placed), "-", "-", "-", "-"])
    for strength in (0.0, 3.0, 10.0, 30.0):
        model = TSNE(random_state=0).fit(X[: sizes[0]])
        times, movement = [], []
        for before, after in pairwise(sizes):
            earlier = Stage(X[:before], np.arange(before)), model.embedding_
            began = time.perf_counter()
            model.extend(X[before:after], strength=strength)
            times.append(time.perf_counter() - began)
            later = Stage(X[:after], np.arange(after)), model.embedding_
            movement.append(moved(*earlier, *later))
        start = Stage(X[: sizes[0]], np.arange(sizes[0])), first.embedding_
        whole = moved(*start, *later)
        share = times[-1] / seconds
        label = f"ten extensions, strength {strength:g}"
        rows.append([name, label, share, *_quality(X, model, fresh), np.mean(movement), whole])
    return rows


def compare_auc(X: np.ndarray, Y: np.ndarray) -> float:
    """Return AUC_RNX from a sample of the points."""
    return float(judge(X, Y).auc().value)


def _quality(X: np.ndarray, model: TSNE, fresh: TSNE) -> list[Any]:
    auc, best = compare_auc(X, model.embedding_), compare_auc(X, fresh.embedding_)
    return [auc, auc / best, model.kl_divergence_ / fresh.kl_divergence_]


def far_rows(names: list[str]) -> list[list[Any]]:
    """Return the share of rows that are far: of known classes, of a class left out, and shuffled.

    Means over four classes that are left out in turn.
    """
    rows = []
    for name in names:
        found = read(name) if name != "digits" else load_digits(return_X_y=True)
        if found is None:
            continue
        rng = np.random.default_rng(0)
        order = rng.permutation(len(found[0]))[:6000]
        X, y = found[0][order], np.asarray(found[1])[order]
        shares = []
        for label in np.unique(y)[:4]:
            known = X[y != label]
            half = len(known) // 2
            model = TSNE(random_state=0, callback=lambda state: True).fit(known[:half])
            shuffled = rng.permuted(known[:half], axis=0)[:500]
            parts = (known[half:], X[y == label], shuffled)
            shares.append([len(model.find_far(part)) / len(part) for part in parts])
        rows.append([name, *np.mean(shares, axis=0).tolist()])
    return rows


def run(quick: bool) -> str:
    """Return the tables."""
    real, n_real = ("usps", 1500) if quick else ("mnist10k", 5000)
    found = []
    for name in ("growing digits", "cell sizes", real):
        found += in_fresh_process(stability, name, n_real)
    header = ["series", "strength", "moved", "AUC_RNX", "R(10)", "KL"]
    parts = [f"### Series of aligned maps\n\n{table(header, found)}"]
    found = []
    for name, n_rows in (("digits", 1797), (real, n_real)):
        found += in_fresh_process(growth, name, n_rows)
    header = ["set", "map", "time of the last, relative", "AUC_RNX", "relative to a fresh fit"]
    header += ["KL, relative", "moved per extension", "moved in all"]
    parts.append(f"### Ten extensions of 10 %\n\n{table(header, found)}")
    names = ["digits", "pendig"] if quick else ["digits", "mnist10k", "usps", "pendig", "segment"]
    header = ["set", "known classes", "a class left out", "shuffled columns"]
    found = in_fresh_process(far_rows, names)
    parts.append(f"### Share of rows that are far\n\n{table(header, found)}")
    return "\n\n".join(parts)
