"""Is a selection a real group? Clusters, outliers, null test and further maps, on demand.

What is asked for is computed by the `Measurer`, for the first map; `weigh` puts it into words. The
limits are rules of thumb: they were chosen, and are documented in docs/is-this-cluster-real.md.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
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
WHOLE = 0.9  # share of the rows that must be connected for a group in one piece
Stop = Callable[[Any], bool]


class Inside(NamedTuple):
    """The share of the true neighbors of selected rows that are selected too.

    ``rows`` are selected; the share is that of ``n_queries`` of them.
    """

    rows: Array
    share: float
    n_queries: int


class Evidence(NamedTuple):
    """A sentence about a selection, and whether it speaks for a group; None: neither."""

    sentence: str
    is_for: bool | None = None


def find_inside(session: Session, rows: Array, n_queries: int) -> Inside:
    """Return how many of the nearest neighbors of the selected rows, or a sample, are selected."""
    X, chosen = session.rows.X, rows
    if len(rows) > n_queries:
        chosen = np.random.default_rng(0).choice(rows, n_queries, replace=False)
    k = min(N_NEIGHBORS, len(rows) - 1)
    search = make_search(X, session.metric_of(session.maps[0]), "exact")
    found, _ = search.nearest(X[chosen], k + 1)
    near = found[is_other(found, chosen)]
    return Inside(rows, float(np.isin(near, rows).mean()), len(chosen))


def find_clusters(session: Session, shown: ShownMap, stop: Stop) -> LeidenClustering:
    """Return the clusters of the joint probabilities of a map, or of the default kernel."""
    source = shown.model if shown.status.has_model else session.rows.to_fit(None)
    return LeidenClustering(random_state=0).fit(source)


def find_outliers(session: Session, shown: ShownMap, stop: Stop) -> Array:
    """Return the outlier score of each row, from 0 to 1."""
    metric, X = session.metric_of(shown), session.rows.X
    detector = IsolationOutliers(metric=metric.name, p=metric.p, random_state=0)
    scores = detector.fit(X).score_samples(X)
    return np.asarray(1 - scores / scores.max())


def add_map(session: Session, shown: ShownMap, stop: Stop) -> tuple[Array, ...]:
    """Return the neighbors of each row in further maps, and in one more with a random start."""
    done = session.checks.get(SEEDS, ())
    model = shown.model or Settings().make_model()
    given = {"random_state": 1 + len(done), "start": "random", "callback": stop}
    Y = TSNE(**model.get_params(deep=False) | given).fit_transform(session.rows.to_fit(None))
    return *done, nearest_neighbors(Y, min(N_NEIGHBORS, len(Y) - 1)).indices


FINDERS: dict[str, Callable[[Session, ShownMap, Stop], Any]] = {
    CLUSTER: find_clusters,
    OUTLIERS: find_outliers,
    NULL_P: lambda session, shown, stop: null_test(session.rows.X, shown.model or "owner"),
    SEEDS: add_map,
}


def missing(session: Session) -> list[str]:
    """Return what was asked for, and is not known yet."""
    asked = [name for name in FINDERS if name in session.wanted or name == session.color]
    found = session.checks
    is_known = {name: name in found for name in asked}
    lists = found.get(SEEDS, ())
    is_known[SEEDS] = lists is None or len(lists) >= N_SEEDS
    return [name for name in asked if not is_known[name]]


def check_column(session: Session, name: str) -> Column | None:
    """Return what was found as a column to color by; None if it is not known."""
    found = session.checks.get(name)
    if found is None or name == SEEDS:
        return None
    if name == CLUSTER:
        return Column(name, found.labels_.astype(np.int32), [*map(str, range(found.n_clusters_))])
    return Column(name, found.point_p_values if name == NULL_P else found)


def largest_piece(neighbors: Array, rows: Array) -> float:
    """Return the largest share of rows that are connected by neighbors among them."""
    place = np.full(len(neighbors), -1)
    place[rows] = np.arange(len(rows))
    ends = place[neighbors[rows]]
    begins = np.broadcast_to(np.arange(len(rows))[:, None], ends.shape)[ends >= 0]
    links = csr_array((np.ones(len(begins)), (begins, ends[ends >= 0])), shape=(len(rows),) * 2)
    pieces: NDArray[np.int32] = connected_components(links, directed=False)[1]
    return float(np.bincount(pieces).max() / len(rows))


def weigh(session: Session) -> list[Evidence]:
    """Return what is known of the selection."""
    rows, n, inside = session.selection, session.rows.n_rows, session.inside
    if not MIN_POINTS <= len(rows) < n or not session.maps:
        return []
    found = []
    if inside is not None and inside.rows is rows:
        k, chance = min(N_NEIGHBORS, len(rows) - 1), (len(rows) - 1) / (n - 1)
        sample = f", estimated from {inside.n_queries:,} rows" * (inside.n_queries < len(rows))
        found.append(
            Evidence(
                f"{inside.share:.0%} of their {k} nearest neighbors in the data are selected, too "
                f"(by chance {chance:.0%}{sample}).",
                inside.share >= chance + MIN_INSIDE * (1 - chance),
            )
        )
    measured = session.measures.get(session.maps[0])
    if measured is not None and np.isfinite(measured.trust[rows]).any():
        kept, whole = np.nanmean(measured.trust[rows]), np.nanmean(measured.trust)
        found.append(Evidence(f"Neighbors kept by the map: {kept:.0%} (whole map: {whole:.0%})."))
    weighers = {CLUSTER: _weigh_cluster, NULL_P: _weigh_null, SEEDS: _weigh_maps}
    return found + [
        say(known, rows)
        for name, say in weighers.items()
        if (known := session.checks.get(name)) is not None
    ]


def _weigh_cluster(found: LeidenClustering, rows: Array) -> Evidence:
    sizes, shared = np.bincount(found.labels_), np.bincount(found.labels_[rows])
    c = int(shared.argmax())
    stability = float(found.cluster_stability_[c])
    either = len(rows) + sizes[c] - shared[c]
    return Evidence(
        f"{shared[c]:,} of them are in cluster {c}, which has {sizes[c]:,} rows and stability "
        f"{stability:.2f}.",
        shared[c] >= MIN_SHARE * either and stability >= MIN_STABILITY,
    )


def _weigh_null(found: Any, rows: Array) -> Evidence:
    share = float(np.mean(found.point_p_values[rows] <= LEVEL))
    return Evidence(
        f"{share:.0%} of them lie in regions more self-contained than 95% of random data (null "
        f"test of all rows: p = {found.p_value:.2g}).",
        found.is_real and share >= MIN_SHARE,
    )


def _weigh_maps(found: tuple[Array, ...], rows: Array) -> Evidence:
    n_whole = sum(largest_piece(neighbors, rows) >= WHOLE for neighbors in found)
    s = "s" if len(found) > 1 else ""
    words = f"They are in one piece on {n_whole} of {len(found)} map{s} with other seeds."
    return Evidence(words, n_whole > len(found) / 2)
