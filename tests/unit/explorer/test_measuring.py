"""Answers about points and selections, and measures of maps in batches."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import quality
from isosne.explorer import measuring
from isosne.explorer.colors import paint
from isosne.explorer.measuring import (
    Measurer,
    compare_with_rest,
    fill_trust,
    find_neighborhood,
    find_others,
    measure,
    search_rows,
)
from isosne.explorer.session import TRUST
from isosne.neighbors.metric import Metric
from isosne.quality import compare
from isosne.studies.point_columns import Column, as_column

EUCLIDEAN = Metric("euclidean")


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    return rng.normal(size=(80, 6)), rng.normal(size=(80, 2)).astype(np.float32)


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_neighbors_and_trust_of_a_row_are_those_of_the_definitions(pair, convert):
    X, Y = pair
    found = find_neighborhood(convert(X), Y, 17, EUCLIDEAN)
    near = [
        set(np.argsort(np.linalg.norm(points - points[17], axis=1))[1:11].tolist())
        for points in (X, Y.astype(float))
    ]
    assert set(found.true.tolist()) == near[0]
    assert set(found.false.tolist()) == near[1] - near[0]
    assert found.trust == pytest.approx(quality.compare(X, Y, 10).trust().agreement[17])


def test_rows_without_a_position_are_no_neighbors(pair):
    X, Y = pair
    Y[::2] = np.nan
    found = find_neighborhood(X, Y, 17, EUCLIDEAN)
    assert set(found.true.tolist() + found.false.tolist()) <= set(range(1, 80, 2))
    assert 17 not in found.true


def test_copies_of_a_row_are_its_neighbors_and_the_row_itself_is_not():
    X = np.repeat(np.arange(4.0)[:, None], 5, axis=0)
    found = find_neighborhood(X, np.column_stack([X, X]).astype(np.float32), 12, EUCLIDEAN, k=4)
    assert sorted(found.true.tolist()) == [10, 11, 13, 14]
    assert found.trust == 1.0


@pytest.mark.parametrize("unit", [1.0, 1e-200, 1e200])
def test_the_effect_size_is_the_difference_in_pooled_standard_deviations(unit):
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(2, 1, 30), rng.normal(0, 3, 70)])
    (found,) = compare_with_rest([Column("a", unit * values)], np.arange(30), np.arange(30, 100))
    a, b = values[:30], values[30:]
    pooled = np.sqrt((29 * a.var(ddof=1) + 69 * b.var(ddof=1)) / 98)
    assert found.effect == pytest.approx((a.mean() - b.mean()) / pooled)
    means = np.array([found.inside, found.outside]) / unit
    np.testing.assert_allclose(means, [a.mean(), b.mean()], rtol=1e-12)


def test_constant_columns_identifiers_and_whole_selections_are_left_out():
    names = as_column("name", np.array([f"n{i}" for i in range(20)]), 20)
    constant, gaps = Column("c", np.ones(20)), Column("gaps", np.full(20, np.nan))
    assert compare_with_rest([names, constant, gaps], np.arange(5), np.arange(5, 20)) == []
    rising = [Column("a", np.arange(20.0))]
    assert compare_with_rest(rising, np.arange(20), np.arange(0)) == []
    assert compare_with_rest(rising, np.arange(1), np.arange(1, 20)) == []  # no spread of one row


def test_the_effect_size_of_a_class_is_cohens_h_and_columns_are_in_its_order():
    kinds = as_column("kind", np.repeat(["a", "b"], [10, 30]), 40)
    noise = Column("noise", np.tile([0.0, 1.0], 20))
    found = compare_with_rest([noise, kinds], np.arange(10), np.arange(10, 40))
    assert [one.place for one in found] == [1, 0]
    assert found[0][:4] == ("kind = a", 1.0, 0.0, pytest.approx(np.pi))  # 2 asin 1 - 2 asin 0


def test_others_are_the_rest_or_the_nearest_rows_that_have_a_place():
    Y = np.array([[0, 0], [1, 0], [3, 0], [2.5, 0], [np.nan, np.nan], [9, 9]], np.float32)
    assert find_others(Y, np.array([0, 1]), is_near=False).tolist() == [2, 3, 4, 5]
    assert find_others(Y, np.array([0, 1]), is_near=True).tolist() == [2, 3]


def test_a_search_finds_an_identifier_alone_or_text_anywhere():
    ids = np.array(["b1", "b10", "c2"])
    kinds = as_column("kind", np.array(["Red", "green", "dark red"]), 3)
    assert search_rows(ids, [kinds], "B1").tolist() == [0]
    assert search_rows(ids, [kinds], "b").tolist() == [0, 1]
    assert search_rows(ids, [kinds], " red ").tolist() == [0, 2]
    assert search_rows(ids, [kinds], "blue").tolist() == []
    assert search_rows(ids, [kinds], "  ").tolist() == []
    assert search_rows(np.arange(5), [], "3").tolist() == [3]
    assert search_rows(np.arange(5), [], "4, 1").tolist() == [1, 4]
    assert search_rows(np.arange(5), [], "4, 9").tolist() == []


def sampled(session):
    """Measures of the first map from 20 of its 60 points."""
    return measure(session, session.maps[0], 20)


def test_trust_is_filled_in_batches_until_it_is_exact(mapped, monkeypatch):
    monkeypatch.setattr(measuring, "BATCH_WORK", 0)  # the smallest batches: 16 rows
    shown, found = mapped.maps[0], sampled(mapped)
    assert (found.n_queries, found.n_points) == (20, 60)
    assert measure(mapped, shown).auc == compare(mapped.rows.X, shown.Y).auc()
    rng = np.random.default_rng(0)
    for n_known in (36, 52, 60):
        found = fill_trust(mapped, shown, found, rng)
        assert np.isfinite(found.trust).sum() == n_known
    expected = compare(mapped.rows.X, shown.Y).trust().agreement
    np.testing.assert_array_equal(found.trust, expected)


def test_rows_outside_a_partial_map_get_no_trust(mapped):
    mapped.select(np.arange(10, 40))
    mapped.reembed()
    shown = mapped.maps[1]
    assert shown.join(60)
    found = measure(mapped, shown, 5)
    found = fill_trust(mapped, shown, found, np.random.default_rng(0))
    expected = compare(mapped.rows.X[10:40], shown.Y[10:40]).trust().agreement
    np.testing.assert_array_equal(found.trust[10:40], expected)
    assert np.isnan(np.delete(found.trust, np.s_[10:40])).all()


def test_a_measurer_fills_trust_only_while_it_is_the_color(mapped):
    shown, measurer = mapped.maps[0], Measurer(mapped)
    mapped.measures = {shown: sampled(mapped)}
    measurer._look()
    assert np.isnan(mapped.measures[shown].trust).any()
    mapped.color = TRUST
    assert "known of 20 of 60 points; the others follow" in paint(mapped).legend
    measurer._look()
    assert np.isfinite(mapped.measures[shown].trust).all()
    assert "known of" not in paint(mapped).legend


def test_a_failure_is_told_once_and_the_thread_ends(mapped, monkeypatch, caplog):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(measuring, "measure", fail)
    measurer = Measurer(mapped)
    measurer.start()
    measurer._thread.join(60)
    assert not measurer._thread.is_alive()
    assert mapped.failure == (
        "The maps could not be measured. Out of memory. Explore fewer rows, or choose another "
        "kernel."
    )
    assert caplog.messages == [mapped.failure]
