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


def fitted_of(header):
    return header["fitted"]["dict"]


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


@pytest.fixture(scope="module", params=MODELS)
def model_file(request, tmp_path_factory):
    settings, points = MODELS[request.param]
    path = tmp_path_factory.mktemp("model") / "model.isosne"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isosne.tsne.input, "POOL", 50)
        make(**settings).fit(points).save(path)
    return path


@pytest.mark.parametrize("change", CHANGES)
def test_every_array_of_a_model_is_checked(model_file, change, tmp_path):
    path = tmp_path / "model.isosne"
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


def test_samples_that_are_missing_are_not_drawn_anew(tmp_path):
    """They may be any number: a file of some kB would take gigabytes."""
    path = tmp_path / "model.isosne"
    make(IsolationKernel(8, n_partitions=20)).fit(POINTS).save(path)

    def leave_out(header):
        header["kernel"]["parts"].update(n_partitions=10**6, psi=[59, 58, 57, 56])
        del header["state"]["dict"]["partitions"]

    rewrite(path, change_header=leave_out)
    with refused_file(path, "model"):
        TSNE.load(path)


@pytest.mark.parametrize(
    "change",
    [{"strength": -1}, {"strength": "x"}, {"scale": float("nan")}, {"scale": None}, {"other": 1}],
    ids=str,
)
def test_the_alignment_of_a_model_is_checked(change, tmp_path):
    path = tmp_path / "model.isosne"
    make(align_to=POINTS[:, :2]).fit(POINTS).save(path)
    rewrite(
        path, change_header=lambda header: fitted_of(header)["alignment_"]["parts"].update(change)
    )
    with refused_file(path, "model"):
        TSNE.load(path)


def test_rows_of_an_alignment_must_ascend(tmp_path):
    path = tmp_path / "model.isosne"
    make(align_to=POINTS[:, :2]).fit(POINTS).save(path)
    rewrite(path, lambda name, array: array[::-1] if name.endswith("alignment_.rows") else array)
    with refused_file(path, "model"):
        TSNE.load(path)


def test_a_tree_without_an_end_is_refused(tmp_path):
    path = tmp_path / "model.isosne"
    make(kernel=FOREST).fit(POINTS).save(path)
    rewrite(path, lambda name, array: array * 0 if "children" in name else array)
    with refused_file(path, "model"):
        TSNE.load(path)


def table_of(header):
    return header["table"]["dict"]


def columns_of(header):
    return [column["parts"] for column in table_of(header)["columns"]]


def same(name, array):
    return array


TABLES = {
    "a tree without an end": (lambda name, a: a * 0 if "children" in name else a, lambda h: None),
    "an unknown kind": (same, lambda header: columns_of(header)[0].update(kind="money")),
    "categories that are no text": (
        same,
        lambda header: columns_of(header)[2].update(categories=[1, 2]),
    ),
    "identifiers alone": (
        same,
        lambda header: [column.update(kind="identifier") for column in columns_of(header)],
    ),
    "another number of columns": (
        same,
        lambda header: table_of(header)["columns"].append(table_of(header)["columns"][0]),
    ),
    "no trees": (same, lambda header: table_of(header).update(trees=[])),
    "fewer trees": (same, lambda header: table_of(header)["trees"].pop()),
}


@pytest.mark.parametrize(("change", "change_header"), TABLES.values(), ids=TABLES)
def test_tables_that_contradict_themselves_are_refused(change, change_header, tmp_path):
    path = tmp_path / "model.isosne"
    make(kernel=OwnerKernel(3)).fit(as_pandas(mixed_columns())).save(path)
    rewrite(path, change, change_header)
    with refused_file(path, "model"):
        TSNE.load(path)


def plan_of(header):
    return header["plan"]["dict"]


def parameters_of(header):
    return header["parameters"]["dict"]


def schedule_of(header):
    return parameters_of(header)["schedule"]["parts"]


def phase_of(header):
    return schedule_of(header)["phases"][1]["parts"]


HEADERS = {
    "another number of points": lambda header: plan_of(header).update(n_points=N + 1),
    "another map": lambda header: plan_of(header).update(n_components=3),
    "unknown affinities": lambda header: plan_of(header).update(affinities="all"),
    "draws without cells": lambda header: plan_of(header).update(affinities="sampled"),
    "a list longer than the points": lambda header: plan_of(header).update(n_neighbors=10**9),
    "steps below zero": lambda header: fitted_of(header).update(n_iter_=-1),
    "steps beyond all numbers": lambda header: fitted_of(header).update(n_iter_=10**30),
    "another width": lambda header: fitted_of(header).update(n_features_in_=5),
    "a seed that is text": lambda header: header.update(seed="x"),
    "a kernel that is none": lambda header: header.update(kernel={"kind": "Mesh", "parts": {}}),
    "a perplexity of a million": lambda header: header["kernel"]["parts"].update(perplexity=1e6),
    "an unknown parameter": lambda header: parameters_of(header).update(speed=3),
    "an unknown kernel": lambda header: header["kernel"].update(kind="BetterKernel"),
    "an unknown part of a kernel": lambda header: header["kernel"]["parts"].update(tilt=3),
    "no state": lambda header: header.pop("state"),
    "no objective": lambda header: parameters_of(header).update(objective="none"),
    "no schedule": lambda header: parameters_of(header).update(schedule=3),
    "no phases": lambda header: schedule_of(header).update(phases=[]),
    "a phase that is none": lambda header: schedule_of(header).update(phases=[3]),
    "a step that is text": lambda header: phase_of(header).update(step="x"),
    "an exaggeration of zero": lambda header: phase_of(header).update(exaggeration=0),
    "a huge exaggeration": lambda header: parameters_of(header).update(exaggeration=1e308),
    "a power that is text": lambda header: header["kernel"]["parts"].update(p="x"),
    "forces that are text": lambda header: plan_of(header)["parameters"]["dict"].update(forces="x"),
    "fewer rows than points": lambda header: plan_of(header).update(n_rows=9),
    "parameters that are a list": lambda header: header.update(parameters=[]),
}


@pytest.mark.parametrize("change", HEADERS.values(), ids=HEADERS)
def test_the_header_of_a_model_is_checked(change, tmp_path):
    path = tmp_path / "model.isosne"
    make(kernel=GaussianKernel(9)).fit(POINTS).save(path)
    rewrite(path, change_header=change)
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
