"""The one door to Numba: how loops are compiled, and how many threads run them.

No signatures are given anywhere, so nothing compiles at import; a loop is compiled at its
first call and kept in Numba's cache on disk.
"""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import get_num_threads, njit, prange

__all__ = ["kernel", "n_threads", "parallel_kernel", "prange", "row_sum_kernel"]

Function = TypeVar("Function", bound=Callable[..., object])

# A row's own sum may be reordered, so that it vectorizes; NaN and infinity keep their meaning.
ROW_SUMS = {"reassoc", "contract", "nsz", "arcp"}


def kernel(function: Function) -> Function:
    """Compile a loop that runs on one thread and lets other threads run beside it."""
    return cast(Function, njit(cache=True, nogil=True, error_model="numpy")(function))


def parallel_kernel(function: Function) -> Function:
    """Compile a loop whose rows (`prange`) run on all threads, each writing only its own row."""
    compile_parallel = njit(cache=True, error_model="numpy", parallel=True, fastmath=ROW_SUMS)
    return cast(Function, compile_parallel(function))


def row_sum_kernel(function: Function) -> Function:
    """Compile a piece of a row's sum, to be called from a parallel kernel."""
    return cast(Function, njit(cache=True, error_model="numpy", fastmath=ROW_SUMS)(function))


def n_threads() -> int:
    """Return the number of threads in use: ``numba.set_num_threads`` decides."""
    return int(get_num_threads())
