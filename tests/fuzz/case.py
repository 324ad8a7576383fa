"""One case: what an area draws from, and the verdict on what came of it.

"succeeded": every promise held. "refused": an error of isosne, in one sentence. "failed": anything
else, such as another exception, a warning of a library, a broken promise, or a file left behind.
"""

import re
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isosne.errors import IsosneError, IsosneWarning

LONGEST_SENTENCE = 1000
"""Characters of a message; longer ones bury what must hold. Chosen."""
RULE = re.compile(
    r"\b(must|cannot|needs?|diverged|belongs to|uses file format|holds a model)\b", re.I
)
"""Words with which a message says what must hold, or what cannot be done."""

FEATURE_NAMES = re.compile(r"X (has|does not have valid) feature names, but ")
"""Beginning of the warnings that scikit-learn gives for every estimator."""


class Verdict(NamedTuple):
    """The verdict on a case, the reason in one line, and all there is to know about it."""

    outcome: str
    reason: str
    details: str


class BrokenPromiseError(Exception):
    """A call returned what it must not return."""


@dataclass
class Case:
    """What a case draws from, where it writes, and what it drew, in words.

    Parameters
    ----------
    rng : Generator
        Source of all draws of the case.
    folder : path
        An empty folder; only files that are listed in `kept` may stay in it.
    """

    rng: np.random.Generator
    folder: Path
    kept: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def pick(self, *options: Any) -> Any:
        """Return one of the options."""
        return options[int(self.rng.integers(len(options)))]

    def happens(self, probability: float) -> bool:
        """Return True with this probability."""
        return bool(self.rng.random() < probability)

    def note(self, text: object) -> None:
        """Remember what was drawn."""
        self.notes.append(str(text))

    def path(self, name: str) -> Path:
        """Return the path of a file that may stay in the folder."""
        self.kept.add(name)
        return self.folder / name

    def promise(self, holds: object, text: str) -> None:
        """End the case as failed unless a promise holds."""
        if not holds:
            raise BrokenPromiseError(text)

    def promise_finite(self, values: Any, shape: tuple[int, ...], what: str) -> None:
        """End the case as failed unless an array has this shape and finite values."""
        found = np.asarray(values)
        self.promise(found.shape == shape, f"{what} has shape {found.shape} instead of {shape}")
        self.promise(np.isfinite(found).all(), f"{what} is not finite")


OTHER_NAMES = "The feature names should match those that were passed during fit."
"""Start of the message that scikit-learn prescribes for data frames with other columns."""


def judge(area: Callable[[Case], None], case: Case) -> Verdict:
    """Run a case and return the verdict."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            area(case)
            outcome, reason, trace = "succeeded", "", ""
        except IsosneError as error:
            outcome, reason = _judge_sentence(error)
            trace = traceback.format_exc()
        except Exception as error:
            outcome, reason = "failed", f"{type(error).__name__}: {error}{_place(error)}"
            if str(error).startswith(OTHER_NAMES):
                outcome, reason = "refused", OTHER_NAMES
            trace = traceback.format_exc()
    if outcome != "failed":
        faults = [*_foreign(caught), *_left_behind(case)]
        outcome, reason = ("failed", faults[0]) if faults else (outcome, reason)
    return Verdict(outcome, reason.replace("\n", " | "), "\n".join([*case.notes, trace]))


def _judge_sentence(error: IsosneError) -> tuple[str, str]:
    sentence = str(error)
    faults = {
        "has several lines": "\n" in sentence,
        "does not end as a sentence": not sentence.endswith((".", "?", "!")),
        "is too long": len(sentence) > LONGEST_SENTENCE,
        "says no rule": not RULE.search(sentence),
        "has marks in it": bool(re.search("[\ue000-\ue002]", sentence)),
    }
    for fault, is_found in faults.items():
        if is_found:
            text = f"{sentence[:300]}{_place(error)}"
            return "failed", f"The message of {type(error).__name__} {fault}: {text}"
    return "refused", sentence


def _foreign(caught: list[warnings.WarningMessage]) -> list[str]:
    """Return the warnings that are not isosne's."""
    return [
        f"{w.category.__name__}: {w.message} ({Path(w.filename).name}:{w.lineno})"
        for w in caught
        if not issubclass(w.category, IsosneWarning) and not FEATURE_NAMES.match(str(w.message))
    ]


def _left_behind(case: Case) -> list[str]:
    left = {path.name for path in case.folder.iterdir()} - case.kept
    return [f"left files behind: {sorted(left)}"] if left else []


def _place(error: Exception) -> str:
    """Return the last line of isosne or of these tests that an error passed."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "/isosne/" in f.filename or "/tests/" in f.filename]
    return f" ({Path(ours[-1].filename).name}:{ours[-1].lineno})" if ours else ""
