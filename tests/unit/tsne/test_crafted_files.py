"""Models and checkpoints whose checksums are right and whose values are not: refused, by name."""

import io
import json
import re
import zipfile

import numpy as np
import pytest
from numpy.lib import format as npy
from scipy.sparse import csr_array

import isosne.tsne.input
from isosne import (
    TSNE,
    Alignment,
    GaussianKernel,
    IsolationKernel,
    Mesh,
    OwnerKernel,
    Phase,
    Schedule,
    Sparse,
)
from isosne._archive import read_archive
from isosne.errors import DataError
from isosne.rows import open_rows
from isosne.rows.scaled import Scale, ScaledRows
from tests.unit.tables.tables import as_pandas, mixed_columns
from tests.unit.tsne.conftest import make

N = 60
POINTS = np.random.default_rng(0).normal(size=(N, 4))
MANY = np.random.default_rng(0).normal(size=(120, 4))
SCALED = ScaledRows(open_rows(POINTS), Scale(np.zeros(4), np.ones(4)))
IDS = np.arange(N)
FOREST = IsolationKernel((4, 8), n_partitions=6, partition="forest")
MODELS = {
    "forest": ({"kernel": FOREST}, POINTS),
    "voronoi": ({"kernel": IsolationKernel((4, 8), n_partitions=6)}, SCALED),
    "landmarks": ({"kernel": IsolationKernel(4, n_partitions=6), "landmarks": 30}, POINTS),
    "sparse": ({"kernel": FOREST}, csr_array(np.maximum(POINTS, 0))),
    "gaussian": ({"kernel": GaussianKernel(9)}, POINTS),
    "owner": ({"kernel": OwnerKernel((3, 0.5))}, POINTS),
    "table": ({"kernel": OwnerKernel(3)}, as_pandas(mixed_columns()).set_axis(range(6), axis=1)),
    "aligned": ({"align_to": Alignment(POINTS[:, :2], ids=IDS, previous_ids=IDS)}, POINTS),
}


