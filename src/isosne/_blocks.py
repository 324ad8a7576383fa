"""Process blocks of rows on a thread pool.

Block bounds depend only on the data, every block writes only its own rows, and BLAS runs on one
thread inside a block. So results do not depend on the number of threads (docs/decisions/0001).
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

from isosne._numba import n_threads

_lock = threading.Lock()
_runs = 0
_limiter: object = None


@cache
def _blas() -> ThreadpoolController:
    """Return a controller of the loaded BLAS libraries; cached, because it takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread while any caller, on any thread, is inside the context."""
    global _runs, _limiter
    with _lock:
        _runs += 1
        if _runs == 1:
            _limiter = _blas().limit(limits=1, user_api="blas")
            _limiter.__enter__()  # type: ignore[attr-defined]
    try:
        yield
    finally:
        with _lock:
            _runs -= 1
            if _runs == 0:
                _limiter.__exit__(None, None, None)  # type: ignore[attr-defined]


def for_each_block(n_rows: int, block_rows: int, work: Callable[[slice], None]) -> None:
    """Call ``work`` with consecutive slices that cover ``range(n_rows)``, on all threads.

    Callers choose block_rows so that a block fits in cache and takes about a millisecond or more.
    It affects speed only, except where a caller says otherwise.
    """
    with single_threaded_blas():
        loop_over_blocks(n_rows, block_rows, work)


def loop_over_blocks(n_rows: int, block_rows: int, work: Callable[[slice], None]) -> None:
    """Do the same with work that does not call BLAS; a single block costs no time.

    A loop that is compiled without `prange` takes a third of the time to compile.
    """
    if 0 < n_rows <= block_rows:
        work(slice(0, n_rows))
        return
    blocks = [slice(s, min(s + block_rows, n_rows)) for s in range(0, n_rows, block_rows)]
    workers = min(n_threads(), len(blocks))
    if workers <= 1:
        for block in blocks:
            work(block)
        return
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(work, blocks):
            pass
