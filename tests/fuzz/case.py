"""One case: what an area draws from, and the verdict on what came of it.

"succeeded": every promise held. "refused": an error of isosne, in one sentence. "failed": anything
else, such as another exception, a warning of a library, a broken promise, or a file left behind.
"""

import re
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from isosne.errors import IsosneError, IsosneWarning

LONGEST_SENTENCE = 1000
"""Characters of a message; longer ones bury what must hold. Chosen."""
RULE = re.compile(r"\b(must|cannot|needs?|diverged|belongs to|uses file format)\b", re.I)
"""Words with which a message says what must hold, or what cannot be done."""
FEATURE_NAMES = re.compile(r"X (has|does not have valid) feature names, but |The feature names sho")
"""Beginning of warnings and errors that scikit-learn prescribes for every estimator."""


class Case:
    """What a case draws from, its empty folder, and what it drew, in words."""

    def __init__(self, rng: np.random.Generator, folder: Path) -> None:
        self.rng, self.folder = rng, folder
        self.kept: set[str] = set()
        self.notes: list[str] = []

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
            raise AssertionError(text)

    def promise_finite(self, values: Any, shape: tuple[int, ...], what: str) -> None:
        """End the case as failed unless an array has this shape and finite values."""
        array = np.asarray(values)
        self.promise(array.shape == shape, f"{what} has shape {array.shape} instead of {shape}")
        self.promise(np.isfinite(array).all(), f"{what} is not finite")


def judge(area, case: Case) -> tuple[str, str, str]:
    """Run a case; return the outcome, the reason, and all there is to know about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome, reason, trace = "succeeded", "", ""
        try:
            area(case)
        except Exception as error:
            outcome, reason, trace = "refused", str(error), traceback.format_exc()
            is_ours = isinstance(error, IsosneError) and _is_sentence(reason)
            if not is_ours and not FEATURE_NAMES.match(reason):
                outcome, reason = "failed", f"{type(error).__name__}: {reason}"
    foreign = [
        f"{w.category.__name__}: {w.message} ({Path(w.filename).name}:{w.lineno})"
        for w in caught
        if not issubclass(w.category, IsosneWarning) and not FEATURE_NAMES.match(str(w.message))
    ]
    left = sorted({path.name for path in case.folder.iterdir()} - case.kept)
    if outcome != "failed" and (foreign or left):
        outcome, reason = "failed", foreign[0] if foreign else f"left files behind: {left}"
    return outcome, reason.replace("\n", " | "), "\n".join([*case.notes, trace])


def _is_sentence(text: str) -> bool:
    """Return whether a message is one line that ends, is not too long, and says a rule."""
    has_end = text.endswith((".", "?", "!")) and "\n" not in text
    return has_end and len(text) <= LONGEST_SENTENCE and RULE.search(text) is not None
