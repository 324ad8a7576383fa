"""Modules that have a new name: an import of the old one says where its content is now."""

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
    """Finds no module; refuses the old names with a sentence."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        """Refuse a module that has moved."""
        if fullname in MOVED:
            raise ModuleNotFoundError(
                f"{fullname} has moved. Use: {MOVED[fullname]}", name=fullname
            )


def announce() -> None:
    """Ask this finder after all others, so that it costs nothing where a module exists."""
    sys.meta_path.append(MovedModules())
