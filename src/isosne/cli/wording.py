"""Sentences of the library in the words of the command line: psi=16 is --psi 16 there."""

import ast
import re
from dataclasses import fields

from isosne.cli.options import (
    KernelOptions,
    LandmarkOptions,
    MapOptions,
    ResourceOptions,
    TableOptions,
)

GROUPS = (TableOptions, KernelOptions, MapOptions, LandmarkOptions, ResourceOptions)
OPTIONS = {field.name for group in GROUPS for field in fields(group)} | {"n_queries", "every"}
REPEATED = ("columns", "exclude")
"""Options that are given once for each value; others take values with commas between."""
PHRASES = {
    " (force=True)": "",
    "isosne.datasets.names()": "isosne datasets",
    "None asks every point": "Without it every point is asked",
}
"""What is said of Python, and what a terminal has for it."""
KEYWORD = re.compile(r"\b([a-z]+(?:_[a-z]+)*)=('[^']*'|\[[^\]]*\]|-?\d+(?:\.\d+)?)")

BARE = re.compile(r"(?<![\w'\"./-])([a-z]+(?:_[a-z]+)+)(?![\w=/'\"]|\.\w)")


def with_options(sentence: str) -> str:
    """Return a sentence with keywords and their values written as options."""
    for phrase, words in PHRASES.items():
        sentence = sentence.replace(phrase, words)
    sentence = KEYWORD.sub(_as_option, sentence)
    return BARE.sub(lambda found: _name(found[1]) if found[1] in OPTIONS else found[0], sentence)


def _as_option(found: re.Match[str]) -> str:
    name, value = found[1], ast.literal_eval(found[2])
    if name not in OPTIONS:
        return found[0]
    option = _name(name)
    values = [str(part) for part in value] if isinstance(value, list) else [str(value)]
    if name in REPEATED:
        return " ".join(f"{option} {part}" for part in values)
    return f"{option} {','.join(values)}"


def _name(keyword: str) -> str:
    return f"--{keyword.replace('_', '-')}"
