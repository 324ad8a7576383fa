"""Areas "model" and "checkpoint": damaged and crafted files are loaded and used."""

import io
import json
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.lib import format as npy
from scipy.sparse import csr_array

from isosne import (
    KL,
    TSNE,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    Mesh,
    OwnerKernel,
    Phase,
    Schedule,
    Sparse,
)
from isosne.rows import open_rows
from isosne.rows.scaled import Scale, ScaledRows

INTERESTING = (0, 1, 0x7F, 0x80, 0xFF)
NUMBERS = (0, 1, -1, 2, 3, 0.5, 1e9, 1e308, 2**31, 2**63, 10**30, float("nan"), float("inf"))
OTHERS = (None, True, False, "", "x", "sparse", [], {}, [1], [[]], {"kind": "KL", "parts": {}})
POINTS = np.random.default_rng(0).normal(size=(24, 3))
SCALED = ScaledRows(open_rows(POINTS), Scale(np.zeros(3), np.ones(3)))
DISTANCES = np.sqrt(((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2))
SPARSE_POINTS = csr_array(np.maximum(POINTS, 0))
SHORT = Schedule((Phase(3, exaggeration=4, step=1.0), Phase(3, step=1.0)))
FOREST = IsolationKernel((4, 8), n_partitions=6, partition="forest")
DRAWN = IsolationKernel(4, n_partitions=6)
LISTED = {"affinities": Sparse("exact"), "forces": Mesh(0.05)}
MODELS = {
    "forest": (FOREST, POINTS, {}),
    "scaled": (IsolationKernel((4, 8), n_partitions=6), SCALED, {"start": POINTS[:, :2]}),
    "landmarks": (DRAWN, POINTS, {"landmarks": 12}),
    "csr": (FOREST, SPARSE_POINTS, {"align_to": POINTS[:, :2]}),
    "sampled": (DRAWN, POINTS, {"affinities": "sampled", "forces": "tree"}),
    "exact": (IsolationKernel(5, n_partitions="exact"), POINTS, {"affinities": "sparse"}),
    "gaussian": (GaussianKernel((3, 7)), POINTS, LISTED),
    "mahalanobis": (GaussianKernel(5, metric="mahalanobis"), POINTS, {"n_components": 1}),
    "knn": (KNNKernel(4, metric="cosine"), POINTS, {"n_components": 3, "objective": KL(dof=2.0)}),
    "owner": (OwnerKernel((2, 0.2)), POINTS, {"schedule": "annealed"}),
    "distances": (IsolationKernel(5, metric="precomputed"), DISTANCES, {}),
    "affinities": ("precomputed", np.exp(-DISTANCES), {}),
}


def make_model(name, **more):
    """Return an unfitted model of a few steps."""
    kernel, _, settings = MODELS[name]
    return TSNE(kernel, random_state=0, **({"schedule": SHORT} | settings | more))


@cache
def original(name, kind):
    """Return the content of a valid model file, or of a checkpoint after four steps."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        if kind == "model":
            make_model(name).fit(MODELS[name][1]).save(path)
        else:
            model = make_model(name, callback=lambda state: state.iteration >= 4)
            model.fit(MODELS[name][1], checkpoint=path, every=2)
        return path.read_bytes()


def run_model(case):
    """Change a model file, load it, and use what was loaded."""
    name = case.pick(*MODELS)
    case.note(f"model: {name}")
    path, content = case.path("model.isosne"), change_archive(case, original(name, "model"))
    path.write_bytes(content)
    try:
        model = TSNE.load(path)
    finally:
        case.promise(path.read_bytes() == content, "the file was changed")
    new = {"distances": DISTANCES, "affinities": DISTANCES, "csr": SPARSE_POINTS}.get(name, POINTS)
    shape = model.embedding_.shape
    case.promise_finite(model.transform(new[:4]), (4, shape[1]), "transform")
    model.continue_fit(2)
    case.promise_finite(model.embedding_, shape, "continue_fit")
    str(model.plan_)
    model.save(path)
    TSNE.load(path)


def run_checkpoint(case):
    """Change a checkpoint, and resume the run from it."""
    name = case.pick(*MODELS)
    case.note(f"run: {name}")
    path, content = case.path("run.isosne"), change_archive(case, original(name, "checkpoint"))
    path.write_bytes(content)
    model = make_model(name)
    try:
        model.fit(MODELS[name][1], checkpoint=path, every=2)
    except Exception:
        is_same = hasattr(model, "embedding_") or path.read_bytes() == content
        case.promise(is_same, "the file was changed by a refused run")
        raise
    n_points = 12 if name == "landmarks" else 24
    case.promise_finite(model.embedding_, (n_points, model.n_components), "embedding_")


def change_archive(case, content, ways=("bytes", "member", "header", "header", "array", "array")):
    """Return an archive with damaged bytes, or a whole one with other values."""
    way = case.pick(*ways)
    case.note(f"change: {way}")
    if way == "bytes":
        return damage(case, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(case.pick(1, 1, 1, 2, 3)):
        name = case.pick(*members) if way == "member" else "header.json"
        if way == "array":
            name = case.pick(*(name for name in members if name.endswith(".npy")))
        case.note(name)
        members[name] = CHANGES[way](case, members[name])
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:  # with checksums that fit
        for name, member in members.items():
            archive.writestr(name, member)
    return changed.getvalue()


def damage(case, content):
    """Return content with one to four faults."""
    changed = bytearray(content)
    for _ in range(case.pick(1, 1, 1, 2, 4)):
        if not changed:
            break
        place, length = int(case.rng.integers(len(changed))), int(case.rng.integers(1, 17))
        part = changed[place : place + length]
        fault, insert = case.pick(*FAULTS.items())
        case.note(f"{fault} at {place}, {length} bytes")
        stop = len(changed) if fault == "end" else place + length * (fault != "copy")
        changed[place:stop] = insert(case, part)
    return bytes(changed)


FAULTS = {
    "bit": lambda case, part: bytes([part[0] ^ 1 << int(case.rng.integers(8))]) + part[1:],
    "fill": lambda case, part: bytes([case.pick(*INTERESTING)]) * len(part),
    "cut": lambda case, part: b"",
    "end": lambda case, part: b"",
    "copy": lambda case, part: part * case.pick(1, 2, 3),
    "random": lambda case, part: case.rng.bytes(len(part)),
    "number": lambda case, part: case.pick(2**31 - 1, 2**32 - 1, 2**16).to_bytes(4, "little"),
}
"""What replaces a part of the bytes."""


def change_json(case, member):
    """Return JSON in which a value is changed or removed."""
    tree = header = json.loads(member)
    while True:
        key = case.pick(*(tree if isinstance(tree, dict) else range(len(tree))))
        below = tree[key]
        if isinstance(below, dict | list) and below and not case.happens(0.15):
            tree = below
            continue
        value = other_value(case, below)
        case.note(f"{key}: {below!r} -> {value!r}, or removed")
        if case.happens(0.1):
            del tree[key]
        else:
            tree[key] = value
        return json.dumps(header).encode()


def other_value(case, value):
    """Return another JSON value, often of the same type."""
    likes = ()
    if isinstance(value, int | float) and not case.happens(0.3):
        return case.pick(value + 1, value - 1, -value, value * 1.5, value * 1e-30, *NUMBERS)
    if isinstance(value, str):
        likes = (value + "x", value[:-1], value.upper())
    if isinstance(value, list):
        likes = (value[:-1], value + value, value[::-1])
    return case.pick(*likes, *NUMBERS, *OTHERS)


def change_array(case, member):
    """Return an array with other values, or of another type or shape."""
    array = npy.read_array(io.BytesIO(member))
    change = case.pick(other_values, other_values, other_type, other_shape)
    case.note(f"array of {array.dtype} {array.shape}: {change.__name__}")
    content = io.BytesIO()
    with np.errstate(all="ignore"):
        npy.write_array(content, np.asarray(change(case, array)))
    return content.getvalue()


def other_values(case, array):
    if array.size == 0 or array.dtype.kind not in "iuf":
        return array
    places = case.pick(slice(None, None, 3), int(case.rng.integers(array.size)))
    is_float = array.dtype.kind == "f"
    limits = np.finfo(array.dtype) if is_float else np.iinfo(array.dtype)
    values = [0, 1, 2, array.flat[-1], limits.max, limits.min, limits.max // 2, array.size]
    values += [np.nan, np.inf, 1e-30] if is_float else []
    array.flat[places] = np.asarray(case.pick(*values)).astype(array.dtype)
    return array


def other_type(case, array):
    numeric = () if array.dtype.kind in "US" else ("f2", "f4", "f8", "i1", "u8", "i4", "i8")
    return array.astype(case.pick("U3", *numeric))


def other_shape(case, array):
    if array.ndim == 0:
        return array[None]
    n = case.pick(0, 1, len(array) // 2, len(array) - 1)
    return case.pick(
        array[:n], np.concatenate([array, array]), array.ravel(), array[None], array.T, array[::-1]
    )


CHANGES = {"member": damage, "header": change_json, "array": change_array}
