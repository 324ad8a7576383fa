"""Optional packages: imported when needed, or the command that installs them."""

from importlib import import_module
from typing import Any

from isosne.errors import MissingPackageError


def require(module: str, extra: str, what: str) -> Any:
    """Import a module of an optional package, or say which extra installs it.

    ``what`` needs the package, as in "Reading Parquet files".
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingPackageError(
            f"{what} needs the package {package}, which is not installed. "
            f"Install it with: pip install 'isosne[{extra}]'"
        ) from error
