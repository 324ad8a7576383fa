"""Print the tables of all benchmarks, or of those named."""

import argparse
import datetime
import platform
import subprocess
from importlib import import_module
from importlib.metadata import version

from isosne._numba import n_threads

NAMES = ["startup", "cells", "steps", "exact", "neighbors", "maps"]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="small sizes, a minute or two in all")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"unknown benchmark {', '.join(unknown)}; choose from {', '.join(NAMES)}")
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    packages = ["numpy", "scipy", "scikit-learn", "numba"]
    print(
        f"{datetime.date.today()}, commit {commit}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in packages)
        + f", {n_threads()} threads"
    )
    for name in options.names or NAMES:
        print("\n" + import_module(f"benchmarks.{name}").run(options.quick), flush=True)


if __name__ == "__main__":
    main()
