"""Packages that are imported when needed; of optional ones, the command that installs them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from isosne.errors import MissingPackageError


def require(module: str, extra: str | None, what: str) -> Any:
    """Import a module of an optional package, or say how to install it.

    ``what`` needs the package, as in "Reading Parquet files". ``extra`` is None for a package that
    no extra of isosne installs.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        install = package if extra is None else f"'isosne[{extra}]'"
        raise MissingPackageError(
            f"{what} needs the package {package}, which is not installed. "
            f"Install it with: pip install {install}"
        ) from error


class Deferred(ModuleType):
    """Stands for a module, and imports it when something of it is first used."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def deferred(*names: str) -> Iterator[None]:
    """Let packages that import these modules do so when they first use them.

    For the command line, whose process is our own: half of the time to import scikit-learn is that
    of pandas and scipy.stats, of which it uses nothing here.
    """
    absent = [name for name in names if name not in sys.modules and find_spec(name)]
    sys.modules.update({name: Deferred(name) for name in absent})
    try:
        yield
    finally:
        for name in absent:
            if isinstance(sys.modules.get(name), Deferred):
                del sys.modules[name]
