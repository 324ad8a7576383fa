import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import quality
from isosne.explorer.questions import (
    compare_with_rest,
    find_neighborhood,
    measure_density,
    measure_trust,
    search_rows,
)
from isosne.neighbors.metric import Metric
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
    assert found.trust == pytest.approx(quality.trust(X, Y, 10).agreement[17])


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


def test_rows_in_the_tight_cluster_are_denser(two_blobs):
    density = measure_density(two_blobs, EUCLIDEAN)
    assert density[:30].min() > density[30:].max()
    assert np.array_equal(measure_density(np.ones((20, 2)), EUCLIDEAN), np.zeros(20))


def test_the_effect_size_is_the_difference_in_pooled_standard_deviations():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(2, 1, 30), rng.normal(0, 3, 70)])
    (found,) = compare_with_rest([Column("a", values)], np.arange(30))
    a, b = values[:30], values[30:]
    pooled = np.sqrt((29 * a.var(ddof=1) + 69 * b.var(ddof=1)) / 98)
    assert found.effect == pytest.approx((a.mean() - b.mean()) / pooled)
    assert (found.inside, found.outside) == (pytest.approx(a.mean()), pytest.approx(b.mean()))


def test_columns_come_in_the_order_of_their_effect():
    selected = np.arange(10)
    weak, strong = np.arange(40.0) % 7, np.arange(40.0)
    kinds = as_column("kind", np.where(np.arange(40) < 10, "x", "y"), 40)
    found = compare_with_rest([Column("weak", weak), Column("strong", strong), kinds], selected)
    assert [one.column for one in found] == ["strong", "kind = x", "weak"]
    assert found[1].effect == 1.0


def test_constant_columns_identifiers_and_whole_selections_are_left_out():
    names = as_column("name", np.array([f"n{i}" for i in range(20)]), 20)
    constant, gaps = Column("c", np.ones(20)), Column("gaps", np.full(20, np.nan))
    assert compare_with_rest([names, constant, gaps], np.arange(5)) == []
    assert compare_with_rest([Column("a", np.arange(20.0))], np.arange(20)) == []


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


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_the_trust_of_some_rows_is_that_of_the_quality_package(pair, convert):
    X, Y = pair
    rows = np.array([40, 3, 17])
    expected = quality.trust(X, Y).agreement[rows]
    np.testing.assert_array_equal(measure_trust(convert(X), Y, rows, EUCLIDEAN), expected)


def test_a_row_with_many_copies_has_k_neighbors():
    X = np.zeros((30, 2))
    X[20:] = np.arange(20).reshape(10, 2) + 5.0
    found = find_neighborhood(X, X, 19, EUCLIDEAN)
    assert len(found.true) == 10
    assert 19 not in found.true
    assert found.trust == 1
