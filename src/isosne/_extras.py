"""Optional packages: imported when needed, or the command that installs them."""

from importlib import import_module
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
