"""Answers about maps: neighbors and trust of points, quality, and what sets a selection apart.

The quality of a map is measured in a thread of its own when its run has ended. The trust of a map
of more than 20,000 points is known of a sample first. While the points are colored by trust, the
others follow in batches.
"""

import logging
import math
import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from isosne._types import Array, Points
from isosne.explorer.checking import N_NEIGHBORS, find, find_inside, missing
from isosne.explorer.data import MIN_POINTS
from isosne.explorer.maps import ShownMap, as_sentence
from isosne.explorer.session import TRUST, Measured, Session
from isosne.neighbors.exact import is_other
from isosne.neighbors.metric import Metric
from isosne.neighbors.search import make_search
from isosne.quality import compare
from isosne.quality.comparison import compare_checked
from isosne.studies.point_columns import Column

BATCH_WORK = 2e9  # multiplications of one batch of trust: about a second on one core
POLL_SECONDS = 0.2
logger = logging.getLogger("isosne")


class Neighborhood(NamedTuple):
    """The nearest neighbors of a row, in the data and in a map.

    ``true``: rows nearest in the data. ``false``: rows nearest in the map that are not among them.
    ``trust``: fraction of the true neighbors that are also nearest in the map.
    """

    row: int
    true: NDArray[np.int64]
    false: NDArray[np.int64]
    trust: float


class Difference(NamedTuple):
    """How a column, given by its place, differs between a selection and other rows.

    ``effect`` is the difference of the means in standard deviations (Cohen's d, with the pooled
    standard deviation); for a class of a text column, that of its shares in arcs (Cohen's h).
    """

    column: str
    inside: float
    outside: float
    effect: float
    place: int = 0


def find_neighborhood(
    X: Points, Y: Array, row: int, metric: Metric, k: int = N_NEIGHBORS
) -> Neighborhood:
    """Compare the k nearest neighbors of a row in the data and in a map (n, 2)."""
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    own, k = np.searchsorted(placed, [row]), min(k, len(placed) - 1)
    true, shown = (
        placed[_nearest(points, own, k, distance)]
        for points, distance in ((X[placed], metric), (Y[placed].astype(np.float64), Metric()))
    )
    false = np.setdiff1d(shown, true)
    return Neighborhood(row, true, false, 1 - len(false) / k)


def _nearest(X: Points, own: Array, k: int, metric: Metric) -> NDArray[np.int64]:
    """Return the k nearest neighbors of a point, given by its index (1,)."""
    found, _ = make_search(X, metric, "exact").nearest(X[own], k + 1)
    return found[is_other(found, own)].astype(np.int64)


def compare_with_rest(
    columns: Sequence[Column], selected: Array, others: Array, n_shown: int = 10
) -> list[Difference]:
    """Return the columns that differ most between the selected rows and others."""
    if len(selected) < 2 or not len(others):
        return []
    differences: list[Difference] = []
    for place, column in enumerate(columns):
        compare_parts = _compare_means if column.words is None else _compare_shares
        found = compare_parts(column, selected, others)
        differences += [one._replace(place=place) for one in found]
    return sorted(differences, key=lambda found: -abs(found.effect))[:n_shown]


def find_others(Y: Array, selected: Array, *, is_near: bool) -> NDArray[np.int64]:
    """Return the rows that are not selected, or as many of those nearest on a map (n, 2)."""
    known = np.isfinite(Y[:, 0]) | (not is_near)
    others = np.setdiff1d(np.flatnonzero(known), selected)
    selected = selected[np.isfinite(Y[selected, 0])]
    if not is_near or not len(others) or not len(selected):
        return np.asarray(others, np.int64)
    search = make_search(Y[selected].astype(np.float64), Metric(), "exact")
    distances = search.nearest(Y[others].astype(np.float64), 1)[1][:, 0]
    return np.sort(others[np.argsort(distances, kind="stable")[: len(selected)]])


def _compare_means(column: Column, selected: Array, others: Array) -> list[Difference]:
    known = np.isfinite(column.data)
    inside, outside = (
        column.data[rows[known[rows]]].astype(np.float64) for rows in (selected, others)
    )
    if not len(inside) or not len(outside):
        return []
    unit = max(np.abs(inside).max(), np.abs(outside).max()) or 1.0  # squares must not overflow
    inside, outside = inside / unit, outside / unit
    squares = ((inside - inside.mean()) ** 2).sum() + ((outside - outside.mean()) ** 2).sum()
    pooled = math.sqrt(squares / max(len(inside) + len(outside) - 2, 1))
    if pooled == 0:
        return []
    means = float(inside.mean()), float(outside.mean())
    effect = (means[0] - means[1]) / pooled
    return [Difference(column.name, means[0] * unit, means[1] * unit, effect)]


def _compare_shares(column: Column, selected: Array, others: Array) -> list[Difference]:
    """Return the class whose share differs most, unless almost every row has its own class."""
    words = column.words or []
    if not 2 <= len(words) <= len(column.data) // 2:
        return []
    shares = [
        np.bincount(column.data[part], minlength=len(words)) / len(part)
        for part in (selected, others)
    ]
    most = int(np.abs(shares[0] - shares[1]).argmax())
    inside, outside = float(shares[0][most]), float(shares[1][most])
    effect = 2 * (math.asin(math.sqrt(inside)) - math.asin(math.sqrt(outside)))
    return [Difference(f"{column.name} = {words[most]}", inside, outside, effect)]