def rewrite(path, change_array=lambda name, array: array, change_header=lambda header: None):
    """Write a file again with other values, and with checksums that fit them."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"])
    change_header(header)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        for name in dict.fromkeys(header["arrays"]):
            array = npy.read_array(io.BytesIO(members[f"{name}.npy"]))
            content = io.BytesIO()
            npy.write_array(content, np.asarray(change_array(name, array)))
            archive.writestr(f"{name}.npy", content.getvalue())


def refused_file(path, kind):
    words = (
        rf"\ACannot read the {kind} {re.escape(str(path))}: the file is damaged or not written by "
        r"isosne \([^\n]+\)\. Choose another file; this one was not modified\.\Z"
    )
    return pytest.raises(DataError, match=words)


def raise_values(array):
    array = array.copy()
    large = min(2**28, np.iinfo(array.dtype).max) if array.dtype.kind in "iu" else np.inf
    array.flat[::3] = large
    return array


def lower_values(array):
    array = array.copy()
    array.flat[::3] = np.iinfo(array.dtype).min if array.dtype.kind in "iu" else np.nan
    return array


def as_float16(array):
    with np.errstate(over="ignore"):
        return array.astype(np.float16)


CHANGES = {
    "high": raise_values,
    "low": lower_values,
    "short": lambda array: array[: len(array) // 2],
    "flat": lambda array: array.reshape(-1)[:, None, None],
    "float16": as_float16,
}
VALUES = ("high", "low")
HARMLESS = {
    *(("short", "trace_"), ("short", "isolated_")),  # nothing else tells their lengths
    ("high", "seeds"),  # any number of 32 bits
    *(("float16", "points"), ("float16", "pool"), ("float16", "data")),  # any real numbers
}


@pytest.fixture(scope="module")
def saved_model(tmp_path_factory):
    """Files of each model, each made when it is first asked for."""
    folder = tmp_path_factory.mktemp("models")

    def get(name):
        path = folder / f"{name}.isosne"
        if not path.exists():
            settings, points = MODELS[name]
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(isosne.tsne.input, "POOL", 50)
                make(**settings).fit(points).save(path)
        return path

    return get


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("change", CHANGES)
def test_every_array_of_a_model_is_checked(saved_model, model, change, tmp_path):
    path, model_file = tmp_path / "model.isosne", saved_model(model)
    for name, before in read_archive(model_file, "model").arrays.items():
        path.write_bytes(model_file.read_bytes())

        def change_one(found, array, name=name):
            return CHANGES[change](array) if found == name and array.size else array

        rewrite(path, change_one)
        content = path.read_bytes()
        plain = name.rpartition(".")[2]
        is_parameter = "parameters" in name  # the next fit checks it
        are_codes = plain == "points" and before.dtype.kind == "u"  # any codes can be compared
        is_harmless = (change, plain) in HARMLESS or (are_codes and change in VALUES)
        if is_harmless or is_parameter or before.size == 0:
            TSNE.load(path)
            continue
        with refused_file(path, "model"):
            TSNE.load(path)
        assert path.read_bytes() == content


def put(*path, **values):
    """Return a change of a header: other values in the part that the keys lead to."""

    def change(header):
        part = header
        for key in path:
            part = part[key]
            if isinstance(part, dict):
                part = part.get("dict", part.get("parts", part))
        part.update(values)

    return change


def leave_out_samples(header):
    """They may be any number: if they were drawn anew, a file of some kB would take gigabytes."""
    put("kernel", n_partitions=10**6, psi=[59, 58, 57, 56])(header)
    del header["state"]["dict"]["partitions"]


HEADERS = {
    "gaussian": {
        "another number of points": put("plan", n_points=N + 1),
        "another map": put("plan", n_components=3),
        "unknown affinities": put("plan", affinities="all"),
        "draws without cells": put("plan", affinities="sampled"),
        "a list longer than the points": put("plan", n_neighbors=10**9),
        "fewer rows than points": put("plan", n_rows=9),
        "forces that are text": put("plan", "parameters", forces="mesh"),
        "an objective that is text": put("plan", "parameters", objective="kl"),
        "a schedule that is text": put("plan", "parameters", schedule="annealed"),
        "steps below zero": put("fitted", n_iter_=-1),
        "steps beyond all numbers": put("fitted", n_iter_=10**30),
        "another width": put("fitted", n_features_in_=5),
        "a seed that is text": put(seed="x"),
        "a kernel that is none": put(kernel={"kind": "Mesh", "parts": {}}),
        "an unknown kernel": lambda h: h["kernel"].update(kind="BetterKernel"),
        "an unknown part of a kernel": put("kernel", tilt=3),
        "a perplexity of a million": put("kernel", perplexity=1e6),
        "a power that is text": put("kernel", p="x"),
        "no state": lambda h: h.pop("state"),
        "parameters that are a list": put(parameters=[]),
        "an unknown parameter": put("parameters", speed=3),
        "no objective": put("parameters", objective="none"),
        "no schedule": put("parameters", schedule=3),
        "no phases": put("parameters", "schedule", phases=[]),
        "a phase that is none": put("parameters", "schedule", phases=[3]),
        "a step that is text": put("parameters", "schedule", "phases", 1, step="x"),
        "an exaggeration of zero": put("parameters", "schedule", "phases", 1, exaggeration=0),
        "a huge exaggeration": put("parameters", exaggeration=1e308),
    },
    "voronoi": {"no samples": leave_out_samples},
    "aligned": {
        "a strength below zero": put("fitted", "alignment_", strength=-1),
        "a strength that is text": put("fitted", "alignment_", strength="x"),
        "a scale that is no number": put("fitted", "alignment_", scale=float("nan")),
        "no scale": put("fitted", "alignment_", scale=None),
        "an unknown part": put("fitted", "alignment_", other=1),
    },
    "table": {
        "an unknown kind": put("table", "columns", 0, kind="money"),
        "categories that are no text": put("table", "columns", 2, categories=[1, 2]),
        "identifiers alone": lambda h: [
            put("table", "columns", c, kind="identifier")(h) for c in range(6)
        ],
        "fewer columns": lambda h: h["table"]["dict"]["columns"].pop(),
        "no trees": put("table", trees=[]),
        "fewer trees": lambda h: h["table"]["dict"]["trees"].pop(),
    },
}


@pytest.mark.parametrize("name", HEADERS)
def test_the_header_of_a_model_is_checked(saved_model, name, tmp_path):
    for what, change in HEADERS[name].items():
        path = tmp_path / f"{what}.isosne"
        path.write_bytes(saved_model(name).read_bytes())
        rewrite(path, change_header=change)
        with refused_file(path, "model"):
            TSNE.load(path)


@pytest.mark.parametrize(
    ("name", "part", "change"),
    [
        ("aligned", "alignment_.rows", lambda array: array[::-1]),
        ("forest", "children", lambda array: 0 * array),  # trees without an end
        ("table", "children", lambda array: 0 * array),
    ],
    ids=["aligned", "forest", "table"],
)
def test_indices_that_contradict_themselves_are_refused(saved_model, name, part, change, tmp_path):
    path = tmp_path / "model.isosne"
    path.write_bytes(saved_model(name).read_bytes())
    rewrite(path, lambda found, array: change(array) if found.endswith(part) else array)
    with refused_file(path, "model"):
        TSNE.load(path)


# --- checkpoints


@pytest.fixture(scope="module")
def run():
    """A run whose checkpoint has a mesh, an order of points and a trace."""
    schedule = Schedule((Phase(52),))
    return make(
        kernel=GaussianKernel(9),
        affinities=Sparse("exact"),
        forces=Mesh(0.05),
        schedule=schedule,
    )


@pytest.fixture(scope="module")
def checkpoint(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.isosne"
    run.fit(MANY, checkpoint=path)
    return path


@pytest.mark.parametrize("change", CHANGES)
def test_every_array_of_a_checkpoint_is_checked(run, checkpoint, change, tmp_path):
    path = tmp_path / "run.isosne"
    for name in read_archive(checkpoint, "checkpoint").arrays:
        path.write_bytes(checkpoint.read_bytes())

        def change_one(found, array, name=name):
            return CHANGES[change](array) if found == name else array

        rewrite(path, change_one)
        if (change, name) == ("short", "trace"):
            continue
        with refused_file(path, "checkpoint"):
            run.fit(MANY, checkpoint=path)


STATES = {
    "a phase below zero": put("progress", phase=-1),
    "steps that are text": put("progress", done="x"),
    "values that are text": put("progress", values=["x"]),
    "a norm that is text": put(gradient_norm="x"),
    "unknown affinities": put(affinities="all"),
    "a seed below zero": put(seed=-1),
    "no order": lambda header: header["forces"]["dict"].pop("order"),
    "an identity that is a list": put(identity=[]),
}


@pytest.mark.parametrize("change", STATES.values(), ids=STATES)
def test_the_header_of_a_checkpoint_is_checked(run, checkpoint, change, tmp_path):
    path = tmp_path / "run.isosne"
    path.write_bytes(checkpoint.read_bytes())
    rewrite(path, change_header=change)
    with refused_file(path, "checkpoint"):
        run.fit(MANY, checkpoint=path)
