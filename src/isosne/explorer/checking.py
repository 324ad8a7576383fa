"""Is a selection a real group? Clusters, outliers, null test and further maps, on demand.

The `Measurer` computes what is asked for, of the first map; `weigh` puts it into words. The limits
are rules of thumb (docs/is-this-cluster-real.md).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from isosne._types import Array
from isosne.explorer.data import MIN_POINTS, Settings
from isosne.explorer.maps import ShownMap
from isosne.explorer.session import CLUSTER, NULL_P, OUTLIERS, SEEDS, Session
from isosne.neighbors.exact import is_other
from isosne.neighbors.search import make_search, nearest_neighbors
from isosne.structure import null_test
from isosne.structure.clusters import LeidenClustering
from isosne.structure.null import LEVEL
from isosne.structure.outliers import IsolationOutliers
from isosne.studies.point_columns import Column
from isosne.tsne.estimator import TSNE

N_NEIGHBORS = 10  # size of the neighborhoods that are compared, as in `isosne report`
N_SEEDS = 5  # further maps
MIN_INSIDE, MIN_STABILITY, MIN_SHARE = 0.85, 0.75, 0.5
WHOLE = 0.9  # share of the rows of a group in one piece that must be connected


class Inside(NamedTuple):
    """How many of the true neighbors of ``n_queries`` of the selected ``rows`` are selected too."""

    rows: Array
    share: float
    n_queries: int


def find_inside(session: Session, rows: Array, n_queries: int) -> Inside:
    """Return how many of the nearest neighbors of the selected rows, or a sample, are selected."""
    X, n_queries = session.rows.X, min(n_queries, len(rows))
    chosen = np.random.default_rng(0).choice(rows, n_queries, replace=False)
    search = make_search(X, session.metric_of(session.maps[0]), "exact")
    found, _ = search.nearest(X[chosen], min(N_NEIGHBORS + 1, len(rows)))
    near = found[is_other(found, chosen)]
    return Inside(rows, float(np.isin(near, rows).mean()), n_queries)


def find(name: str, session: Session, shown: ShownMap, stop: Callable[[Any], bool]) -> Any:
    """Return what was asked for about a map, or about the default kernel if it has no model."""
    X, metric, model = session.rows.X, session.metric_of(shown), shown.model
    if name == CLUSTER:
        return LeidenClustering(random_state=0).fit(model or session.rows.to_fit(None))
    if name == NULL_P:
        return null_test(X, model or "owner")
    if name == OUTLIERS:
        outliers = IsolationOutliers(metric=metric.name, p=metric.p, random_state=0)
        scores = outliers.fit(X).score_samples(X)
        return 1 - scores / scores.max()
    done = session.checks.get(SEEDS, ())  # lists of neighbors; one more map, from a random start
    given = {"random_state": 1 + len(done), "start": "random", "callback": stop}
    again = TSNE(**(model or Settings().make_model()).get_params(deep=False) | given)
    Y = again.fit_transform(session.rows.to_fit(None))
    return *done, nearest_neighbors(Y, min(N_NEIGHBORS, len(Y) - 1)).indices


def missing(session: Session) -> list[str]:
    """Return what was asked for, and is not known yet."""
    asked = [one for one in (CLUSTER, NULL_P, OUTLIERS) if one in {*session.wanted, session.color}]
    left = [name for name in asked if name not in session.checks]
    maps = session.checks.get(SEEDS, ()) if SEEDS in session.wanted else None
    return left if maps is None or len(maps) >= N_SEEDS else [*left, SEEDS]


def check_column(session: Session, name: str) -> Column | None:
    """Return what was found as a column to color by; None if it is not known."""
    found = session.checks.get(name)
    if isinstance(found, LeidenClustering):
        return Column(name, found.labels_.astype(np.int32), [*map(str, range(found.n_clusters_))])
    return None if found is None else Column(name, getattr(found, "point_p_values", found))


def largest_piece(neighbors: Array, rows: Array) -> float:
    """Return the largest share of rows that are connected by neighbors among them."""
    place = np.full(len(neighbors), -1)
    place[rows] = np.arange(len(rows))
    ends = place[neighbors[rows]]
    begins = np.broadcast_to(place[rows][:, None], ends.shape)[ends >= 0]
    links = csr_array((np.ones(len(begins)), (begins, ends[ends >= 0])), shape=(len(rows),) * 2)
    pieces = connected_components(links, directed=False)[1]
    return float(np.bincount(pieces).max() / len(rows))


def weigh(session: Session) -> list[tuple[str, bool | None]]:
    """Return what is known of the selection, and whether it speaks for a group; None: neither."""
    rows, n, inside, checks = session.selection, session.rows.n_rows, session.inside, session.checks
    if not MIN_POINTS <= len(rows) < n or not session.maps:
        return []
    found: list[tuple[str, bool | None]] = []
    if inside is not None and inside.rows is rows:
        chance = (len(rows) - 1) / (n - 1)
        sample = f", estimated from {inside.n_queries:,} rows" * (inside.n_queries < len(rows))
        words = (
            f"{inside.share:.0%} of their nearest neighbors in the data are selected, too (by "
            f"chance {chance:.0%}{sample})."
        )
        found.append((words, inside.share >= chance + MIN_INSIDE * (1 - chance)))
    measured = session.measures.get(session.maps[0])
    if measured is not None and np.isfinite(measured.trust[rows]).any():
        kept, whole = np.nanmean(measured.trust[rows]), np.nanmean(measured.trust)
        found.append((f"Neighbors kept by the map: {kept:.0%} (whole map: {whole:.0%}).", None))
    if (clusters := checks.get(CLUSTER)) is not None:
        sizes, shared = np.bincount(clusters.labels_), np.bincount(clusters.labels_[rows])
        c = int(shared.argmax())
        stability, either = clusters.cluster_stability_[c], len(rows) + sizes[c] - shared[c]
        words = (
            f"{shared[c]:,} of them are in cluster {c}, which has {sizes[c]:,} rows and stability "
            f"{stability:.2f}."
        )
        found.append((words, shared[c] >= MIN_SHARE * either and stability >= MIN_STABILITY))
    if (null := checks.get(NULL_P)) is not None:
        share = np.mean(null.point_p_values[rows] <= LEVEL)
        words = (
            f"{share:.0%} of them lie in regions more self-contained than those of 95% of random "
            f"points (null test of all rows: p = {null.p_value:.2g})."
        )
        found.append((words, null.is_real and share >= MIN_SHARE))
    if maps := checks.get(SEEDS):
        n_whole = sum(largest_piece(neighbors, rows) >= WHOLE for neighbors in maps)
        words = f"They are in one piece on {n_whole} of {len(maps)} maps with other seeds."
        found.append((words, n_whole > len(maps) / 2))
    return found
