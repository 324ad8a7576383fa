"""The package as users get it: built, installed into an environment of its own, and used."""

import importlib.metadata
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from isosne import __version__

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="links to packages need rights on Windows"),
]
ROOT = Path(__file__).parents[2]
NAME = f"isosne-{__version__}"
TOP_OF_SDIST = {
    *("src", "tests", "docs", "examples", "packaging", "benchmarks"),
    *("README.md", "CHANGELOG.md", "CITATION.cff", "CODE_OF_CONDUCT.md", "LICENSE"),
    *("pyproject.toml", "PKG-INFO", ".gitignore"),  # hatchling adds these
}
GENERATED = {ROOT / "docs" / "api", ROOT / "docs" / "gallery"}  # by `make docs`
FIT = """
import numpy as np
import isosne
print(isosne.__file__)
X = np.random.default_rng(0).normal(size=(50, 4))
print(isosne.TSNE(random_state=0).fit_transform(X).shape)
"""


COUNT = """
import sys
import numpy as np
from numba.core import event
from isosne import TSNE
listener = event.RecordingListener()
event.register("numba:compile", listener)
for n in map(int, sys.argv[1:]):
    for dtype in (np.float64, np.float32):
        X = np.random.default_rng(0).normal(size=(n, 50)).astype(dtype)
        TSNE(random_state=0).fit(X)
compiled = [e.data["dispatcher"].__name__ for _, e in listener.buffer if e.is_start]
print(len(compiled), *sorted(set(compiled)))
"""
SMALL = {"NUMBA_CPU_NAME": "x86-64-v2", "NUMBA_CPU_FEATURES": "+sse4.2"}
"""Numba's settings for a CPU without AVX2."""


def run(*command, **settings):
    """Run a program that does not see the source of isosne; return how it ended."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= settings
    return subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, check=False
    )


def files_of(folder):
    """Return the files of a folder, relative to it, without those that programs leave there."""
    every = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix()
        for path in every
        if "__pycache__" not in path.parts and not GENERATED.intersection(path.parents)
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with an sdist, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    done = run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert files_of(folder) == {f"{NAME}.tar.gz", f"{NAME}-py3-none-any.whl"}
    return folder


def needed(extras=("",)):
    """Return the distributions that isosne needs with some extras, and all that these need."""
    found, waiting = {}, [("isosne", extras)]
    while waiting:
        name, extras = waiting.pop()
        for line in importlib.metadata.requires(name) or ():
            requirement = Requirement(line)
            marker = requirement.marker
            wanted = not marker or any(marker.evaluate({"extra": extra}) for extra in extras)
            if wanted and requirement.name not in found:
                found[requirement.name] = importlib.metadata.distribution(requirement.name)
                waiting.append((requirement.name, ("", *requirement.extras)))
    return found.values()


def link(distributions, folder):
    """Make distributions of this environment importable from a folder, without a download."""
    for distribution in distributions:
        for top in {file.parts[0] for file in distribution.files if ".." not in file.parts}:
            target = distribution.locate_file(top)
            if top != "__pycache__" and not (folder / top).exists():
                (folder / top).symlink_to(target)


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """The programs, and the packages, of a new environment in which the wheel is installed."""
    return install(built / f"{NAME}-py3-none-any.whl", tmp_path_factory.mktemp("environment"))


def install(wheel, home):
    """Install a wheel into a new environment; return its interpreter and its packages."""
    venv.create(home, symlinks=True)
    python = home / "bin" / "python"
    offline = ("--no-deps", "--no-index", "--quiet")
    done = run(sys.executable, "-m", "pip", "--python", python, "install", *offline, wheel)
    assert done.returncode == 0, done.stderr
    packages = Path(
        run(python, "-c", "import site; print(site.getsitepackages()[0])").stdout.strip()
    )
    assert (packages / "isosne").is_dir()
    link(needed(), packages)
    return python, packages


def test_an_sdist_holds_sources_tests_documentation_and_examples_alone(built):
    with tarfile.open(built / f"{NAME}.tar.gz") as archive:
        names = [Path(member.name).relative_to(NAME) for member in archive if member.isfile()]
    assert {name.parts[0] for name in names} == TOP_OF_SDIST
    for folder in ("src", "tests", "docs", "examples", "packaging"):
        found = {name.relative_to(folder).as_posix() for name in names if name.parts[0] == folder}
        assert found == files_of(ROOT / folder)


def test_a_wheel_holds_the_package_alone(built):
    with zipfile.ZipFile(built / f"{NAME}-py3-none-any.whl") as archive:
        names = set(archive.namelist())
    about = {name for name in names if name.startswith(f"{NAME}.dist-info/")}
    assert {name.removeprefix("isosne/") for name in names - about} == files_of(
        ROOT / "src" / "isosne"
    )
    assert "isosne/py.typed" in names
    for kind in (".css", ".js", ".html"):
        assert any("/assets/" in name and name.endswith(kind) for name in names), kind
    assert not any("tests" in Path(name).parts for name in names)
    told = {name.partition("/")[2] for name in about}
    assert told == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}


def test_an_installed_wheel_fits_without_any_extra(installed):
    python, packages = installed
    done = run(python, "-W", "error", "-c", FIT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(packages / "isosne" / "__init__.py"), "(50, 2)"]


def test_the_command_line_needs_its_extra_and_then_tells_its_version(installed):
    python, packages = installed
    program = python.with_name("isosne")
    without = run(program, "--version")
    assert (without.returncode, without.stdout) == (1, "")
    assert "click" in without.stderr
    assert "isosne[cli]" in without.stderr
    link(needed(("", "cli")), packages)
    done = run(program, "--version")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{NAME.replace('-', ' ')}\n"


@pytest.mark.compiled
def test_a_wheel_with_a_pack_compiles_nothing_unless_the_cpu_is_too_old(tmp_path):
    packs, dist = tmp_path / "packs", tmp_path / "dist"
    # Not in an environment of its own: what is packed is the source that is tested here.
    source = {"PYTHONPATH": str(ROOT / "src")}
    made = run(sys.executable, ROOT / "packaging" / "pack.py", packs, **source)
    assert made.returncode == 0, made.stderr
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", dist, ROOT)
    done = run(*build, ISOSNE_PACKS=str(packs))
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = dist.iterdir()
    assert wheel.name.startswith(f"{NAME}-py3-none-")
    assert not wheel.name.endswith("any.whl")
    python, packages = install(wheel, tmp_path / "environment")
    assert len(files_of(packages / "isosne" / "packs")) == 1
    for n_threads in ("1", "2"):
        settings = {"NUMBA_CACHE_DIR": str(tmp_path / n_threads), "NUMBA_NUM_THREADS": n_threads}
        counted = run(python, "-c", COUNT, 200, 2000, 20_000, **settings)
        assert counted.stdout.split() == ["0"], counted.stdout + counted.stderr
    old = run(python, "-c", COUNT, 200, **SMALL, NUMBA_CACHE_DIR=str(tmp_path / "old"))
    assert int(old.stdout.split()[0]) > 20, old.stdout + old.stderr
