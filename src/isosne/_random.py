"""Conversion of `random_state` to a NumPy Generator."""

import numpy as np

from isosne.errors import ParameterError

RandomState = int | np.integer | np.random.Generator | np.random.RandomState | None


def as_seed(random_state: RandomState) -> RandomState:
    """Return a random integer seed for None, so that the run can be repeated; else unchanged."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    return random_state


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Return the Generator for ``random_state``; None gives a new random one."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if isinstance(random_state, bool | np.timedelta64) or not (
        random_state is None
        or isinstance(random_state, np.random.Generator)
        or (isinstance(random_state, (int, np.integer)) and random_state >= 0)
    ):
        rule = "be None, an integer from 0 up, a numpy Generator or a RandomState"
        hint = "Pass an integer for a repeatable result."
        raise ParameterError("random_state", rule, random_state, hint)
    return np.random.default_rng(random_state)
