"""Vectors of 16 numbers: compiled functions return what their definitions say."""

import numpy as np
import pytest

from isosne import _lanes
from isosne._lanes import LANES
from isosne._numba import kernel

rng = np.random.default_rng(0)
A, B, C = rng.normal(size=(3, LANES)).astype(np.float32)


@kernel
def store(vector, out):
    """Write the lanes of a vector to an array."""
    for lane in range(LANES):
        out[lane] = _lanes.total(vector * _lanes.between(lane, lane + 1))


@kernel
def arithmetic(a, b, c, out):
    x, y, z = _lanes.load(a, 0), _lanes.load(b, 0), _lanes.load(c, 0)
    store(x + y, out[0])
    store(x - y, out[1])
    store(x * y, out[2])
    store(x / y, out[3])
    store(2 - x, out[4])
    store(x / 3, out[5])
    store(_lanes.fma(x, y, z), out[6])
    store(_lanes.at_least(x, np.float32(0.25)), out[7])
    store(_lanes.splat(7), out[8])


@kernel
def functions(x, out):
    vector = _lanes.load(x, 0)
    m, k = _lanes.split(vector)
    store(m, out[0])
    store(k, out[1])
    store(_lanes.log(vector), out[2])
    store(_lanes.exp(0 - vector), out[3])
    store(m * _lanes.two_to_the(k), out[4])


@kernel
def read(array, start, out):
    store(_lanes.load(array, start), out)


@kernel
def pick(array, indices, start, out):
    for column in range(2):
        store(_lanes.gather(array, indices, start, column), out[column])


@kernel
def sum_up(array):
    return _lanes.total(_lanes.load(array, 0))


def test_arithmetic_is_that_of_float32():
    out = np.empty((9, LANES), np.float32)
    arithmetic(A, B, C, out)
    one, two = np.float32(2) - A, A / np.float32(3)
    expected = [A + B, A - B, A * B, A / B, one, two]
    assert np.array_equal(out[:6], expected)
    # One rounding: the exact product and sum fit in float64 but for a bit in a thousand cases.
    assert np.array_equal(out[6], (A.astype(np.float64) * B + C).astype(np.float32))
    assert np.array_equal(out[7], np.maximum(A, np.float32(0.25)))
    assert (out[8] == 7).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.float32])
def test_a_vector_may_start_anywhere(dtype):
    array = np.arange(3, 43).astype(dtype)
    out = np.empty(LANES, np.float32)
    for start in (0, 1, 7, 24):
        read(array, start, out)
        assert np.array_equal(out, np.arange(start + 3, start + 19))


def test_gathering_reads_a_column_of_rows():
    array = rng.normal(size=(30, 2)).astype(np.float32)
    indices = rng.integers(0, 30, 20).astype(np.uint32)
    out = np.empty((2, LANES), np.float32)
    pick(array, indices, 3, out)
    assert np.array_equal(out, array[indices[3:19]].T)


def test_lanes_are_added_in_pairs():
    a = (rng.normal(size=LANES) * 10.0 ** rng.integers(-3, 4, LANES)).astype(np.float32)
    expected = a[:8] + a[8:]
    expected = expected[:4] + expected[4:]
    expected = expected[:2] + expected[2:]
    assert sum_up(a) == expected[0] + expected[1] == _lanes.total(a)


def test_logarithm_and_exponential():
    x = np.exp(np.linspace(-80, 80, LANES)).astype(np.float32)
    out = np.empty((5, LANES), np.float32)
    functions(x, out)
    m, k = out[:2]
    assert np.all((m >= 0.5**0.5 - 1e-7) & (m < 2**0.5))
    assert np.array_equal(k, np.round(k))
    assert np.array_equal(out[4], x)
    np.testing.assert_allclose(out[2], np.log(x.astype(np.float64)), rtol=2e-7)
    y = np.linspace(0, 86, LANES).astype(np.float32)
    functions(y + np.float32(1e-30), out)
    np.testing.assert_allclose(out[3], np.exp(-y.astype(np.float64)), rtol=2e-7)
    functions(np.full(LANES, 1e4, np.float32), out)
    assert not out[3].any()


def test_numpy_and_compiled_functions_agree():
    x = rng.uniform(0.01, 50, LANES).astype(np.float32)
    out = np.empty((5, LANES), np.float32)
    functions(x, out)
    m, k = _lanes.split(x)
    assert np.array_equal(out[:2], [m, k])
    for lane_pair in ((0, 16), (3, 5), (0, 0)):
        assert _lanes.between(*lane_pair).sum() == lane_pair[1] - lane_pair[0]
