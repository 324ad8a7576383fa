"""Measures of maps: a sample first, and the trust of the other points in batches."""

import numpy as np

from isosne.explorer import measuring
from isosne.explorer.colors import paint
from isosne.explorer.measuring import Measurer, fill_trust, measure
from isosne.explorer.session import TRUST
from isosne.quality import trust


def sampled(session):
    """Measures of the first map from 20 of its 60 points."""
    return measure(session, session.maps[0], is_final=True, n_queries=20)


def test_trust_is_filled_in_batches_until_it_is_exact(mapped, monkeypatch):
    monkeypatch.setattr(measuring, "BATCH_WORK", 0)  # the smallest batches: 16 rows
    shown, found = mapped.maps[0], sampled(mapped)
    assert np.isfinite(found.trust).sum() == 20
    assert (found.n_queries, found.n_points) == (20, 60)
    rng, known = np.random.default_rng(0), []
    for _ in range(3):
        found = fill_trust(mapped, shown, found, np.empty(0, np.int64), rng)
        known.append(int(np.isfinite(found.trust).sum()))
    assert known == [36, 52, 60]
    np.testing.assert_array_equal(found.trust, trust(mapped.rows.X, shown.frame(60)[1]).agreement)


def test_preferred_rows_come_first(mapped, monkeypatch):
    monkeypatch.setattr(measuring, "BATCH_WORK", 0)
    found = sampled(mapped)
    missing = np.flatnonzero(np.isnan(found.trust))
    preferred = missing[-10:]
    filled = fill_trust(mapped, mapped.maps[0], found, preferred, np.random.default_rng(0))
    assert np.flatnonzero(np.isnan(found.trust) & np.isfinite(filled.trust)).tolist() == (
        preferred.tolist()
    )


def test_rows_outside_a_partial_map_get_no_trust(mapped):
    mapped.select(np.arange(10, 40))
    mapped.reembed()
    shown = mapped.maps[1]
    assert shown.run.join(60)
    found = measure(mapped, shown, is_final=True, n_queries=5)
    found = fill_trust(mapped, shown, found, np.arange(60), np.random.default_rng(0))
    Y = shown.frame(60)[1][10:40]
    np.testing.assert_array_equal(found.trust[10:40], trust(mapped.rows.X[10:40], Y).agreement)
    assert np.isnan(found.trust[:10]).all()
    assert np.isnan(found.trust[40:]).all()


def test_the_legend_tells_how_many_points_have_a_trust(mapped):
    mapped.paint(TRUST)
    measurer = Measurer(mapped)
    measurer._found[mapped.maps[0]] = sampled(mapped)
    assert "known of 20 of 60 points; the others follow" in paint(mapped, measurer, None).legend
    measurer._found[mapped.maps[0]] = measure(mapped, mapped.maps[0], is_final=True, n_queries=None)
    assert "known of" not in paint(mapped, measurer, None).legend


def test_a_measurer_fills_trust_only_while_it_is_the_color(mapped):
    measurer = Measurer(mapped)
    measurer._found[mapped.maps[0]] = sampled(mapped)._replace(frame=mapped.maps[0].run.frame[0])
    measurer._look()
    assert np.isnan(measurer.of(mapped.maps[0]).trust).any()
    mapped.paint(TRUST)
    measurer._look()
    assert np.isfinite(measurer.of(mapped.maps[0]).trust).all()


def test_a_failure_is_told_once_and_the_thread_ends(mapped, monkeypatch, caplog):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(measuring, "measure", fail)
    measurer = Measurer(mapped)
    measurer.start()
    measurer._thread.join(60)
    assert not measurer._thread.is_alive()
    assert measurer.failure == (
        "The maps could not be measured. Out of memory. Explore fewer rows, or choose another "
        "kernel."
    )
    assert caplog.messages == [measurer.failure]
