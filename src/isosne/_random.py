"""Seeds: one rule from `random_state` to a NumPy Generator."""

import numpy as np

from isosne.errors import ParameterError

RandomState = int | np.integer | np.random.Generator | np.random.RandomState | None


def as_seed(random_state: RandomState) -> RandomState:
    """Return an integer of fresh entropy for None, so that a run can be repeated; others pass."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    return random_state


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Return the Generator that ``random_state`` stands for. 0 is a seed; None is fresh entropy."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if isinstance(random_state, bool) or not (
        random_state is None
        or isinstance(random_state, np.random.Generator)
        or (isinstance(random_state, (int, np.integer)) and random_state >= 0)
    ):
        raise ParameterError(
            "random_state",
            "be None, an integer from 0 up, a numpy Generator or a RandomState",
            random_state,
            "Pass an integer for a repeatable result.",
        )
    return np.random.default_rng(random_state)
