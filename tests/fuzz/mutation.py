"""Damage to bytes, and other values for plain ones."""

from typing import Any

import numpy as np

from tests.fuzz.case import Case

INTERESTING = (0, 1, 0x7F, 0x80, 0xFF)
NUMBERS = (0, 1, -1, 2, 3, 0.5, 1e9, 1e308, 2**31, 2**63, 10**30, float("nan"), float("inf"))
OTHERS = (None, True, False, "", "x", "sparse", [], {}, [1], [[]], {"kind": "KL", "parts": {}})


def damage(case: Case, content: bytes) -> bytes:
    """Return content with one to four faults."""
    changed = bytearray(content)
    for _ in range(int(case.rng.integers(1, 5)) if case.happens(0.4) else 1):
        if changed:
            _damage_once(case, changed)
    return bytes(changed)


def _damage_once(case: Case, changed: bytearray) -> None:
    place, length = int(case.rng.integers(len(changed))), int(case.rng.integers(1, 17))
    part = changed[place : place + length]
    fault = case.pick("bit", "byte", "fill", "cut", "end", "copy", "insert", "swap", "number")
    case.note(f"{fault} at {place}, {length} bytes")
    if fault == "bit":
        changed[place] ^= 1 << int(case.rng.integers(8))
    elif fault == "byte":
        changed[place] = case.pick(*INTERESTING, int(case.rng.integers(256)))
    elif fault == "fill":
        changed[place : place + length] = bytes([case.pick(*INTERESTING)]) * len(part)
    elif fault == "cut":
        del changed[place : place + length]
    elif fault == "end":
        del changed[place:]
    elif fault == "copy":
        changed[place:place] = part * int(case.rng.integers(1, 4))
    elif fault == "insert":
        changed[place:place] = case.rng.bytes(length)
    elif fault == "swap":
        other = int(case.rng.integers(len(changed)))
        changed[place], changed[other] = changed[other], changed[place]
    else:
        width = case.pick(2, 4, 8)
        value = case.pick(2 ** (8 * width - 1) - 1, 2 ** (8 * width) - 1, 0, 2 ** (4 * width))
        changed[place : place + width] = value.to_bytes(width, "little")


def other_value(case: Case, value: Any) -> Any:
    """Return another JSON value, often of the same type."""
    if isinstance(value, bool) or value is None or case.happens(0.3):
        return case.pick(*NUMBERS, *OTHERS)
    if isinstance(value, int):
        return case.pick(value + 1, value - 1, -value, 2 * value, *NUMBERS)
    if isinstance(value, float):
        return case.pick(value * 1.5, -value, value * 1e-30, value * 1e30, *NUMBERS)
    if isinstance(value, str):
        return case.pick(value + "x", value[:-1], value.upper(), *OTHERS)
    if isinstance(value, list):
        return case.pick(value[:-1], value + value, value[::-1], *OTHERS)
    return case.pick(*NUMBERS, *OTHERS)


def change_json(case: Case, tree: Any) -> Any:
    """Change, remove or add a value somewhere in a tree of lists and dicts, in place."""
    while True:
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        key = keys[int(case.rng.integers(len(keys)))]
        below = tree[key]
        if isinstance(below, dict | list) and below and not case.happens(0.15):
            tree = below
            continue
        if case.happens(0.1):
            case.note(f"without {key}")
            del tree[key]
            return
        tree[key] = other_value(case, below)
        case.note(f"{key}: {below!r} -> {tree[key]!r}")
        return


def other_array(case: Case, array: np.ndarray) -> np.ndarray:
    """Return an array with other values, or of another type or shape."""
    fault = case.pick(
        "value", "value", "value", "values", "type", "short", "long", "shape", "order"
    )
    case.note(f"array of {array.dtype} {array.shape}: {fault}")
    array = array.copy()
    if fault in ("value", "values") and array.size and array.dtype.kind in "iuf":
        places = int(case.rng.integers(array.size)) if fault == "value" else slice(None, None, 3)
        limits = np.finfo(array.dtype) if array.dtype.kind == "f" else np.iinfo(array.dtype)
        values = [0, 1, 2, array.flat[0], array.flat[-1], limits.max, limits.min, limits.max // 2]
        values += [np.nan, np.inf, 1e-30] if array.dtype.kind == "f" else [array.size]
        with np.errstate(all="ignore"):
            array.flat[places] = np.asarray(case.pick(*values)).astype(array.dtype)
    elif fault == "type":
        with np.errstate(all="ignore"):
            numeric = () if array.dtype.kind in "US" else ("f2", "f4", "f8", "i1", "u8", "i4", "i8")
            array = array.astype(case.pick("U3", *numeric))
    elif fault == "short":
        array = array[: case.pick(0, 1, len(array) // 2, len(array) - 1)] if array.ndim else array
    elif fault == "long":
        array = np.concatenate([array, array]) if array.ndim else array
    elif fault == "shape":
        array = case.pick(array.reshape(-1), array[None], array.T)
    elif fault == "order":
        array = array[::-1] if array.ndim else array
    return array
