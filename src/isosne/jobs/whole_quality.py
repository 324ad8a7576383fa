"""Quality of all placed rows, estimated from a sample of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from isosne._types import Array, Points
from isosne.jobs.part_rows import PartReader, open_result
from isosne.jobs.parts import Part
from isosne.quality import compare
from isosne.quality.comparison import KS
from isosne.quality.sampling import Estimate, estimate_mean
from isosne.tsne.estimator import TSNE

N_SAMPLED, N_QUERIES, K = 20_000, 2_000, 10
"""Rows that are drawn from the whole; how many of them are evaluated; their neighbors. Chosen: as
for a map in memory of more than 20,000 points."""
SEED = 0


class PlacedPart(NamedTuple):
    """A part, its result and its number of rows."""

    part: Part
    result: Path
    n_rows: int


def measure_whole(model: TSNE, reader: PartReader, parts: Sequence[PlacedPart]) -> dict[str, Any]:
    """Return measures of neighborhood preservation with their standard errors.

    Neighbors are searched among the sampled rows. A neighborhood of k sampled rows stands for one
    of k n_rows / n_sampled rows. The standard errors are those of the mean over the evaluated rows.
    """
    X, Y = _draw(model, reader, parts)
    n_rows, n_sampled = sum(part.n_rows for part in parts), len(Y)
    k = min(K, (n_sampled - 1) // 2)
    ranks = compare(
        X,
        Y,
        k,
        metric=model.kernel_.metric,
        p=model.kernel_.p,
        n_queries=min(N_QUERIES, n_sampled),
        random_state=SEED,
        n_jobs=model.n_jobs,
    )
    trust = ranks.trust()
    rnx = ((n_sampled - 1) * trust.agreement - k) / (n_sampled - 1 - k)
    estimates = {
        "auc_rnx": estimate_mean(ranks.counts.areas[KS.index("all")], n_rows, ranks.auc().value),
        "rnx": estimate_mean(rnx, n_rows),
        "trustworthiness": estimate_mean(1 - trust.false_neighbors, n_rows),
        "continuity": estimate_mean(1 - trust.missing_neighbors, n_rows),
    }
    about = {"n_rows": n_rows, "n_sampled": n_sampled, "n_queries": len(trust.points), "k": k}
    return about | _flat(estimates)


def _flat(estimates: dict[str, Estimate]) -> dict[str, float]:
    flat = {}
    for name, estimate in estimates.items():
        flat[name] = estimate.value
        flat[f"{name}_standard_error"] = estimate.standard_error
    return flat


def _draw(model: TSNE, reader: PartReader, parts: Sequence[PlacedPart]) -> tuple[Points, Array]:
    """Return rows that were drawn from all parts, in the scale of the map, and their places."""
    ends = np.cumsum([part.n_rows for part in parts])
    n_rows = int(ends[-1])
    rng = np.random.default_rng(SEED)
    chosen = np.sort(rng.choice(n_rows, min(N_SAMPLED, n_rows), replace=False))
    owners = np.searchsorted(ends, chosen, side="right")
    data, places = [], []
    for p in np.unique(owners).tolist():
        part, result, n = parts[p]
        rows = chosen[owners == p] - (ends[p] - n)
        features = reader.open(part, {}).rows
        data.append(model._open_new(features).take(rows))
        places.append(open_result(result, model.embedding_.shape[1]).take(rows))
    stacked: Points = csr_array(vstack(data)) if issparse(data[0]) else np.concatenate(data)
    return stacked, np.concatenate(places).astype(np.float32)
