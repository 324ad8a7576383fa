"""Leading eigenvectors and principal components, against LAPACK."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA, TruncatedSVD

from isosne.layout import eigenvectors
from isosne.layout.eigenvectors import (
    combine,
    diagonalize,
    leading_eigenvectors,
    principal_components,
)

rng = np.random.default_rng(0)


def cosines(found, expected):
    """Return the absolute cosine of the angle between columns."""
    lengths = np.linalg.norm(found, axis=0) * np.linalg.norm(expected, axis=0)
    return np.abs((found * expected).sum(axis=0)) / lengths


@pytest.mark.parametrize(("n", "k"), [(2, 1), (3, 2), (40, 3), (300, 2)])
def test_eigenvectors_are_those_of_the_largest_eigenvalues(n, k):
    A = rng.normal(size=(n, n))
    A = A + A.T  # negative eigenvalues of large size as well
    found = leading_eigenvectors(lambda block: combine(A, block), n, k)
    expected = np.linalg.eigh(A)[1][:, ::-1][:, :k]
    np.testing.assert_allclose(cosines(found, expected), 1, atol=1e-12)
    np.testing.assert_allclose(found.T @ found, np.eye(k), atol=1e-12)


def test_equal_eigenvalues_have_orthogonal_vectors():
    A = np.diag([3.0, 3.0, 3.0, 1.0, 0.5])
    found = leading_eigenvectors(lambda block: combine(A, block), 5, 3)
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(A @ found, 3 * found, atol=1e-12)


def test_a_matrix_of_zeros_has_unit_vectors():
    found = leading_eigenvectors(np.zeros_like, 6, 2)
    np.testing.assert_allclose(found.T @ found, np.eye(2), atol=1e-12)


def test_a_small_matrix_is_diagonalized():
    A = rng.normal(size=(12, 12))
    A = A + A.T
    values, vectors = diagonalize(A)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1], atol=1e-12)
    np.testing.assert_allclose(vectors @ np.diag(values) @ vectors.T, A, atol=1e-12)


def clouds():
    wide = rng.normal(size=(30, 60)) * np.linspace(5, 0.1, 60)
    tall = rng.normal(size=(400, 6)) * np.array([9, 5, 3, 1, 0.5, 0.1]) + 100
    yield "tall", tall
    yield "wide", wide
    yield "sizes far apart", tall * np.array([1e-150, 1e150, 1, 1e-3, 1e3, 0])
    yield "float32", tall.astype(np.float32)


@pytest.mark.parametrize(("name", "X"), list(clouds()))
@pytest.mark.parametrize("largest", [eigenvectors.LARGEST_MATRIX, 3])
def test_principal_components(monkeypatch, name, X, largest):
    monkeypatch.setattr(eigenvectors, "LARGEST_MATRIX", largest)
    found = principal_components(X, 2)
    if name == "sizes far apart":  # one column is all
        expected = np.asarray(X)[:, 1:2] - X[:, 1].mean()
        np.testing.assert_allclose(cosines(found[:, :1], expected), 1, atol=1e-9)
    else:
        expected = PCA(2, svd_solver="full").fit_transform(np.asarray(X, np.float64))
        np.testing.assert_allclose(cosines(found, expected), 1, atol=1e-6)
        ratio = np.linalg.norm(found, axis=0) / np.linalg.norm(expected, axis=0)
        assert ratio[0] == pytest.approx(ratio[1], rel=1e-4)


def test_sparse_data_have_a_truncated_decomposition():
    X = csr_array(rng.poisson(0.3, (200, 40)) * np.linspace(3, 0.1, 40))
    found = principal_components(X, 2)
    expected = TruncatedSVD(2, algorithm="arpack").fit_transform(X)
    np.testing.assert_allclose(cosines(found, expected), 1, atol=1e-6)
