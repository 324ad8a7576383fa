"""Renamed modules: importing an old name raises an error that gives the new one."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

MOVED = {
    "isosne.estimator": "from isosne import TSNE",
    "isosne.plan": "from isosne import Plan",
    "isosne.reproduction": "import isosne.paper",
    "isosne.sweep": "from isosne.studies import sweep",
}


class MovedModules(MetaPathFinder):
    """A finder that finds nothing and raises an error for old module names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        """Raise an error for a module that has moved."""
        if fullname in MOVED:
            raise ModuleNotFoundError(
                f"{fullname} has moved. Use: {MOVED[fullname]}", name=fullname
            )


def announce() -> None:
    """Install the finder after all others, so that it is asked only if no module was found."""
    sys.meta_path.append(MovedModules())
