"""Numba settings: how functions are compiled, and how many threads run them.

Functions have no explicit signatures, so nothing is compiled at import. A function is compiled at
its first call and stored in Numba's cache on disk. Only this module and `_lanes` import Numba.

No function is compiled with fast-math flags: they would let the compiler reorder sums and fuse
operations as suits the CPU, and a map would depend on the CPU (docs/decisions/0010).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from numba import config, get_num_threads, njit, prange, set_num_threads, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from isosne.errors import ParameterError

__all__ = [
    "kernel",
    "n_threads",
    "parallel_kernel",
    "prange",
    "threads",
    "with_entry",
]

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile a function that runs on one thread and releases the GIL."""
    return cast(Function, njit(cache=True, nogil=True, error_model="numpy")(function))


def parallel_kernel(function: Function) -> Function:
    """Compile a function whose `prange` rows run on all threads; each writes only its own row."""
    return cast(Function, njit(cache=True, error_model="numpy", parallel=True)(function))


def with_entry(values: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    """Return a tuple with one entry replaced; in compiled code, small tuples stay in registers."""
    return (*values[:index], value, *values[index + 1 :])


@intrinsic
def _with_entry(_, values, index, value):  # type: ignore[no-untyped-def]
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, index, value = arguments
        place = cgutils.alloca_once_value(builder, values)
        builder.store(value, cgutils.gep_inbounds(builder, place, 0, index))
        return builder.load(place)

    return values(values, types.intp, values.dtype), generate


@overload(with_entry)
def _compiled_with_entry(values, index, value):  # type: ignore[no-untyped-def]
    return lambda values, index, value: _with_entry(values, index, value)


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
