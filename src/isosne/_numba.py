"""Numba settings: how functions are compiled, and how many threads run them.

Functions have no explicit signatures, so nothing is compiled at import. A function is compiled at
its first call and stored in Numba's cache on disk. No other module imports Numba.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from numba import config, get_num_threads, njit, prange, set_num_threads
from numba.cpython.unsafe import tuple as tuples

from isosne.errors import ParameterError

__all__ = [
    "kernel",
    "n_threads",
    "parallel_kernel",
    "prange",
    "row_sum_kernel",
    "threads",
    "tuple_setitem",
]

Function = TypeVar("Function", bound=Callable[..., object])


def _tuple_setitem(values: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    return (*values[:index], value, *values[index + 1 :])


tuple_setitem: Any = _tuple_setitem if config.DISABLE_JIT else tuples.tuple_setitem  # type: ignore[attr-defined]
"""Return a tuple with one entry replaced. The compiler keeps small tuples in registers."""

# A sum over one row may be reordered, so that it vectorizes. Without nnan and ninf, comparisons
# with NaN and infinity stay correct.
ROW_SUMS = {"reassoc", "contract", "nsz", "arcp"}


def kernel(function: Function) -> Function:
    """Compile a function that runs on one thread and releases the GIL."""
    return cast(Function, njit(cache=True, nogil=True, error_model="numpy")(function))


def parallel_kernel(function: Function) -> Function:
    """Compile a function whose `prange` rows run on all threads; each writes only its own row."""
    compile_parallel = njit(cache=True, error_model="numpy", parallel=True, fastmath=ROW_SUMS)
    return cast(Function, compile_parallel(function))


def row_sum_kernel(function: Function) -> Function:
    """Compile a part of a sum over one row, to be called from a parallel kernel."""
    return cast(Function, njit(cache=True, error_model="numpy", fastmath=ROW_SUMS)(function))


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Run with the given number of threads; None leaves the number unchanged."""
    before = get_num_threads()
    if n_jobs is not None:
        if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs < 1:
            raise ParameterError(
                "n_jobs",
                "be None or an integer from 1 up",
                n_jobs,
                "None uses as many threads as Numba does.",
            )
        set_num_threads(min(n_jobs, int(config.NUMBA_NUM_THREADS)))  # type: ignore[attr-defined]
    try:
        yield
    finally:
        set_num_threads(before)


def n_threads() -> int:
    """Return the number of threads in use, as set by ``numba.set_num_threads``."""
    return int(get_num_threads())
