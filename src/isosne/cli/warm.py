"""`isosne warm`: compile in advance what a first run would compile."""

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from isosne.cli import options as o
from isosne.cli.messages import make_progress, tell
from isosne.cli.options import Args

SIZES = 200, 2_000, 20_000
"""Points of the default maps: these take one thread, all pairs, and the approximate search and the
mesh; larger maps need nothing else."""
FEW = 300


@o.command(o.QUIET)
def warm(args: Args) -> None:
    """Compile all loops for this CPU in advance.

    It takes a minute or two, once for each version of isosne, Python and Numba. The loops are
    stored in Numba's cache. A wheel for one platform holds loops compiled for many CPUs; loops
    compiled for this CPU take precedence and can be faster.

    Example: isosne warm
    """
    from isosne._numba import compilation, threads

    progress, began = make_progress(), time.perf_counter()
    jobs = routes()
    progress.begin("compiling, part", 2 * len(jobs))
    compilation.is_wanted = True
    try:
        for half, n_jobs in enumerate((1, None)):  # one thread has functions of its own, first
            for number, job in enumerate(jobs, half * len(jobs) + 1):
                with threads(n_jobs), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the data have no meaning
                    job()
                progress.advance(number, "")
    finally:
        compilation.is_wanted = False
        progress.end()
    tell(f"Everything is compiled. It took {time.perf_counter() - began:.0f} s.")


def routes() -> list[Callable[[], object]]:
    """Return calls that together need every loop that users run, for usual types of data."""
    import numpy as np
    from scipy.sparse import csr_array

    import isosne
    from isosne import TSNE, Phase, Schedule, quality

    rng = np.random.default_rng(0)
    X = rng.normal(size=(SIZES[-1], 10))
    few = X[:FEW]
    table = np.column_stack([few[:, 0], np.arange(FEW) % 7]).astype(object)
    short = partial(TSNE, schedule=Schedule((Phase(60, exaggeration=4, step=1.0),)), random_state=0)

    def fit_and_place(points: Any, **settings: Any) -> None:
        short(**settings).fit(points).transform(points[:20])

    def leaves() -> None:
        codes = isosne.TableForest(categorical=[1], random_state=0).fit(table).transform(table)
        fit_and_place(codes, kernel=isosne.OwnerKernel(metric="hamming"))

    single = X.astype(np.float32)
    kernels, metrics = ("isolation", "gaussian", "adaptive", "knn"), ("cosine", "manhattan")
    shapes: list[dict[str, Any]] = [
        *({"n_components": d, "forces": name} for d in (1, 2, 3) for name in ("exact", "tree")),
        *({"n_components": d, "forces": "mesh"} for d in (1, 2)),
        *({"objective": name, "kernel": "gaussian"} for name in ("kl", "nerv", "jse")),
        *({"kernel": "isolation", "affinities": name} for name in ("dense", "sparse", "sampled")),
    ]
    return [
        *(partial(TSNE(random_state=0).fit, each[:n]) for each in (X, single) for n in SIZES),
        *(partial(fit_and_place, each) for each in (few, single[:FEW], csr_array(few))),
        *(partial(fit_and_place, few, kernel=name) for name in kernels),
        *(partial(fit_and_place, few, **shape) for shape in shapes),
        *(partial(isosne.nearest_neighbors, few, 5, metric=name) for name in metrics),
        leaves,
        partial(quality.report, few, few[:, :2], np.arange(FEW) % 3),
        partial(isosne.LeidenClustering(random_state=0).fit, few),
        partial(isosne.IsolationOutliers(random_state=0).fit, few),
    ]
