import os
import subprocess
import sys
import tomllib
from importlib.metadata import version
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

import isosne

LOOK_FOR_COMPILED = """
import pkgutil, importlib
import isosne
for name in isosne.__all__:
    getattr(isosne, name)
n_found = 0
for module in pkgutil.walk_packages(isosne.__path__, "isosne."):
    for value in vars(importlib.import_module(module.name)).values():
        if hasattr(value, "signatures") and hasattr(value, "py_func"):
            n_found += 1
            assert not value.signatures, value
assert n_found > 10, n_found
"""


def run(script, cache=None):
    environment = os.environ | ({"NUMBA_CACHE_DIR": str(cache)} if cache else {})
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_importing_every_public_name_compiles_nothing(tmp_path):
    done = run(LOOK_FOR_COMPILED, tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_importing_isosne_alone_imports_no_numba(tmp_path):
    done = run("import sys, isosne; assert 'numba' not in sys.modules", tmp_path)
    assert done.returncode == 0, done.stderr


def test_all_names_every_public_name_and_each_resolves():
    assert set(isosne._HOME) == set(isosne.__all__)
    for name in isosne.__all__:
        assert getattr(isosne, name).__name__ == name
        assert getattr(isosne, name).__doc__
    assert dir(isosne) == sorted([*isosne.__all__, "__version__"])


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"^module 'isosne' has no attribute 'KMeans'$"):
        isosne.KMeans  # noqa: B018


def test_the_estimator_loads_no_reader_of_files_and_few_modules(tmp_path):
    code = "import sys; from isosne import TSNE; print(*[m for m in sys.modules if 'isosne' in m])"
    loaded = run(code, tmp_path).stdout.split()
    assert 1 < len(loaded) <= 85
    assert not {"isosne.rows.formats", "isosne.rows.arrow", "isosne.quality"} & set(loaded)


def test_the_estimator_loads_no_package_of_another_door(tmp_path):
    done = run("import sys; from isosne import TSNE; print(*sys.modules)", tmp_path)
    others = {"matplotlib", "bokeh", "panel", "click", "dask", "h5py", "zarr", "sklearn.metrics"}
    assert others.isdisjoint(done.stdout.split())


def test_a_map_of_a_table_is_made_without_what_it_does_not_use(tmp_path):
    """Of scikit-learn's own imports, pandas and scipy.stats take half of the time."""
    names = ",".join("abcdefghij")
    np.savetxt(tmp_path / "x.csv", np.eye(10), delimiter=",", header=names, comments="")
    code = f"""
import sys
from isosne.cli import main
sys.argv = ["isosne", "embed", "{tmp_path}/x.csv", "-o", "{tmp_path}/map.csv"]
try:
    main()
finally:
    print(*sys.modules)
"""
    done = run(code)
    others = {"pandas", "scipy.stats", "matplotlib", "sklearn.metrics", "sklearn.datasets"}
    assert (tmp_path / "map.csv").exists(), done.stderr
    assert others.isdisjoint(done.stdout.split())


def test_a_deferred_module_is_imported_when_it_is_used(tmp_path):
    code = """
import sys
from isosne._extras import deferred
with deferred("pandas", "no_such_module"):
    import pandas as later
    assert "no_such_module" not in sys.modules
assert "pandas" not in sys.modules
assert later.DataFrame.__name__ == "DataFrame"
import pandas
assert pandas is sys.modules["pandas"] is not later
assert pandas.DataFrame is later.DataFrame
with deferred("scipy.stats"):
    import scipy.stats
    assert scipy.stats.norm.cdf(0) == 0.5  # while it is deferred
    from scipy.stats._stats_py import mode
"""
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr


UNBOUNDED = {"dask", "distributed", "pyarrow", "psutil", "anndata"}


def test_dependencies_are_bounded_and_what_is_installed_is_within():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    found = [Requirement(line) for line in chain(project["dependencies"], *extras)]
    assert {r.name for r in found if "<" not in str(r.specifier)} == {*UNBOUNDED, "isosne"}
    for requirement in found:
        assert ">=" in str(requirement.specifier) or requirement.name == "isosne"
        assert requirement.specifier.contains(version(requirement.name)), requirement
