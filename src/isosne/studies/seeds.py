"""Seeds of repeated maps: how many, which, and what they change.

A seed draws the samples of a kernel, and the start or the noise that is added to it. That noise is
1 % of the width of the start, and changes the measures of a map almost as much as a random start
does (docs/reading-a-map.md). Where a model would ignore its seed, `reseed` lets it have an effect.
"""

from typing import Any

import numpy as np
from sklearn.base import clone

from isosne._checks import check_count
from isosne._random import RandomState, as_generator, as_seed
from isosne.errors import keyword
from isosne.kernels.base import MetricKernel
from isosne.layout.start import JITTER, normal_numbers
from isosne.tsne.estimator import TSNE

BY_SIZE = ((5_000, 5), (20_000, 3))
"""Numbers of maps per kernel up to each number of points; chosen so that a report takes minutes."""


def resolve_n_seeds(n_seeds: Any, n_points: int) -> int:
    """Return the number of maps per kernel; None chooses it by the number of points."""
    if n_seeds is None:
        return next((number for limit, number in BY_SIZE if n_points <= limit), 1)
    hint = (
        "Pass the number of maps per kernel, or leave out "
        f"{keyword('n_seeds')} to choose it by the number of points."
    )
    return check_count(n_seeds, "n_seeds", low=1, hint=hint)


def list_seeds(random_state: RandomState, n_seeds: int) -> list[int]:
    """Return consecutive seeds from an integer on, or seeds drawn from a generator."""
    first = as_seed(random_state)
    if isinstance(first, int | np.integer):
        as_generator(first)  # raise if it is not a seed
        return [int(first) + i for i in range(n_seeds)]
    drawn: list[int] = as_generator(first).integers(2**31, size=n_seeds).tolist()
    return drawn


def show_seeds(seeds: list[int]) -> str:
    """Return the seeds as text: a range if they are consecutive."""
    first, last = seeds[0], seeds[-1]
    if len(seeds) > 2 and seeds == list(range(first, last + 1)):
        return f"{first} to {last}"
    return ", ".join(map(str, seeds))


def reseed(model: TSNE, seed: int) -> TSNE:
    """Return an unfitted copy of a model whose seed has an effect.

    The seed of the model also draws the samples of a kernel that has a seed of its own. A start
    that is an array gets the noise that other starts have.
    """
    copy: TSNE = clone(model).set_params(random_state=seed)
    if isinstance(copy.kernel, MetricKernel) and "random_state" in copy.kernel.get_params():
        copy.kernel.set_params(random_state=None)
    if not isinstance(copy.start, str):
        start = np.asarray(copy.start, np.float64)
        noise = normal_numbers(np.random.default_rng(seed), start.shape)
        copy.set_params(start=start + JITTER * start.std(axis=0).max() * noise)
    return copy
