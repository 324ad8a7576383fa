"""Seeds of repeated maps."""

import numpy as np
import pytest

from isosne import TSNE, GaussianKernel, IsolationKernel
from isosne.errors import ParameterError
from isosne.studies.seeds import list_seeds, reseed, resolve_n_seeds, show_seeds
from tests.conftest import SHORT, refuses


@pytest.mark.parametrize(
    ("n_points", "n_seeds"), [(4, 5), (5_000, 5), (5_001, 3), (20_000, 3), (20_001, 1)]
)
def test_many_points_are_mapped_with_fewer_seeds(n_points, n_seeds):
    assert resolve_n_seeds(None, n_points) == n_seeds
    assert resolve_n_seeds(2, n_points) == 2


@pytest.mark.parametrize("n_seeds", [0, -1, 2.0, True, "3"])
def test_the_number_of_seeds_is_refused_unless_it_counts(n_seeds):
    with refuses(
        ParameterError,
        f"n_seeds must be an integer from 1 up; got n_seeds={n_seeds!r}. Pass the number of maps "
        "per kernel, or leave out n_seeds to choose it by the number of points.",
    ):
        resolve_n_seeds(n_seeds, 100)


def test_seeds_follow_the_first():
    assert list_seeds(7, 3) == [7, 8, 9]
    assert list_seeds(np.int32(7), 1) == [7]
    assert len(set(list_seeds(None, 4))) == 4
    for make in (np.random.default_rng, np.random.RandomState):
        drawn = list_seeds(make(1), 3)
        assert drawn == list_seeds(make(1), 3)
        assert len(set(drawn)) == 3
    with pytest.raises(ParameterError, match=r"\Arandom_state must be"):
        list_seeds(-1, 2)


@pytest.mark.parametrize(
    ("seeds", "text"), [([4], "4"), ([4, 5], "4, 5"), ([4, 5, 6], "4 to 6"), ([4, 6, 5], "4, 6, 5")]
)
def test_seeds_are_shown(seeds, text):
    assert show_seeds(seeds) == text


@pytest.mark.parametrize(
    "model",
    [
        TSNE(GaussianKernel(10.0), schedule=SHORT),
        TSNE(GaussianKernel(10.0), schedule=SHORT, start="spectral"),
        TSNE(GaussianKernel(10.0), schedule=SHORT, start=np.random.default_rng(0).random((60, 2))),
    ],
)
def test_a_seed_changes_the_map_of_a_kernel_that_draws_nothing(two_blobs, model):
    maps = [reseed(model, seed).fit_transform(two_blobs) for seed in (1, 2, 1)]
    assert not np.array_equal(maps[0], maps[1])
    np.testing.assert_array_equal(maps[0], maps[2])


def test_a_start_that_is_given_gets_little_noise(two_blobs):
    start = np.random.default_rng(0).normal(size=(60, 2)) * [3, 1]
    noise = reseed(TSNE(start=start), 1).start - start
    # 1 % of the standard deviation of the wider axis, about 0.03.
    np.testing.assert_allclose(noise.std(), 0.01 * start[:, 0].std(), rtol=0.2)


def test_a_kernel_with_a_seed_of_its_own_draws_again(two_blobs):
    model = TSNE(IsolationKernel(8, n_partitions=20, random_state=3), schedule=SHORT)
    kernels = [reseed(model, seed).fit(two_blobs).kernel_ for seed in (1, 2)]
    assert not np.array_equal(*(kernel.similarity(two_blobs) for kernel in kernels))
    assert model.kernel.random_state == 3
