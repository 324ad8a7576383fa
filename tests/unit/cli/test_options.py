"""One name, one meaning, from option to keyword."""

import inspect
from dataclasses import fields
from typing import get_args

import numpy as np
import pytest

from isosne import JSE, KL, TSNE, Landmarks, Mesh, NeRV, Schedule, Sparse, Tree
from isosne._checks import METRICS
from isosne.cli.alignment import AlignmentOptions
from isosne.cli.commands.sweep import GridOptions
from isosne.cli.map_options import EmbeddingOptions, KernelOptions, LandmarkOptions, Metric
from isosne.cli.models import NEEDS, make_kernel, make_template
from isosne.cli.models import make_model as model_of
from isosne.cli.options import ResourceOptions, TableOptions
from isosne.cli.tables import TREATMENTS
from isosne.files import read_table
from isosne.kernels.registry import KERNELS
from isosne.layout.objectives import NAMES
from isosne.layout.schedules import as_schedule
from isosne.layout.start import STARTS
from isosne.sources.scaled import KINDS


def defaults(function):
    parameters = inspect.signature(function).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


def of_options(*groups):
    return {field.name: field.default for group in groups for field in fields(group)}


def choices(group, name):
    """The values that an option takes."""
    (field,) = (field for field in fields(group) if field.name == name)
    kind = get_args(field.type)[0]
    literal = next((part for part in get_args(kind) if get_args(part)), kind)
    return set(get_args(literal))


def test_options_of_a_map_are_the_keywords_of_the_estimator():
    keywords = defaults(TSNE.__init__)
    for not_an_option in ("self", "kernel", "verbose", "callback"):
        del keywords[not_an_option]
    options = of_options(EmbeddingOptions, AlignmentOptions, LandmarkOptions, ResourceOptions)
    assert options.pop("random_state") == 0  # the same line gives the same map
    assert keywords.pop("random_state") is None
    of_objects = ("dof", "n_iter", "landmark_choice", "neighbors", "mesh_accuracy", "theta")
    of_objects += ("strength",)
    for name in of_objects:
        assert options.pop(name) == (1.0 if name == "dof" else None)
    assert options == keywords


@pytest.mark.parametrize("options", [TableOptions, KernelOptions, GridOptions])
def test_what_is_not_given_is_left_to_the_library(options):
    assert set(of_options(options).values()) <= {None, "owner"}


def test_choices_of_the_command_line_are_those_of_the_library():
    assert choices(EmbeddingOptions, "objective") == set(NAMES)
    for name in choices(EmbeddingOptions, "schedule"):
        as_schedule(name)
    assert choices(EmbeddingOptions, "start") == {"auto", *STARTS}
    assert choices(TableOptions, "scale") == set(KINDS)
    assert choices(KernelOptions, "kernel") == set(KERNELS) - {"precomputed"}
    assert set(get_args(Metric)) == set(METRICS)


@pytest.mark.parametrize("name", ["affinities", "forces"])
def test_every_choice_of_a_method_can_be_planned(name):
    for value in choices(EmbeddingOptions, name):
        assert TSNE("isolation", **{name: value}).plan(np.eye(30)).n_points == 30


def test_options_of_kernels_are_their_keywords():
    keywords = {name for entry in KERNELS.values() for name in entry.options}
    assert set(of_options(KernelOptions)) == keywords | {"kernel"}


def test_options_of_a_table_are_the_keywords_of_its_reader():
    keywords = set(defaults(read_table)) - {"source", "memory_limit", "needs_numbers"}
    assert set(of_options(TableOptions)) - set(TREATMENTS) == keywords


@pytest.mark.parametrize("name", ["owner", "isolation", "gaussian"])
def test_a_name_alone_leaves_the_rest_to_the_kernel(name):
    assert make_kernel(KernelOptions(kernel=name)) == name


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (KernelOptions("isolation", psi="16"), {"psi": 16}),
        (KernelOptions("isolation", psi="8,0.1"), {"psi": [8, 0.1]}),
        (
            KernelOptions("isolation", psi="auto", n_partitions="exact"),
            {"psi": "auto", "n_partitions": "exact"},
        ),
        (KernelOptions(cell_size="16"), {"cell_size": 16}),
        (KernelOptions(cell_size="8,0.1"), {"cell_size": [8, 0.1]}),
        (
            KernelOptions(cell_size="auto", n_partitions="exact"),
            {"cell_size": "auto", "n_partitions": "exact"},
        ),
        (KernelOptions(n_partitions="99", partition="forest"), {"n_partitions": 99}),
        (KernelOptions(kernel="gaussian", perplexity="12.5"), {"perplexity": 12.5}),
        (KernelOptions(kernel="knn", k="9", metric="minkowski", p=3.0), {"k": 9, "p": 3.0}),
    ],
)
def test_text_becomes_what_the_kernel_takes(options, expected):
    found = make_kernel(options).get_params()
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("given", "parameter", "expected"),
    [
        ({"n_iter": 300}, "schedule", Schedule.annealed(n_iter=300)),
        (
            {"n_iter": 300, "schedule": "standard"},
            "schedule",
            Schedule.standard(n_iter=300),
        ),
        ({}, "schedule", "annealed"),
        ({"dof": 2.0}, "objective", KL(dof=2.0)),
        ({"objective": "nerv", "dof": 2.0}, "objective", NeRV(dof=2.0)),
        ({"objective": "jse"}, "objective", JSE()),
        ({"affinities": "sparse"}, "affinities", Sparse()),
        ({"affinities": "sparse", "neighbors": "exact"}, "affinities", Sparse("exact")),
        ({"affinities": "dense", "neighbors": "auto"}, "affinities", "dense"),
        ({"forces": "mesh"}, "forces", "mesh"),
        ({"forces": "mesh", "mesh_accuracy": 0.02}, "forces", Mesh(0.02)),
        ({"forces": "tree", "theta": 0.4}, "forces", Tree(0.4)),
    ],
)
def test_options_become_the_objects_of_the_estimator(given, parameter, expected):
    model = make_template(EmbeddingOptions(**given), ResourceOptions())
    assert getattr(model, parameter) == expected


def test_landmarks_resources_and_the_kernel_reach_the_estimator():
    landmarks = LandmarkOptions(landmarks=50, landmark_choice="spread")
    resources = ResourceOptions(n_jobs=1, memory_limit="1GB")
    model = model_of(KernelOptions("knn"), EmbeddingOptions(), resources, landmarks)
    assert model.landmarks == Landmarks(50, "spread")
    assert (model.kernel, model.n_jobs, model.memory_limit) == ("knn", 1, "1GB")


def test_options_that_need_others_are_options():
    assert set(NEEDS) <= set(of_options(EmbeddingOptions))
