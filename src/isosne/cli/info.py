"""`isosne info`: what a report of a problem needs to say of an installation."""

import os
import platform
import re
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

import click

from isosne import __version__
from isosne._packs import PACKAGE
from isosne.cli import options as o
from isosne.cli.messages import print_json
from isosne.cli.options import Args

VARIABLES = ("ISOSNE_", "NUMBA_", "OMP_", "GOMP_", "MKL_", "OPENBLAS_")
"""How the environment variables begin that change threads, memory, compiling or results."""


@o.command(o.JSON)
def info(args: Args) -> None:
    """Print versions, limits and settings, for a bug report.

    The limits are those of CPUs, threads and memory. The output contains no data; names of folders
    may contain your user name.

    Example: isosne info
    """
    found = describe()
    if args.json:
        print_json(found)
        return
    for title, value in found.items():
        parts = value.items() if isinstance(value, dict) else [("", value)]
        told = [f"{name} {part}".strip() for name, part in parts if part is not None]
        click.echo(f"{title:<15} {', '.join(told) or 'none'}")


def describe() -> dict[str, Any]:
    """Return what `isosne info` tells, by title."""
    from isosne._machine import cpu_limit
    from isosne._numba import describe_compiler, n_threads
    from isosne.tsne.memory import memory_available, size

    cpus, memory, compiler = cpu_limit(), memory_available(), describe_compiler()
    is_enabled = getattr(sys, "_is_gil_enabled", lambda: True)  # since Python 3.13
    versions = {name: _version(name) for name in _packages()}
    return {
        "isosne": {"version": __version__, "in": str(PACKAGE)},
        "python": {
            platform.python_implementation(): platform.python_version(),
            "GIL": "enabled" if is_enabled() else "disabled",
        },
        "system": platform.platform(),
        "cpu": {"type": platform.machine(), "name": compiler["cpu"]},
        "cpus": {"usable": cpus.value, "limited by": cpus.reason or None},
        "threads": n_threads(),
        "memory": {"usable": size(memory.value), "limited by": memory.reason or None},
        "compiled loops": {name: compiler[name] for name in ("cache", "pack")},
        "packages": {name: found for name, found in versions.items() if found},
        "not installed": dict.fromkeys((n for n, found in versions.items() if not found), ""),
        "environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith(VARIABLES)},
    }


def _packages() -> list[str]:
    """Return the packages that isosne needs or can use, as its own metadata name them."""
    lines: list[str] = []
    with suppress(PackageNotFoundError):  # sources on the path, not installed
        lines = requires("isosne") or []
    named = dict.fromkeys(match[0] for line in lines if (match := re.match(r"[\w-]+", line)))
    return [name for name in (*named, "llvmlite") if name != "isosne"]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
