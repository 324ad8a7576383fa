"""What isosne raises and warns with.

Every message is one string: what must hold, what was received, what to do. A message names
parameters through `keyword`, which spells them as the interface in use does: ``psi=16`` in Python,
``--psi 16`` on the command line.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Any

Spelling = Callable[[str, Any], str]
"""From the name of a parameter and its value, which is ``...`` if there is none, to text."""

LONGEST_VALUE = 200
"""Largest number of characters of a value in a message (chosen)."""

UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


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


def as_keyword(name: str, value: object) -> str:
    """Spell a parameter as Python does."""
    return name if value is ... else f"{name}={show(value)}"


_spelling: ContextVar[Spelling] = ContextVar("spelling", default=as_keyword)


@contextmanager
def spelled_by(spelling: Spelling) -> Iterator[None]:
    """Spell the parameters of all messages that are made inside in another way than Python's."""
    token = _spelling.set(spelling)
    try:
        yield
    finally:
        _spelling.reset(token)


def keyword(name: str, value: object = ...) -> str:
    """Return a parameter, or a parameter with a value, as a message spells it."""
    return _spelling.get()(name, value)


def find_similar(value: object, names: Iterable[str], similarity: float = 0.6) -> str | None:
    """Return the name that is most similar to a text, whatever the case; None if there is none."""
    if not isinstance(value, str):
        return None
    by_lower = {str(name).lower(): str(name) for name in names}
    close = get_close_matches(value.lower(), by_lower, n=1, cutoff=similarity)
    return by_lower[close[0]] if close else None


def suggest(value: object, names: Iterable[str], other: str, similarity: float = 0.6) -> str:
    """Return a hint that asks for the most similar name, or another hint if there is none."""
    similar = find_similar(value, names, similarity)
    return other if similar is None else f"Did you mean {similar!r}?"


class IsosneError(Exception):
    """Base of all errors that isosne raises on purpose."""

    def __str__(self) -> str:
        """Return the message on one line; names of files may contain control characters."""
        return UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], super().__str__())


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

    def __init__(self, parameter: str, rule: str, value: Any = ..., hint: str = "") -> None:
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


class ColumnsWarning(IsosneWarning):
    """Columns of a table distort the map, or were left out of it; ``plan_.notes`` lists them."""


class PrecisionWarning(IsosneWarning):
    """The data have integers that differ only in digits that float64 does not have."""


class FarRowsWarning(IsosneWarning):
    """More new rows are far from the fitted rows than chance explains."""
