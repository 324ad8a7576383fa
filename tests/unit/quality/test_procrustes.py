"""One map laid onto another; that the fit is the best of all is tested with the explorer."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import align_map
from isosne.errors import DataError, ParameterError
from tests.conftest import refuses


@pytest.fixture
def square():
    return np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 2.0], [3.0, 1.0]])


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("mirror", [1, -1])
def test_a_turned_mirrored_scaled_and_shifted_map_is_laid_back(n_components, mirror):
    rng = np.random.default_rng(n_components)
    onto = rng.normal(size=(30, n_components))
    turn, _ = np.linalg.qr(rng.normal(size=(n_components, n_components)))
    turn *= mirror * np.sign(np.linalg.det(turn)) if n_components % 2 else 1
    found = align_map(4 * onto @ turn - 7, onto)
    np.testing.assert_allclose(found.embedding, onto, atol=1e-5)
    assert found.similarity.factor == pytest.approx(1 / 4)
    assert found.similarity.is_mirrored == (np.linalg.det(turn) < 0)
    assert found.residual == pytest.approx(0, abs=1e-6)
    assert found.n_common == 30


def test_rows_are_matched_by_identifier_and_others_move_along(square):
    moved = 2 * square[[4, 2, 0, 3]]
    found = align_map(moved, square[:4], ids=["e", "c", "a", "d"], onto_ids=list("abcd"))
    assert found.n_common == 3
    np.testing.assert_allclose(found.embedding, square[[4, 2, 0, 3]], atol=1e-6)


def test_the_residual_is_relative_to_the_radius():
    onto = np.array([[0, 0], [0, 6], [8, 0], [8, 6.0]])  # radius 5
    for scale in (1, 10):
        noisy = scale * onto + scale * np.array([[0.5, 0], [-0.5, 0], [-0.5, 0], [0.5, 0]])
        found = align_map(noisy, scale * onto)
        distances = np.linalg.norm(found.embedding - scale * onto, axis=1)
        assert found.residual == pytest.approx(np.sqrt((distances**2).mean()) / (5 * scale))
        assert 0.05 < found.residual < 0.11


def test_maps_that_have_nothing_in_common_are_refused(square):
    """The best transform would shrink the map to a point."""
    rng = np.random.default_rng(0)
    sentence = (
        r"Maps must be similar to be aligned; the places of their 500 common rows differ by \d+ % "
        r"of the radius\. Pass maps of the same rows\."
    )
    with pytest.raises(DataError, match=sentence):
        align_map(rng.normal(size=(500, 2)), rng.normal(size=(500, 2)))
    with pytest.raises(DataError, match="similar"):
        align_map(np.ones((5, 2)), square)


def test_maps_that_cannot_be_aligned_are_refused(square):
    sentence = (
        "Maps must have the same number of dimensions; got 1 and 2. Make both with the same "
        "n_components."
    )
    with refuses(DataError, sentence):
        align_map(square[:, :1], square)
    sentence = (
        "Without identifiers, maps must have equally many points; got 3 and 5. Pass the "
        "identifiers of both."
    )
    with refuses(DataError, sentence):
        align_map(square[:3], square)
    sentence = (
        "Maps must have at least 2 rows in common to be aligned; they have 1. Pass maps of the "
        "same rows, with identifiers of the same kind."
    )
    with refuses(DataError, sentence):
        align_map(square[:2], square[:2], ids=[1, 2], onto_ids=[2, 3])
    sentence = (
        "onto_ids must be given if the other identifiers are; got onto_ids=None. Pass both, or "
        "neither to match rows by position."
    )
    with refuses(ParameterError, sentence):
        align_map(square, square, ids=range(5))


def test_a_sparse_map_is_refused(square):
    sentence = "onto must be a dense array; got a sparse matrix. Pass onto.toarray()."
    with refuses(DataError, sentence):
        align_map(square, csr_array(square))
