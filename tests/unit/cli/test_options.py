"""One name, one meaning, from option to keyword."""

import inspect
from dataclasses import fields

import pytest

from isosne import TSNE
from isosne.cli.models import NAMES, PARAMETERS, make_kernel
from isosne.cli.options import (
    KernelOptions,
    LandmarkOptions,
    MapOptions,
    ResourceOptions,
    TableOptions,
)
from isosne.cli.wording import with_options
from isosne.files import read_table
from isosne.layout.objectives import as_objective
from isosne.layout.schedules import as_schedule
from isosne.layout.start import STARTS
from isosne.studies.parameter_sweep import make_kernel as kernel_of_name


def defaults(function):
    parameters = inspect.signature(function).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


def of_options(*groups):
    return {field.name: field.default for group in groups for field in fields(group)}


def test_options_of_a_map_are_the_keywords_of_the_estimator():
    keywords = defaults(TSNE)
    for not_an_option in ("kernel", "verbose", "callback"):
        del keywords[not_an_option]
    options = of_options(MapOptions, LandmarkOptions, ResourceOptions)
    assert options.pop("random_state") == 0  # the same line gives the same map
    assert keywords.pop("random_state") is None
    assert keywords.pop("landmark_choice") == "uniform"
    assert options.pop("landmark_choice") is None  # so that one that is given is seen
    assert options == keywords


def test_names_of_the_command_line_are_names_of_the_library():
    for name in NAMES["objective"]:
        as_objective(name)
    for name in NAMES["schedule"]:
        as_schedule(name)
    assert set(NAMES["start"]) == {"auto", *STARTS}


@pytest.mark.parametrize("kernel", PARAMETERS)
def test_options_of_a_kernel_are_its_keywords(kernel):
    keywords = set(kernel_of_name(kernel, {}).get_params()) - {"random_state"}
    assert set(PARAMETERS[kernel]) == keywords
    assert keywords <= set(of_options(KernelOptions))


def test_options_of_a_table_are_the_keywords_of_its_reader():
    keywords = set(defaults(read_table)) - {"source", "memory_limit"}
    assert set(of_options(TableOptions)) - {"scale"} == keywords


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (KernelOptions(), "isolation"),
        (KernelOptions(kernel="gaussian"), "gaussian"),
    ],
)
def test_a_name_alone_leaves_the_rest_to_the_rule(options, expected):
    assert make_kernel(options) == expected


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


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("got psi=1. Raise it.", "got --psi 1. Raise it."),
        ("got psi=[8, 64].", "got --psi 8,64."),
        ("Exclude them (exclude=['a b', 'c']).", "Exclude them (--exclude a b --exclude c)."),
        ("affinities='dense' of 9 points", "--affinities dense of 9 points"),
        ("got theta=-0.5.", "got --theta -0.5."),
        ("replace it with --force (force=True).", "replace it with --force."),
        ("isosne.datasets.names() lists them.", "isosne datasets lists them."),
        ("got n_queries=999 with 178 points", "got --n-queries 999 with 178 points"),
        ("Raise memory_limit to 6 kB.", "Raise --memory-limit to 6 kB."),
        (
            "there is no 'n_jobs' in my_folder/n_jobs.csv",
            "there is no 'n_jobs' in my_folder/n_jobs.csv",
        ),
        ("None asks every point up to 9.", "Without it every point is asked up to 9."),
        ("the file a=1 is damaged", "the file a=1 is damaged"),
    ],
)
def test_sentences_name_options_instead_of_keywords(sentence, expected):
    assert with_options(sentence) == expected
