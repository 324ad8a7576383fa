"""Sizes and times of installations into new environments, as docs/packaging.md lists them.

python packaging/measure.py [EXTRA ...]

Builds the wheel, and for the library alone and for each extra: downloads everything, installs it
from there without a cache into a new environment, fits a map, and measures the import. Times are
CPU times, which depend little on other programs and on the network. Takes minutes.
"""

import os
import resource
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIT = """
import time
began = time.process_time()
from isosne import TSNE
imported = time.process_time() - began
import numpy as np
X = np.random.default_rng(0).normal(size=(200, 5))
TSNE(random_state=0).fit(X)
first = time.process_time() - began - imported
print(f"{imported:.2f} {first:.1f}")
"""


def run(*command: object) -> str:
    """Run a program and return its output."""
    words = [str(word) for word in command]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def cpu_seconds() -> float:
    """Return the CPU time of all programs that were run."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def size(folder: Path) -> float:
    """Return the megabytes of the files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def measure(wheel: Path, extra: str, folder: Path) -> str:
    """Install isosne with an extra into a new environment; return a row of the table."""
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    downloads = folder / "downloads"
    run(sys.executable, "-m", "pip", "download", "--quiet", "--dest", downloads, wanted)
    venv.create(folder / "environment", with_pip=True)
    python = folder / "environment" / "bin" / "python"
    before, began = size(folder / "environment"), cpu_seconds()
    offline = ("--quiet", "--no-cache-dir", "--no-index", "--find-links", downloads)
    run(python, "-m", "pip", "install", *offline, wanted)
    seconds, installed = cpu_seconds() - began, size(folder / "environment") - before
    n_packages = len(list(downloads.iterdir())) - 1
    imported, first = run(python, "-c", FIT).split()
    name = f"isosne[{extra}]" if extra else "isosne"
    figures = f"{n_packages} | {size(downloads):.0f} MB | {installed:.0f} MB | {seconds:.0f} s"
    return f"| `{name}` | {figures} | {imported} s | {first} s |"


def main(extras: list[str]) -> None:
    """Print the table."""
    print("| Installed | Other packages | Download | On disk | Install | Import | First fit |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT)
        (wheel,) = (folder / "dist").glob("*.whl")
        for extra in ["", *extras]:
            (folder / (extra or "alone")).mkdir()
            print(measure(wheel, extra, folder / (extra or "alone")), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
