"""Run cases in worker processes, and restart a worker that crashes or hangs."""

import multiprocessing
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.worker import COMPILED, COMPILING, READY, work

LIMIT_SECONDS = 10.0
"""A case takes milliseconds; longer than this, on a busy machine too, is a hang. Chosen."""
COMPILE_SECONDS = 300.0
"""Limit while a worker starts, and while Numba compiles."""
OUTCOMES = ("succeeded", "refused", "failed")


class Result(NamedTuple):
    """The verdict on the case of one area and seed."""

    area: str
    seed: int
    outcome: str
    reason: str
    details: str

    def command(self) -> str:
        """Return the command that repeats the case."""
        return f"python -m tests.fuzz {self.area} {self.seed}"


class Worker:
    """A process that judges the cases of one area."""

    def __init__(self, area: str, folder: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._folder = folder
        self._link, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(area, folder, theirs), daemon=True)
        self._process.start()
        theirs.close()
        started = self._answer(COMPILE_SECONDS)
        if started != READY:
            raise RuntimeError(f"The worker of {area} did not start: {started} {self._errors()}")

    def judge(self, seed: int) -> tuple[str, str, str]:
        """Return outcome, reason and details of a case; of a crash and a hang, too."""
        self._link.send(seed)
        answer = self._answer(LIMIT_SECONDS)
        if isinstance(answer, str):
            self._process.kill()
            self._process.join()
            return "failed", answer, self._errors()
        return answer

    def _answer(self, seconds: float):
        """Return what the worker sends, or in words why it sends nothing."""
        limit = seconds
        try:
            # Twice, because a pause of this machine uses up the first limit.
            while self._link.poll(limit) or self._link.poll(limit):
                answer = self._link.recv()
                if answer not in (COMPILING, COMPILED):
                    return answer
                limit = COMPILE_SECONDS if answer == COMPILING else seconds
        except (EOFError, ConnectionResetError):
            self._process.join()
            code = self._process.exitcode
            how = signal.Signals(-code).name if code and code < 0 else f"exit code {code}"
            return f"crashed: {how}"
        return f"hung: no verdict within {2 * limit:.0f} s"

    def _errors(self) -> str:
        path = self._folder / "stderr"
        return path.read_text(errors="replace")[-3000:] if path.exists() else ""

    @property
    def is_alive(self) -> bool:
        """Whether the process can take another case."""
        return self._process.is_alive()

    def end(self) -> None:
        """End the process."""
        if self.is_alive:
            self._link.send(None)
            self._process.join(LIMIT_SECONDS)
        self._process.kill()
        self._process.join()


def run_cases(
    area: str,
    seeds: Iterable[int],
    *,
    seconds: float = float("inf"),
    report: Callable[[Result], None] = lambda result: None,
) -> Counter[str]:
    """Judge cases until the seeds or the seconds end; return the number of each outcome."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        worker = Worker(area, Path(folder))
        until = time.monotonic() + seconds
        try:
            for seed in seeds:
                if time.monotonic() > until:
                    break
                if not worker.is_alive:
                    worker = Worker(area, Path(folder))
                result = Result(area, seed, *worker.judge(seed))
                counts[result.outcome] += 1
                report(result)
        finally:
            worker.end()
    return counts
