"""R_NX curves and trust of the maps of a session, computed in a thread of their own.

While a map is computed, only a sample of its points is evaluated, and the thread rests twenty times
as long as it worked, so that it slows a run by a few percent at most.
"""

import logging
import threading
import time
import weakref
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne.explorer.questions import N_NEIGHBORS, measure_density
from isosne.explorer.session import Session, ShownMap
from isosne.neighbors.metric import Metric
from isosne.quality import Curve, compare
from isosne.quality.comparison import Comparison

logger = logging.getLogger("isosne")
LIVE_QUERIES = 200
"""Points that are evaluated while a run goes on."""
REST = 20.0
"""Time between two live measurements, in multiples of the last one."""
POLL_SECONDS = 0.2


class Measured(NamedTuple):
    """The quality of a map at a frame: R_NX curve, its area, and the trust of each row or NaN."""

    frame: int
    curve: Curve
    auc: float
    trust: NDArray[np.float64]
    is_final: bool


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
    k = min(N_NEIGHBORS, (n - 1) // 2)
    if n_queries is not None:
        n_queries = min(n_queries, n)
    found: Comparison = compare(
        X,
        Y,
        k,
        metric=shown.metric.name,
        p=shown.metric.p,
        n_queries=n_queries,
        random_state=0,
        n_jobs=None if is_final else 1,
    )
    judged = found.trust()
    trust = np.full(data.n_rows, np.nan)
    rows = judged.points if shown.rows is None else shown.rows[judged.points]
    trust[rows] = judged.agreement
    return Measured(number, found.curve(), float(found.auc()), trust, is_final)


class Measurer:
    """Measures the maps of a session for as long as it is open."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._found: weakref.WeakKeyDictionary[ShownMap, Measured] = weakref.WeakKeyDictionary()
        self._end = threading.Event()
        self._next_live = 0.0
        self.n_measured = 0
        self.density: NDArray[np.float64] | None = None
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

    def find_density(self) -> None:
        """Compute the density around each row, if it is not known."""
        self._wants_density = self.density is None

    def _work(self) -> None:
        while not self._end.wait(POLL_SECONDS):
            if self._wants_density:
                self._wants_density = False
                self.density = measure_density(self._session.rows.X, Metric("euclidean"))
                self._session.changes["color"] += 1
            for shown in list(self._session.maps):
                self._consider(shown)

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
        try:
            found = measure(self._session, shown, is_final=not is_active, n_queries=n_queries)
        except Exception as error:  # such as too little memory; the maps can be explored without
            logger.warning("The quality of a map could not be measured: %s", error)
            self._end.set()
            return
        if is_active:
            now = time.monotonic()
            self._next_live = now + REST * (now - began)
        if found is not None:
            self._found[shown] = found
            self.n_measured += 1
