"""Numba settings: how functions are compiled, and how many threads run them.

At its first call, a function is loaded from Numba's cache on disk or from a pack (`_packs`), or it
is compiled and stored in the cache. No function has fast-math flags, which would let the compiler
reorder sums and fuse operations as suits the CPU: a map would depend on the CPU
(docs/decisions/0010).
"""

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from numbers import Integral
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import config, get_num_threads, njit, prange, set_num_threads
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target

from isosne import _packs
from isosne._machine import cpu_limit
from isosne._version import __version__
from isosne.errors import ParameterError

__all__ = ["compilation", "kernel", "most_threads", "n_threads", "parallel_kernel", "prange"]
__all__ += ["threads"]

Function = TypeVar("Function", bound=Callable[..., object])
SPIN_COUNT, SPINS = "GOMP_SPINCOUNT", "30000"
"""Environment variable that GNU OpenMP reads when its library is loaded, and its value: some ten
microseconds, the time between two parallel loops (measured: docs/decisions/0010)."""
LOOK_SECONDS, PAUSE_SECONDS, WAITING = 0.02, 0.5, 2.0
"""Seconds of parallel loops between two looks at the threads, and of the first pause of those that
step back; and the time that passes, relative to the CPU time of the calling thread, above which it
waits for others (docs/decisions/0024)."""
COMPILING = (
    "Compiling, which takes some seconds, once. To compile everything in advance, run isosne warm."
)
WAIT_CHOICES = {SPIN_COUNT, "OMP_WAIT_POLICY"}
"""Variables by which users choose how threads wait."""


def kernel(function: Function) -> Function:
    """Compile a function that runs on one thread and releases the GIL."""
    return cast(Function, _compiled(function, nogil=True))


def parallel_kernel(function: Function) -> Function:
    """Compile a function whose `prange` rows run on all threads; each writes only its own row.

    It may be called from several threads at once, and in a forked process.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    parallel = _compiled(function, parallel=True)
    serial = kernel(renamed(function, f"{function.__name__}_on_one_thread"))

    @wraps(function)
    def call(*arguments: object) -> object:
        # One thread needs no parallel function, unless threads step back for a while.
        if _pool.is_lost or (n_threads() == 1 and not parallel.signatures):
            return serial(*arguments)
        with _pool.turn():
            return parallel(*arguments)

    return cast(Function, call)


def _compiled(function: Callable[..., object], **options: bool) -> Any:
    """Compile a function, unless it is stored or in a pack, and store it if a folder permits."""
    # Wrappers for C would be compiled too, and nothing calls them.
    dispatcher = cast(Any, njit)(error_model="numpy", no_cfunc_wrapper=True, **options)(function)
    if not config.DISABLE_JIT:  # type: ignore[attr-defined]
        with suppress(RuntimeError):  # Numba found no folder
            dispatcher.enable_caching()
        _look_in_pack(dispatcher)
    return dispatcher


def _look_in_pack(dispatcher: Any) -> None:
    """Let a function be loaded from Numba's cache or a pack; do not store what cannot be written.

    The folder of the cache may become full or read-only, and a power failure may cut off files.
    """
    stored = dispatcher._cache
    if (file := getattr(stored, "_cache_file", None)) is not None:
        # Numba looks at one source file; the functions it calls may have changed in another.
        file._source_stamp = file._source_stamp, __version__
    load, save = stored.load_overload, stored.save_overload

    def try_to_load(signature: Any, context: Any) -> Any:
        found = None
        try:
            found = load(signature, context)
        except Exception:  # what unpickling raises
            with suppress(OSError):
                stored.flush()  # else `save` would read the damaged index again
        if found is None and not compilation.is_wanted:
            with suppress(Exception):  # a damaged pack
                found = _from_pack(dispatcher.py_func, signature, context)
        if found is None:
            compilation.tell()
        return found

    def try_to_save(*arguments: Any) -> None:
        with suppress(OSError):
            save(*arguments)

    stored.load_overload, stored.save_overload = try_to_load, try_to_save
    dispatcher.compile = _without_collections(dispatcher.compile)


def _without_collections(compile_for: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Pause the garbage collector while functions compile: it would take a tenth of the time."""

    def compile_at_once(signature: Any) -> Any:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return compile_for(signature)
        finally:
            if was_enabled:
                gc.enable()

    return compile_at_once


def _from_pack(function: Callable[..., object], signature: Any, context: Any) -> Any:
    """Return a function of the pack, or None."""
    settings = cast(Any, config)
    if settings.BOUNDSCHECK or settings.DEBUGINFO_DEFAULT or settings.OPT != 3:
        return None  # the user wants other code
    context.refresh()
    features = context.codegen().magic_tuple()[2]
    payload = _packs.installed(numba.__version__).load(_packs.key_of(function, signature), features)
    return None if payload is None else cast(Any, CompileResult)._rebuild(context, *payload)


def describe_compiler() -> dict[str, str]:
    """Return the CPU that functions are compiled for, and where compiled ones are found."""
    context = cpu_target.target_context
    context.refresh()
    _, cpu, features = context.codegen().magic_tuple()
    stats = getattr(_compiled(describe_compiler), "stats", None)  # none with NUMBA_DISABLE_JIT
    folder, pack = getattr(stats, "cache_path", None), _packs.installed(numba.__version__)
    return {"cpu": cpu, "cache": folder or "none", "pack": pack.about(features)}


