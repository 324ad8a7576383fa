"""R_NX curves and trust of the maps of a session, computed in a thread of their own.

While a map is computed, only a sample of its points is evaluated, and the thread rests twenty times
as long as it worked, so that it slows a run by a few percent at most. The trust of a map of more
than 20,000 points is known of a sample first. While the points are colored by trust, the others
follow in batches: the selected rows or those in view before the rest.
"""

import logging
import threading
import time
import weakref
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne.explorer.data import Data
from isosne.explorer.questions import N_NEIGHBORS, measure_density, measure_trust
from isosne.explorer.run import as_sentence
from isosne.explorer.session import TRUST, Session, ShownMap
from isosne.neighbors.metric import Metric
from isosne.quality import Curve, compare
from isosne.quality.comparison import Comparison

logger = logging.getLogger("isosne")
LIVE_QUERIES = 200
"""Points that are evaluated while a run goes on."""
REST = 20.0
"""Time between two live measurements, in multiples of the last one."""
POLL_SECONDS = 0.2
BATCH_WORK = 2e9
"""Multiplications of one batch of trust: about a second on one core."""


class Measured(NamedTuple):
    """The quality of a map at a frame.

    ``curve`` and ``auc``: the R_NX curve and the area under it, estimated from ``n_queries`` of
    ``n_points`` points. ``trust``: of each row, or NaN if it is unknown.
    """

    frame: int
    curve: Curve
    auc: float
    trust: NDArray[np.float64]
    is_final: bool
    n_queries: int
    n_points: int


def measure(
    session: Session, shown: ShownMap, *, is_final: bool, n_queries: int | None
) -> Measured | None:
    """Measure a map as it is now; None if it has no positions yet."""
    data = session.rows
    number, whole = shown.frame(data.n_rows)
    X, Y = (data.X, whole) if shown.rows is None else (data.X[shown.rows], whole[shown.rows])
    n = X.shape[0]
    if np.isnan(Y).any():
        return None
    metric = session.metric_of(shown)
    k = min(N_NEIGHBORS, (n - 1) // 2)
    if n_queries is not None:
        n_queries = min(n_queries, n)
    found: Comparison = compare(
        X,
        Y,
        k,
        metric=metric.name,
        p=metric.p,
        n_queries=n_queries,
        random_state=0,
        n_jobs=None if is_final else 1,
    )
    judged = found.trust()
    trust = np.full(data.n_rows, np.nan)
    rows = judged.points if shown.rows is None else shown.rows[judged.points]
    trust[rows] = judged.agreement
    curve, auc = found.curve(), float(found.auc())
    return Measured(number, curve, auc, trust, is_final, len(judged.points), n)


def fill_trust(
    session: Session, shown: ShownMap, last: Measured, preferred: Array, rng: np.random.Generator
) -> Measured:
    """Return the measures of a map with the trust of further rows, of the preferred ones first."""
    data = session.rows
    missing = np.isnan(last.trust)
    if shown.rows is not None:
        missing &= np.isin(np.arange(data.n_rows), shown.rows)
    wanted = preferred[missing[preferred]]
    wanted = wanted if len(wanted) else np.flatnonzero(missing)
    values = data.X.size if isinstance(data.X, np.ndarray) else data.X.nnz
    chosen = rng.permutation(wanted)[: max(int(BATCH_WORK / max(values, 1)), 16)]
    _, Y = shown.frame(data.n_rows)
    trust, metric = last.trust.copy(), session.metric_of(shown)
    if shown.rows is None:
        trust[chosen] = measure_trust(data.X, Y, chosen, metric)
    else:
        places = np.searchsorted(shown.rows, chosen)
        trust[chosen] = measure_trust(data.X[shown.rows], Y[shown.rows], places, metric)
    return last._replace(trust=trust)


class Measurer:
    """Measures the maps of a session for as long as it is open."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._found: weakref.WeakKeyDictionary[ShownMap, Measured] = weakref.WeakKeyDictionary()
        self._end = threading.Event()
        self._next_live = 0.0
        self._preferred: weakref.WeakKeyDictionary[ShownMap, Array] = weakref.WeakKeyDictionary()
        self._rng = np.random.default_rng(0)
        self.n_measured = 0
        self.failure = ""
        self._density: tuple[Data, NDArray[np.float64]] | None = None
        self._wants_density = False
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Begin to measure."""
        self._thread.start()

    def close(self) -> None:
        """Measure no more."""
        self._end.set()

    def of(self, shown: ShownMap) -> Measured | None:
        """Return the latest measures of a map."""
        return self._found.get(shown)

    def prefer(self, shown: ShownMap, rows: Array) -> None:
        """Find the trust of some rows of a map before that of the others."""
        self._preferred[shown] = rows

    @property
    def density(self) -> NDArray[np.float64] | None:
        """The density around each row, if it is known of the rows that are open."""
        is_known = self._density is not None and self._density[0] is self._session.data
        return self._density[1] if self._density is not None and is_known else None

    def find_density(self) -> None:
        """Compute the density around each row, if it is not known."""
        self._wants_density = self.density is None

    def _work(self) -> None:
        while not self._end.wait(POLL_SECONDS):
            try:
                self._look()
            except (
                Exception
            ) as error:  # such as too little memory; the maps can be explored without
                self.failure = f"The maps could not be measured. {as_sentence(error)}"
                self.n_measured += 1
                logger.warning("%s", self.failure)
                return

    def _look(self) -> None:
        if self._wants_density:
            self._wants_density = False
            data = self._session.rows
            metric = Metric("euclidean" if data.mixed is None else "gower")
            self._density = data, measure_density(data.X, metric)
            self._session.changes["color"] += 1
        maps = list(self._session.maps)
        for shown in maps:
            self._consider(shown)
        if self._session.color == TRUST and not any(shown.is_active for shown in maps):
            for shown in maps:
                self._fill(shown)

    def _consider(self, shown: ShownMap) -> None:
        """Measure a map if it has changed, and if it is time."""
        is_active, last = shown.is_active, self._found.get(shown)
        number, _ = (0, None) if shown.run is None else shown.run.frame
        if last is not None and last.frame == number and (is_active or last.is_final):
            return
        is_live = is_active and len(self._session.maps) > 1
        if is_active and not (is_live and time.monotonic() >= self._next_live):
            return
        began = time.monotonic()
        n_queries = LIVE_QUERIES if is_active else None
        found = measure(self._session, shown, is_final=not is_active, n_queries=n_queries)
        if is_active:
            now = time.monotonic()
            self._next_live = now + REST * (now - began)
        self._store(shown, found)

    def _fill(self, shown: ShownMap) -> None:
        """Find the trust of further points of a map, if it is not known of all."""
        last = self._found.get(shown)
        if last is not None and np.isfinite(last.trust).sum() < last.n_points:
            preferred = self._preferred.get(shown, np.empty(0, np.int64))
            self._store(shown, fill_trust(self._session, shown, last, preferred, self._rng))

    def _store(self, shown: ShownMap, found: Measured | None) -> None:
        if found is not None:
            self._found[shown] = found
            self.n_measured += 1