def search_rows(ids: Array, columns: Sequence[Column], text: str) -> NDArray[np.int64]:
    """Return the rows whose identifier or text contains a text; upper case is ignored.

    Alone come the row whose identifier is the text, or those of identifiers separated by commas.
    """
    wanted = text.strip().casefold()
    if not wanted:
        return np.empty(0, np.int64)
    names = [str(name).casefold() for name in ids.tolist()]
    for listed in ({wanted}, {part.strip() for part in wanted.split(",")}):
        same = np.flatnonzero([name in listed for name in names])
        if len(same) == len(listed):
            return same
    found = np.array([wanted in name for name in names])
    for column in columns:
        if column.words is not None:
            has_text = np.array([wanted in word.casefold() for word in column.words])
            found |= has_text[column.data]
    return np.flatnonzero(found)


def measure(session: Session, shown: ShownMap, n_queries: int | None = None) -> Measured | None:
    """Measure a map as it is now; None if it has no positions yet."""
    whole = shown.Y
    X, Y = _mapped(session, shown, whole)
    n, metric = len(Y), session.metric_of(shown)
    if np.isnan(Y).any():
        return None
    k = min(N_NEIGHBORS, (n - 1) // 2)
    found = compare(X, Y, k, metric=metric.name, p=metric.p, n_queries=n_queries, random_state=0)
    judged = found.trust()
    trust = np.full(len(whole), np.nan)
    trust[judged.points if shown.rows is None else shown.rows[judged.points]] = judged.agreement
    return Measured(whole, found.curve(), float(found.auc()), trust, len(judged.points), n)


def fill_trust(session: Session, shown: ShownMap, last: Measured, rng: Generator) -> Measured:
    """Return the measures of a map with the trust of further rows."""
    trust = last.trust.copy()
    rows = np.arange(len(trust)) if shown.rows is None else shown.rows
    wanted = rows[np.isnan(trust[rows])]
    X, Y = _mapped(session, shown, last.Y)
    chosen = np.sort(rng.permutation(wanted)[: _batch(X)])
    queries = np.searchsorted(rows, chosen)
    found = compare_checked((X, Y), session.metric_of(shown), queries, N_NEIGHBORS)
    trust[chosen] = found.trust().agreement
    return last._replace(trust=trust)


def _batch(X: Points) -> int:
    """Return how many rows are compared with all others at a time."""
    n_values = X.size if isinstance(X, np.ndarray) else X.nnz
    return max(int(BATCH_WORK / max(n_values, 1)), 16)


def _mapped(session: Session, shown: ShownMap, Y: Array) -> tuple[Points, Array]:
    X, rows = session.rows.X, shown.rows
    return (X, Y) if rows is None else (X[rows], Y[rows])


class Measurer:
    """Measures the maps of a session for as long as it is open."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._end = threading.Event()
        self._rng = np.random.default_rng(0)
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Begin to measure."""
        self._thread.start()

    def close(self) -> None:
        """Measure no more."""
        self._end.set()

    def _work(self) -> None:
        while not self._end.wait(POLL_SECONDS):
            try:
                self._look()
            except Exception as error:  # such as too little memory; maps can be explored without
                failure = f"The maps could not be measured. {as_sentence(error)}"
                self._session.failure = failure
                logger.warning("%s", failure)
                return

    def _look(self) -> None:
        """Measure the maps that have ended, and have changed since; then further trust."""
        session = self._session
        maps = [shown for shown in session.maps if not shown.status.is_active]
        for shown in maps:
            last = session.measures.get(shown)
            if last is None or last.Y is not shown.Y:
                self._store(shown, measure(session, shown))
        if maps and session.maps[0] is maps[0]:
            self._check(maps[0])
        if session.color != TRUST or len(maps) < len(session.maps):
            return
        for shown in maps:
            last = session.measures.get(shown)
            if last is not None and np.isfinite(last.trust).sum() < last.n_points:
                self._store(shown, fill_trust(session, shown, last, self._rng))

    def _check(self, shown: ShownMap) -> None:
        """Find out what the selection shares, then one thing of those that were asked for."""
        session, rows = self._session, self._session.selection
        is_new = session.inside is None or session.inside.rows is not rows
        if is_new and MIN_POINTS <= len(rows) < session.rows.n_rows:
            session.inside = find_inside(session, rows, _batch(session.rows.X))
        for name in missing(session)[:1]:
            try:
                found = find(name, session, shown, lambda state: self._end.is_set())
            except Exception as error:  # the other answers do not need it
                found, session.failure = None, f"No {name} could be found. {as_sentence(error)}"
            if session.maps[0] is shown:
                session.checks = {**session.checks, name: found}

    def _store(self, shown: ShownMap, found: Measured | None) -> None:
        if found is not None:
            session = self._session
            kept = {one: old for one, old in session.measures.items() if one in session.maps}
            session.measures = {**kept, shown: found}
