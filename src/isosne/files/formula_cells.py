"""Text cells that a spreadsheet would take for formulas: marked when written, restored when read.

A text that begins with one of `MARKED` gets an apostrophe in front, unless it is a number. Texts
that begin with an apostrophe get another one, so that every text is restored exactly.
"""

import re

import numpy as np

from isosne._types import Array

MARKED = "=+-@\t\r'\uff1d\uff0b\uff0d\uff20"
"""First characters of formulas, also in their full-width forms, and the apostrophe itself."""
MARK = "'"
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def mark_formulas(texts: Array) -> Array:
    """Return texts that no spreadsheet takes for formulas; numbers are returned unchanged."""
    if texts.dtype.kind != "U":
        return texts
    return np.array([_mark(text) for text in texts.tolist()], dtype=np.str_)


def restore_formulas(texts: Array) -> Array:
    """Return the texts that `mark_formulas` was given."""
    if texts.dtype.kind != "U":
        return texts
    return np.array([_restore(text) for text in texts.tolist()], dtype=np.str_)


def _mark(text: str) -> str:
    is_formula = bool(text) and text[0] in MARKED and not NUMBER.fullmatch(text)
    return f"{MARK}{text}" if is_formula else text


def _restore(text: str) -> str:
    is_marked = len(text) > 1 and text[0] == MARK and text[1] in MARKED
    return text[1:] if is_marked else text
