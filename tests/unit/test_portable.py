"""Elementary functions: accurate, and made of operations that no machine may round otherwise."""

import math

import numpy as np
import pytest

from isosne._portable import cos, each_cos, each_exp, each_log, each_power, exp, log, log1p, power

rng = np.random.default_rng(0)
CASES = {
    "exp": (each_exp, math.exp, np.r_[rng.uniform(-745, 709.7, 500), rng.uniform(-1, 1, 500)]),
    "log": (
        each_log,
        math.log,
        np.r_[2.0 ** rng.uniform(-1074, 1023, 500), rng.uniform(0.5, 2, 500)],
    ),
    "cos": (each_cos, math.cos, rng.uniform(-1e4, 1e4, 1000)),
}


@pytest.mark.parametrize("name", CASES)
def test_functions_are_accurate_to_two_units_in_the_last_place(name):
    function, reference, x = CASES[name]
    expected = np.array([reference(value) for value in x])
    # The smallest unit counted is that of 1/64 for the cosine, whose zeros are not representable.
    unit = np.spacing(np.maximum(np.abs(expected), 1 / 64 if name == "cos" else 0.0))
    assert np.all(np.abs(function(x) - expected) <= 3 * unit)  # the reference errs by up to one


def test_logarithm_of_one_and_a_little_has_no_cancellation():
    for x in (1e-20, -1e-9, 3e-5, 0.5, -0.999, 1e300):
        assert log1p(x) == pytest.approx(math.log1p(x), rel=1e-15)


def test_powers():
    for x, y in ((3.0, -2.5), (1e-30, 0.75), (7.0, 10.0)):
        assert power(x, y) == pytest.approx(x**y, rel=1e-13)
        assert each_power([x], y)[0] == pytest.approx(x**y, rel=1e-13)
    assert power(0.0, 0.0) == power(1.0, np.inf) == 1.0
    assert power(0.0, 2.0) == 0.0


def test_limits():
    assert exp(710.0) == exp(np.inf) == np.inf
    assert exp(-746.0) == exp(-np.inf) == 0.0
    assert log(0.0) == -np.inf
    assert log(np.inf) == log1p(np.inf) == np.inf
    assert exp(0.0) == cos(0.0) == 1.0
    assert log(1.0) == log1p(0.0) == 0.0
    assert np.isnan([exp(np.nan), log(np.nan), log(-1.0), log1p(-2.0)]).all()


def test_arrays_keep_their_shape_and_are_not_changed():
    x = np.array([[0.0, 1.0], [2.0, 3.0]])
    assert each_exp(x.T).shape == (2, 2)
    np.testing.assert_allclose(each_exp(x.T), np.exp(x.T), rtol=1e-15)
    assert x[1, 1] == 3.0
