"""What isosne raises and warns with.

Every message is one string: what must hold, what was received, what to do. A message names
parameters through `keyword`, so that each interface can spell them its own way: ``psi=16`` in
Python, ``--psi 16`` on the command line.
"""

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from types import EllipsisType
from typing import Any

Spelling = Callable[[str, str | None], str]
"""From the name of a parameter, and the repr of its value if there is one, to text."""

# Marks around a parameter in a sentence: private-use characters, which no message contains.
_OPEN, _EQUALS, _CLOSE = "\ue000", "\ue001", "\ue002"


LONGEST_VALUE = 200
"""Largest number of characters of a value in a message (chosen)."""
SIMILARITY = 0.6
"""Smallest similarity of a suggested name: the default of difflib."""


def show(value: object) -> str:
    """Return the repr of a value on one line, shortened if it is long."""
    try:
        return shorten(repr(value))
    except ValueError:  # an integer of thousands of digits
        return object.__repr__(value)


def shorten(text: str) -> str:
    """Return a text on one line, and its beginning if it is long."""
    text = re.sub(r"\s*\n\s*", " ", text)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def keyword(name: str, value: object = ...) -> str:
    """Return a mark that stands for a parameter, or for a parameter with a value, in a message."""
    given = "" if value is ... else f"{_EQUALS}{show(value)}"
    return f"{_OPEN}{name}{given}{_CLOSE}"


def as_keyword(name: str, value: str | None) -> str:
    """Spell a parameter as Python does."""
    return name if value is None else f"{name}={value}"


def spell(sentence: str, spelling: Spelling) -> str:
    """Return a sentence with its marks replaced by the parameters that they stand for."""
    text, *marked = sentence.split(_OPEN)
    for part in marked:
        inside, _, rest = part.partition(_CLOSE)
        name, has_value, value = inside.partition(_EQUALS)
        text += spelling(name, value if has_value else None) + rest
    return text


def find_similar(
    value: object, names: Iterable[str], *, similarity: float = SIMILARITY
) -> str | None:
    """Return the name that is most similar to a text, whatever the case; None if there is none."""
    if not isinstance(value, str):
        return None
    by_lower = {str(name).lower(): str(name) for name in names}
    close = get_close_matches(value.lower(), by_lower, n=1, cutoff=similarity)
    return by_lower[close[0]] if close else None


def suggest(
    value: object, names: Iterable[str], otherwise: str, *, similarity: float = SIMILARITY
) -> str:
    """Return a hint that asks for the most similar name, or another hint if there is none."""
    similar = find_similar(value, names, similarity=similarity)
    return otherwise if similar is None else f"Did you mean {similar!r}?"


class IsosneError(Exception):
    """Base of all errors that isosne raises on purpose.

    Parameters
    ----------
    sentence : str
        The message; parameters in it are marked by `keyword`.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(spell(sentence, as_keyword))
        self.sentence = sentence

    def worded(self, spelling: Spelling) -> str:
        """Return the message with parameters spelled in another way than Python's.

        Parameters
        ----------
        spelling : callable
            From the name of a parameter, and the repr of its value or None, to text.

        Returns
        -------
        str
            The message.
        """
        return spell(self.sentence, spelling)


class ParameterError(IsosneError, ValueError):
    """A parameter has a value that its rule does not allow.

    Parameters
    ----------
    parameter : str
        Name of the parameter.
    rule : str
        What must hold of it, after the word "must": "be an integer from 2 to 100".
    value : object, default=...
        What was received; left out of the message if it is not given.
    hint : str, default=""
        What to do, as a sentence or two.

    Examples
    --------
    >>> from isosne.errors import ParameterError
    >>> print(ParameterError("psi", "be at least 2", 1, "Choose a larger psi."))
    psi must be at least 2; got psi=1. Choose a larger psi.
    """

    def __init__(
        self, parameter: str, rule: str, value: Any | EllipsisType = ..., hint: str = ""
    ) -> None:
        self.parameter, self.rule, self.value, self.hint = parameter, rule, value, hint
        got = "" if value is ... else f"; got {keyword(parameter, value)}"
        super().__init__(f"{keyword(parameter)} must {rule}{got}. {hint}".rstrip())

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), (self.parameter, self.rule, self.value, self.hint)


class DataError(IsosneError, ValueError):
    """The data cannot be used as they are."""


class MissingValuesError(DataError):
    """The data have missing values, where every value must be a finite number."""


class DataTypeError(DataError, TypeError):
    """The data have values or labels of a type that cannot be used."""


class DivergedError(IsosneError, FloatingPointError):
    """The optimization diverged."""


class MissingPackageError(IsosneError, ImportError):
    """An optional package is needed and not installed."""


class OutputError(IsosneError, OSError):
    """A result could not be written; nothing is left under its name."""


class IsosneWarning(UserWarning):
    """Base of all warnings of isosne."""


class DegenerateRowsWarning(IsosneWarning):
    """Some points have no usable bandwidth; their rows take the limit that the message names."""


class IsolatedPointsWarning(IsosneWarning):
    """Some points share no cell with any other point."""


class FarRowsWarning(IsosneWarning):
    """More new rows are far from the fitted rows than chance explains."""
