"""One name, one meaning, from option to keyword."""

import inspect
from dataclasses import fields
from typing import get_args

import numpy as np
import pytest

from isosne import TSNE
from isosne._checks import METRICS
from isosne.cli.commands.sweep import GridOptions
from isosne.cli.models import NEEDS, PARAMETERS, make_kernel, make_template
from isosne.cli.models import make_model as model_of
from isosne.cli.options import (
    EmbeddingOptions,
    KernelOptions,
    LandmarkOptions,
    Metric,
    ResourceOptions,
    TableOptions,
)
from isosne.files import read_table
from isosne.layout.objectives import as_objective
from isosne.layout.schedules import as_schedule, standard
from isosne.layout.start import STARTS
from isosne.sources.scaled import KINDS
from isosne.studies.parameter_sweep import make_kernel as kernel_of_name


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
    keywords = defaults(TSNE)
    for not_an_option in ("kernel", "verbose", "callback"):
        del keywords[not_an_option]
    options = of_options(EmbeddingOptions, LandmarkOptions, ResourceOptions)
    assert options.pop("random_state") == 0  # the same line gives the same map
    assert keywords.pop("random_state") is None
    assert options.pop("n_iter") is None  # a part of the schedule
    for needs_another in ("landmark_choice", "neighbors", "mesh_accuracy", "theta"):
        keywords.pop(needs_another)
        assert options.pop(needs_another) is None  # to see whether it is given
    assert options == keywords


@pytest.mark.parametrize("options", [TableOptions, KernelOptions, GridOptions])
def test_what_is_not_given_is_left_to_the_library(options):
    assert set(of_options(options).values()) <= {None, "isolation"}


def test_choices_of_the_command_line_are_those_of_the_library():
    for name in choices(EmbeddingOptions, "objective"):
        as_objective(name)
    for name in choices(EmbeddingOptions, "schedule"):
        as_schedule(name)
    assert choices(EmbeddingOptions, "start") == {"auto", *STARTS}
    assert choices(TableOptions, "scale") == set(KINDS)
    assert choices(KernelOptions, "kernel") == set(PARAMETERS)
    assert set(get_args(Metric)) == set(METRICS)


@pytest.mark.parametrize("name", ["affinities", "forces"])
def test_every_choice_of_a_method_can_be_planned(name):
    for value in choices(EmbeddingOptions, name):
        assert TSNE(**{name: value}).plan(np.eye(30)).n_points == 30


@pytest.mark.parametrize("kernel", PARAMETERS)
def test_options_of_a_kernel_are_its_keywords(kernel):
    keywords = set(kernel_of_name(kernel, {}).get_params()) - {"random_state"}
    assert set(PARAMETERS[kernel]) == keywords
    assert keywords <= set(of_options(KernelOptions))


def test_options_of_a_table_are_the_keywords_of_its_reader():
    keywords = set(defaults(read_table)) - {"source", "memory_limit"}
    assert set(of_options(TableOptions)) - {"scale"} == keywords


@pytest.mark.parametrize("name", ["isolation", "gaussian"])
def test_a_name_alone_leaves_the_rest_to_the_kernel(name):
    assert make_kernel(KernelOptions(kernel=name)) == name


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (KernelOptions(psi="16"), {"psi": 16}),
        (KernelOptions(psi="8,0.1"), {"psi": [8, 0.1]}),
        (KernelOptions(psi="auto", n_partitions="exact"), {"psi": "auto", "n_partitions": "exact"}),
        (KernelOptions(n_partitions="99", partition="forest"), {"n_partitions": 99}),
        (KernelOptions(kernel="gaussian", perplexity="12.5"), {"perplexity": 12.5}),
        (KernelOptions(kernel="knn", k="9", metric="minkowski", p=3.0), {"k": 9, "p": 3.0}),
    ],
)
def test_text_becomes_what_the_kernel_takes(options, expected):
    found = make_kernel(options).get_params()
    assert {name: found[name] for name in expected} == expected


def test_the_number_of_steps_makes_a_standard_schedule():
    model = make_template(EmbeddingOptions(n_iter=300), ResourceOptions())
    assert model.schedule == standard(n_iter=300)


def test_options_of_one_method_reach_the_estimator():
    embedding = EmbeddingOptions(
        affinities="sparse", neighbors="exact", forces="mesh", mesh_accuracy=0.02
    )
    landmarks = LandmarkOptions(landmarks=50, landmark_choice="spread")
    model = model_of(KernelOptions(), embedding, ResourceOptions(n_jobs=1), landmarks)
    assert (model.neighbors, model.mesh_accuracy) == ("exact", 0.02)
    assert (model.landmarks, model.landmark_choice, model.n_jobs) == (50, "spread", 1)
    embedding = EmbeddingOptions(forces="tree", theta=0.4)
    assert make_template(embedding, ResourceOptions()).theta == 0.4
    assert set(NEEDS) <= set(of_options(EmbeddingOptions))
