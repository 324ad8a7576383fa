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


def fitted_of(header):
    return header["fitted"]["dict"]


def kernel_of(header):
    return header["kernel"]["parts"]


def plan_of(header):
    return header["plan"]["dict"]


def chosen_of(header):
    return plan_of(header)["parameters"]["dict"]


def parameters_of(header):
    return header["parameters"]["dict"]


def schedule_of(header):
    return parameters_of(header)["schedule"]["parts"]


def phase_of(header):
    return schedule_of(header)["phases"][1]["parts"]


def anchors_of(header):
    return fitted_of(header)["alignment_"]["parts"]


def table_of(header):
    return header["table"]["dict"]


def columns_of(header):
    return [column["parts"] for column in table_of(header)["columns"]]


def leave_out_samples(header):
    """They may be any number: if they were drawn anew, a file of some kB would take gigabytes."""
    kernel_of(header).update(n_partitions=10**6, psi=[59, 58, 57, 56])
    del header["state"]["dict"]["partitions"]


HEADERS = {
    "gaussian": {
        "another number of points": lambda h: plan_of(h).update(n_points=N + 1),
        "another map": lambda h: plan_of(h).update(n_components=3),
        "unknown affinities": lambda h: plan_of(h).update(affinities="all"),
        "draws without cells": lambda h: plan_of(h).update(affinities="sampled"),
        "a list longer than the points": lambda h: plan_of(h).update(n_neighbors=10**9),
        "fewer rows than points": lambda h: plan_of(h).update(n_rows=9),
        "forces that are text": lambda h: chosen_of(h).update(forces="mesh"),
        "an objective that is text": lambda h: chosen_of(h).update(objective="kl"),
        "a schedule that is text": lambda h: chosen_of(h).update(schedule="annealed"),
        "steps below zero": lambda h: fitted_of(h).update(n_iter_=-1),
        "steps beyond all numbers": lambda h: fitted_of(h).update(n_iter_=10**30),
        "another width": lambda h: fitted_of(h).update(n_features_in_=5),
        "a seed that is text": lambda h: h.update(seed="x"),
        "a kernel that is none": lambda h: h.update(kernel={"kind": "Mesh", "parts": {}}),
        "an unknown kernel": lambda h: h["kernel"].update(kind="BetterKernel"),
        "an unknown part of a kernel": lambda h: kernel_of(h).update(tilt=3),
        "a perplexity of a million": lambda h: kernel_of(h).update(perplexity=1e6),
        "a power that is text": lambda h: kernel_of(h).update(p="x"),
        "no state": lambda h: h.pop("state"),
        "parameters that are a list": lambda h: h.update(parameters=[]),
        "an unknown parameter": lambda h: parameters_of(h).update(speed=3),
        "no objective": lambda h: parameters_of(h).update(objective="none"),
        "no schedule": lambda h: parameters_of(h).update(schedule=3),
        "no phases": lambda h: schedule_of(h).update(phases=[]),
        "a phase that is none": lambda h: schedule_of(h).update(phases=[3]),
        "a step that is text": lambda h: phase_of(h).update(step="x"),
        "an exaggeration of zero": lambda h: phase_of(h).update(exaggeration=0),
        "a huge exaggeration": lambda h: parameters_of(h).update(exaggeration=1e308),
    },
    "voronoi": {"no samples": leave_out_samples},
    "aligned": {
        "a strength below zero": lambda h: anchors_of(h).update(strength=-1),
        "a strength that is text": lambda h: anchors_of(h).update(strength="x"),
        "a scale that is no number": lambda h: anchors_of(h).update(scale=float("nan")),
        "no scale": lambda h: anchors_of(h).update(scale=None),
        "an unknown part": lambda h: anchors_of(h).update(other=1),
    },
    "table": {
        "an unknown kind": lambda h: columns_of(h)[0].update(kind="money"),
        "categories that are no text": lambda h: columns_of(h)[2].update(categories=[1, 2]),
        "identifiers alone": lambda h: [c.update(kind="identifier") for c in columns_of(h)],
        "another number of columns": lambda h: table_of(h)["columns"].append(
            table_of(h)["columns"][0]
        ),
        "no trees": lambda h: table_of(h).update(trees=[]),
        "fewer trees": lambda h: table_of(h)["trees"].pop(),
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
    ids=str,
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
    "a phase below zero": lambda header: header["progress"]["dict"].update(phase=-1),
    "steps that are text": lambda header: header["progress"]["dict"].update(done="x"),
    "values that are text": lambda header: header["progress"]["dict"].update(values=["x"]),
    "a norm that is text": lambda header: header.update(gradient_norm="x"),
    "unknown affinities": lambda header: header.update(affinities="all"),
    "a seed below zero": lambda header: header.update(seed=-1),
    "no order": lambda header: header["forces"]["dict"].pop("order"),
    "an identity that is a list": lambda header: header.update(identity=[]),
}


@pytest.mark.parametrize("change", STATES.values(), ids=STATES)
def test_the_header_of_a_checkpoint_is_checked(run, checkpoint, change, tmp_path):
    path = tmp_path / "run.isosne"
    path.write_bytes(checkpoint.read_bytes())
    rewrite(path, change_header=change)
    with refused_file(path, "checkpoint"):
        run.fit(MANY, checkpoint=path)