class Compilation:
    """What happens when a function must be compiled. ``is_wanted``: even if a pack has it."""

    def __init__(self) -> None:
        self.is_wanted = False
        self._says: list[Callable[[str], None]] = []

    @contextmanager
    def told(self, say: Callable[[str], None]) -> Iterator[None]:
        """Tell once that functions are compiled, if any are."""
        self._says.append(say)
        try:
            yield
        finally:
            if say in self._says:
                self._says.remove(say)

    def tell(self) -> None:
        """Tell whoever wants to know it."""
        while self._says:
            self._says.pop()(COMPILING)


def renamed(function: Function, name: str) -> Function:
    """Return a copy of a function under another name, by which Numba's cache distinguishes it."""
    assert isinstance(function, FunctionType)
    copy = FunctionType(function.__code__, function.__globals__, name)
    copy.__module__, copy.__qualname__, copy.__doc__ = function.__module__, name, function.__doc__
    return cast(Function, copy)


class ThreadPool:
    """The state of Numba's threads.

    ``is_lost``: this process was forked from one that had started threads. They are not copied, and
    GNU OpenMP ends a process that tries to use them, so one thread must do. ``n_runs``: threads of
    the program that are inside `threads`, and share the CPUs.
    """

    def __init__(self) -> None:
        self.is_lost = False
        self.n_runs = 0
        self._is_started = False
        self._lock = threading.RLock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def start(self) -> None:
        """Start the threads, as Numba does when it is first asked for their number."""
        if not self._is_started:
            with self._lock, waiting_briefly():
                get_num_threads()
                self._is_started = True

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until a parallel function may run; then see whether its threads waited."""
        elastic = _own.elastic
        if elastic is None:  # not in an estimator
            with threads(None), self.turn():
                yield
        elif numba.threading_layer() == "workqueue":  # type: ignore[attr-defined]
            with self._lock, elastic.watched():  # it must not be used from two threads at once
                yield
        elif elastic.most == 1:
            yield
        else:
            with elastic.watched():
                yield

    def count(self, change: int) -> None:
        """Count a thread of the program that begins (1) or ends (-1) to use the threads."""
        with self._lock:
            self.n_runs += change

    def _forget(self) -> None:
        self.is_lost = self._is_started
        self.n_runs = int(_own.elastic is not None)
        self._lock = threading.RLock()  # another thread of the parent may have held it


@contextmanager
def waiting_briefly() -> Iterator[None]:
    """Let GNU OpenMP's threads, if they start now, sleep soon while they wait for each other.

    By default they spin for long, and take the core from the thread that they wait for if other
    programs keep the cores busy (docs/decisions/0010). A choice of the user's is kept.
    """
    if not WAIT_CHOICES.isdisjoint(os.environ):
        yield
        return
    os.environ[SPIN_COUNT] = SPINS
    try:
        yield
    finally:
        os.environ.pop(SPIN_COUNT, None)


class Own(threading.local):
    """The innermost `threads` of a thread of the program."""

    elastic: "ElasticThreads | None" = None


_own = Own()
_pool = ThreadPool()
compilation = Compilation()


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Run with up to the given number of threads; None for as many as before.

    They are never more than the CPUs that the process may use, divided by the number of threads of
    the program that are here at the same time.
    """
    is_count = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool | np.timedelta64)
    if n_jobs is not None and (not is_count or n_jobs < 1):
        hint = "None uses as many threads as Numba does."
        raise ParameterError("n_jobs", "be None or an integer from 1 up", n_jobs, hint)
    _pool.start()
    outer, before, most = _own.elastic, get_num_threads(), most_threads()
    if n_jobs is not None:
        most = min(int(n_jobs), int(config.NUMBA_NUM_THREADS), cpu_limit().value)  # type: ignore[attr-defined]
    _pool.count(1 if outer is None else 0)
    _own.elastic = ElasticThreads(most)
    try:
        yield
    finally:
        _own.elastic = outer
        _pool.count(-1 if outer is None else 0)
        set_num_threads(before)


class ElasticThreads:
    """Threads that step back while other programs keep the cores busy.

    A thread without a core makes the others wait at the end of each loop: the calling thread uses
    less CPU time than passes. Results do not depend on the number of threads, so a run goes on with
    one of them, and tries again later (docs/decisions/0024).
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._pause, self._until = PAUSE_SECONDS, 0.0
        self._passed = self._worked = 0.0
        set_num_threads(self._share())

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Run a parallel loop, and adapt the number of threads for what follows."""
        passed, worked = time.perf_counter(), time.thread_time()
        yield
        self.adapt(time.perf_counter() - passed, time.thread_time() - worked)

    def adapt(self, passed: float, worked: float) -> None:
        """Choose the number of threads after a loop of these seconds, by the clock and of CPU."""
        self._passed, self._worked = self._passed + passed, self._worked + worked
        if self.most == 1 or self._passed < LOOK_SECONDS:
            return
        now, n, share = time.perf_counter(), n_threads(), self._share()
        is_waiting = self._passed > WAITING * self._worked
        self._passed = self._worked = 0.0
        if n < share and now >= self._until:
            set_num_threads(share)
        elif n > 1 and is_waiting:
            set_num_threads(1)
            self._until, self._pause = now + self._pause, 2 * self._pause
        elif n > share:
            set_num_threads(share)
        elif n == share:
            self._pause = PAUSE_SECONDS

    def _share(self) -> int:
        """Return the number of threads that leave CPUs to other threads of the program."""
        return max(1, min(self.most, cpu_limit().value // max(1, _pool.n_runs)))


def n_threads() -> int:
    """Return the number of threads in use now."""
    _pool.start()
    n = int(get_num_threads())
    return n if _own.elastic else min(n, cpu_limit().value)


def most_threads() -> int:
    """Return the number of threads that may be used, some of which may have stepped back."""
    return _own.elastic.most if _own.elastic else n_threads()
