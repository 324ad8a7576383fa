"""The one door to Numba: how loops are compiled, and how many threads run them.

No signatures are given anywhere, so nothing compiles at import; a loop is compiled at its
first call and kept in Numba's cache on disk.
"""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import get_num_threads, njit

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile a loop that runs on one thread and lets other threads run beside it."""
    return cast(Function, njit(cache=True, nogil=True, error_model="numpy")(function))


def n_threads() -> int:
    """Return the number of threads in use: ``numba.set_num_threads`` decides."""
    return int(get_num_threads())
