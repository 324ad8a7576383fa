"""Rows that are computed from their numbers."""

import hashlib

import numpy as np
import pytest

from isosne.errors import ParameterError
from isosne.sources import MixtureRows
from isosne.sources.mixture import splitmix


def test_the_numbers_are_those_of_splitmix():
    # The first three numbers of the published generator with seed 0.
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert splitmix(np.arange(3, dtype=np.uint64)).tolist() == expected


def test_a_row_depends_on_its_number_alone():
    rows = MixtureRows(10**9)
    block = rows.read(slice(10**8, 10**8 + 40_000))
    some = np.array([10**8 + 39_999, 10**8, 10**8 + 7])
    np.testing.assert_array_equal(rows.take(some), block[some - 10**8])
    assert MixtureRows(10**6).read(slice(0, 3)).tobytes() == rows.read(slice(0, 3)).tobytes()


def test_every_machine_computes_the_same_bytes():
    rows = MixtureRows(10**9, 5, 7, random_state=3)
    digest = hashlib.sha256(rows.read(slice(999, 1999)).tobytes()).hexdigest()
    assert digest[:16] == "bff6b0f12dbc06fb"


def test_values_are_nearly_gaussian_and_independent():
    X = MixtureRows(40_000, 4, spread=0).read(slice(0, 40_000)).astype(np.float64)
    # Five standard errors: of a mean 0.005, of a variance 0.007, of a correlation 0.005.
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.025)
    np.testing.assert_allclose(X.var(axis=0), 1, atol=0.035)
    np.testing.assert_allclose(np.corrcoef(X.T), np.eye(4), atol=0.025)
    assert abs(np.mean(X[1:] * X[:-1])) < 0.0125
    assert np.abs(X).max() < 3.47


def test_clusters_have_their_shares_and_centers():
    rows = MixtureRows(50_000, 3, 4)
    labels = rows.side["label"]()
    shares = np.array([1 / 3, 1 / 4, 1 / 5, 1 / 6])
    # Five standard errors of a share: 0.011.
    np.testing.assert_allclose(np.bincount(labels) / 50_000, shares / shares.sum(), atol=0.011)
    X = rows.read(slice(0, 50_000))
    means = np.stack([X[labels == c].mean(axis=0) for c in range(4)])
    assert 1.5 < means.std() < 7  # 12 draws of standard deviation 4
    within = X - means[labels]
    np.testing.assert_allclose(within.std(), 1, atol=0.02)


def test_parts_are_the_rows_in_order():
    rows = MixtureRows(25, 3, first=100)
    parts = rows.split(10, ".npy")
    assert list(parts) == ["part-00000.npy", "part-00001.npy", "part-00002.npy"]
    found = np.concatenate([part.read(slice(0, 10)) for part in parts.values()])
    np.testing.assert_array_equal(found, rows.read(slice(0, 25)))
    labels = np.concatenate([part.side["label"]() for part in parts.values()])
    np.testing.assert_array_equal(labels, rows.side["label"]())


def test_fingerprints_differ_if_the_rows_do():
    kinds = [{}, {"random_state": 1}, {"first": 5}, {"spread": 2.0}, {"n_clusters": 3}]
    found = {MixtureRows(9, **kind).fingerprint() for kind in kinds}
    assert len(found) == len(kinds)
    assert MixtureRows(9).fingerprint() in found


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_rows": 0}, "n_rows must be "),
        ({"n_features": 0}, "n_features must be "),
        ({"n_clusters": 0}, "n_clusters must be "),
        ({"spread": -1}, "spread must be "),
        ({"random_state": -1}, "random_state must be "),
        ({"first": 2**53}, "first must be "),
    ],
)
def test_parameters_are_checked(arguments, sentence):
    with pytest.raises(ParameterError, match=f"^{sentence}"):
        MixtureRows(**{"n_rows": 9} | arguments)


def test_an_extension_starts_with_a_dot():
    with pytest.raises(ParameterError) as caught:
        MixtureRows(9).split(3, "npy")
    assert str(caught.value) == (
        "extension must start with a dot; got extension='npy'. Write for example '.parquet'."
    )
    with pytest.raises(ParameterError, match=r"^n_rows must be .*Pass the number of rows per part"):
        MixtureRows(9).split(0)


def test_what_it_shows():
    assert repr(MixtureRows(10**6, 4, first=5)) == "MixtureRows(1,000,000 x 4, first=5)"
