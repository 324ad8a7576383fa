"""The steps of a release, which .github/workflows/release.yml runs, and anyone can repeat.

python packaging/release.py check v1.0.0        is this checkout ready for the tag?
python packaging/release.py wheel PYTHON ...    a wheel for this platform, with a pack per Python
python packaging/release.py try WHEEL PYTHON    install it without a compiler, and make a map
python packaging/release.py files               sdist, checks, SBOM and checksums; lists dist

Files go to dist. Nothing is uploaded. `files` needs what packaging/release-tools.txt lists.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST, PACKS = ROOT / "dist", ROOT / "build" / "packs"
FIRST_MAP = """
import numpy as np
from numba.core import event
from isosne import TSNE
listener = event.RecordingListener()
event.register("numba:compile", listener)
Y = TSNE(random_state=0).fit_transform(np.random.default_rng(0).normal(size=(2000, 50)))
n_compiled = sum(e.is_start for _, e in listener.buffer)
print(f"a map of shape {Y.shape}; {n_compiled} functions were compiled")
assert np.isfinite(Y).all() and n_compiled == 0
"""


def run(*command: object, **settings: str) -> None:
    """Run a program in the checkout, without sources on its path; stop if it fails."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(list(map(str, command)), cwd=ROOT, env=kept | settings, check=True)


def environment(python: str, folder: Path, *packages: object) -> Path:
    """Make an environment with packages; return its interpreter."""
    run(python, "-m", "venv", folder)
    made = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(made, "-m", "pip", "install", "--quiet", "--prefer-binary", *packages)
    return made


def version() -> str:
    """Return the version of the checkout."""
    text = (ROOT / "src" / "isosne" / "_version.py").read_text("utf-8")
    return re.findall(r'__version__ = "(.+)"', text)[0]


def check(tag: str) -> None:
    """Stop if the tag is not the version, the changelog has no date, or files are not committed."""
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    dated = re.search(rf"^## {re.escape(version())} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.M)
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    problems = {
        f"the tag {tag} is not v{version()}, the version in src/isosne/_version.py": (
            tag != f"v{version()}"
        ),
        f"CHANGELOG.md must have a line '## {version()} (YYYY-MM-DD)'": dated is None,
        f"files are not committed:\n{status.stdout}": bool(status.stdout),
    }
    if found := [sentence for sentence, holds in problems.items() if holds]:
        raise SystemExit("Not ready for a release:\n" + "\n".join(found))
    print(f"Ready: isosne {version()}")


def wheel(*pythons: str) -> None:
    """Build a pack with each interpreter, and one wheel with all of them."""
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor() as pool:
        needed, folder = (ROOT, "click", "build", "hatchling"), Path(name)
        made = [environment(python, folder / str(k), *needed) for k, python in enumerate(pythons)]
        list(pool.map(lambda python: run(python, "packaging/pack.py", PACKS), made))
        run(made[-1], "-m", "build", "--wheel", "--no-isolation", ISOSNE_PACKS=str(PACKS))


def try_wheel(path: str, python: str) -> None:
    """Install a wheel where no compiler is found, print `isosne info`, and make a first map."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = environment(python, folder / "environment", Path(path).resolve(), "click")
        alone = {"PATH": str(made.parent), "NUMBA_CACHE_DIR": str(folder / "cache")}
        run(made, "-m", "isosne", "info", **alone)
        run(made, "-W", "error", "-c", FIRST_MAP, **alone)


def files() -> None:
    """Build the sdist, check all files of dist, describe and list them."""
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation")
    built = sorted([*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")])
    run(sys.executable, "-m", "twine", "check", "--strict", *built)
    with tempfile.TemporaryDirectory() as name:
        alone = environment(sys.executable, Path(name), ROOT)
        sbom = DIST / "isosne.cdx.json"
        tool = (sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible")
        run(*tool, "--output-file", sbom, alone)
    sums = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in (*built, sbom)
    ]
    (DIST / "SHA256SUMS").write_text("\n".join(sums) + "\n", "utf-8")
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size:>12,}  {path.name}")


STEPS: dict[str, Callable[..., None]] = {
    "check": check,
    "wheel": wheel,
    "try": try_wheel,
    "files": files,
}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in STEPS:
        raise SystemExit(__doc__)
    STEPS[sys.argv[1]](*sys.argv[2:])
