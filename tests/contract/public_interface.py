"""Record the public interface: `python -m tests.contract.public_interface` renews the record.

A line per public name, with the names and defaults of its parameters; methods, fields and fitted
attributes of a class are lines below it. Types are not recorded: docstrings state them.
"""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from isosne import errors
from isosne.cli.app import app
from isosne.kernels.base import PUBLIC_METHODS, MetricKernel

RECORD = Path(__file__).parents[1] / "data" / "public_interface.txt"
MODULES = ["isosne", "isosne.compat", "isosne.datasets", "isosne.pages", "isosne.plots"]
MODULES += ["isosne.quality", "isosne.rows", "isosne.scanpy", "isosne.structure"]
MODULES += ["isosne.studies", "isosne.tables"]
ERRORS = [
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.IsosneError | errors.IsosneWarning)
]


def signature(function: Any, name: str) -> str:
    """Return a name with the parameters of its function, without types."""
    found = inspect.signature(function)
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in found.parameters.values()]
    bare = found.replace(parameters=plain, return_annotation=inspect.Signature.empty)
    return f"{name}{bare}"


def members(kind: type) -> Iterator[str]:
    """Yield what a class offers: methods, properties, fields and fitted attributes."""
    own = [each for each in kind.__mro__ if each.__module__.startswith("isosne")]
    names = {name for each in own for name in vars(each) if not name.startswith("_")}
    if issubclass(kind, MetricKernel):
        names &= {*PUBLIC_METHODS}
    for name in sorted(names):
        value = inspect.getattr_static(kind, name)
        if isinstance(value, staticmethod | classmethod):
            yield signature(getattr(kind, name), name)
        elif inspect.isfunction(value):
            yield signature(value, name)
        elif type(value).__name__ != "RequestMethod":  # set_fit_request and such, of scikit-learn
            yield name
    text = (inspect.getdoc(kind) or "").partition("\nAttributes\n----------\n")[2]
    yield from (name for name in re.findall(r"^(\w+_) :", text, re.MULTILINE) if name not in names)


def lines() -> Iterator[str]:
    """Yield the lines of the record."""
    for module in MODULES:
        yield f"[{module}]"
        for name in sorted(import_module(module).__all__):
            value = getattr(import_module(module), name)
            yield signature(value, name)
            if isinstance(value, type):
                yield from (f"    {member}" for member in members(value))
        yield ""
    yield from ("[isosne.errors]", *sorted(ERRORS), "", "[command line]")
    for name, command in app.commands.items():
        yield f"isosne {name}"
        for parameter in command.params:
            names = ", ".join([*parameter.opts, *parameter.secondary_opts])
            yield f"    {names}" + (f" = {parameter.default!r}" if has_default(parameter) else "")


def has_default(parameter: Any) -> bool:
    """Return whether an option has a value if it is not given."""
    return isinstance(parameter.default, str | int | float) and parameter.default is not False


if __name__ == "__main__":
    RECORD.write_text("\n".join(lines()) + "\n", "utf-8")
