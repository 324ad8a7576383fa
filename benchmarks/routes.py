"""Routes for many points: a broad kernel by drawing, and further points on a large map."""

import time

import numpy as np

from benchmarks.exact import principal_components
from benchmarks.harness import in_fresh_process, table, timed
from benchmarks.peers.points import mixture
from isosne import TSNE, IsolationKernel
from isosne.layout.schedules import Phase, Schedule
from isosne.quality import compare

FEW_STEPS = Schedule((Phase(2),))
PSI = 64


def drawn_job(n: int) -> list[float]:
    """Return seconds and memory of a broad kernel's map by drawing, and bytes a point."""
    X = mixture(n)[0]
    kernel = IsolationKernel(PSI)
    TSNE(kernel, affinities="sampled", schedule=FEW_STEPS, random_state=0).fit(X[:12_000])
    model = TSNE(kernel, affinities="sampled", random_state=0)
    seconds, mb, _ = timed(lambda: model.fit(X))
    return [seconds, mb, mb * 2**20 / n]


def agreement_job(n: int, n_all: int) -> list[float]:
    """Return AUC_RNX of dense and drawn maps of a subsample, with psi's share and with psi."""
    X = mixture(n_all)[0]
    X = X[np.random.default_rng(0).choice(n_all, n, replace=False)]
    row = []
    for psi in (max(2, round(PSI * n / n_all)), PSI):
        for affinities in ("dense", "sampled"):
            model = TSNE(IsolationKernel(psi), affinities=affinities, random_state=0).fit(X)
            row.append(float(compare(X, model.embedding_, n_queries=2000, random_state=0).auc()))
    return row


def placing_job(n: int, n_new: int) -> list[float]:
    """Return seconds to make ready, and points a second, of `transform`."""
    X, _ = principal_components(n)
    X = X.astype(np.float32)
    model = TSNE(random_state=0).fit(X)
    new = X[np.random.default_rng(0).choice(n, n_new)]
    new = new + np.random.default_rng(1).normal(0, 0.05 * X.std(), new.shape).astype(np.float32)
    start = time.perf_counter()
    model.transform(new[:100])
    ready = time.perf_counter() - start
    seconds, mb, _ = timed(lambda: model.transform(new))
    return [ready, n_new / seconds, mb]


def run(quick: bool) -> str:
    """Return the tables."""
    n_all, n, n_map, n_new = (
        (12_000, 2_000, 21_000, 5_000) if quick else (200_000, 10_000, 70_000, 100_000)
    )
    drawn = [[f"{size:,}", *in_fresh_process(drawn_job, size)] for size in (n_all // 2, n_all)]
    share, psi = np.split(np.array(in_fresh_process(agreement_job, n, n_all)), 2)
    agreement = [
        [f"psi of the same share ({max(2, round(PSI * n / n_all))})", *share, share[1] / share[0]],
        [f"psi {PSI}", *psi, psi[1] / psi[0]],
    ]
    placed = [[f"{n_map:,}", f"{n_new:,}", *in_fresh_process(placing_job, n_map, n_new)]]
    return "\n\n".join(
        [
            f"### A broad kernel by drawing, psi {PSI}, uneven mixture in 50 dimensions",
            table(["n", "s", "peak MB", "bytes a point"], drawn),
            f"### Drawn against dense, {n:,} of its points, AUC_RNX",
            table(["", "dense", "drawn", "ratio"], [[*map(_plain, row)] for row in agreement]),
            "### Further points on a map",
            table(["map", "new", "make ready, s", "points a second", "peak MB"], placed),
        ]
    )


def _plain(value: object) -> object:
    return float(value) if isinstance(value, np.floating) else value
