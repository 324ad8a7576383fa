"""Build hook: with ISOSNE_PACKS=FOLDER in the environment, a wheel ships the packs of the folder.

Such a wheel serves the platforms that Numba's own wheel serves, and every Python: one without a
pack compiles. Without the variable the wheel is pure.
"""

import os
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PackHook(BuildHookInterface):
    """Adds packs to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files and the platform."""
        folder = os.environ.get("ISOSNE_PACKS")
        if not folder or version != "standard":
            return
        for path in sorted(Path(folder).resolve().glob("*.pack")):
            build_data["force_include"][str(path)] = f"isosne/packs/{path.name}"
        about = (distribution("numba").read_text("WHEEL") or "").splitlines()
        tags = [line.rpartition("-")[2] for line in about if line.startswith("Tag: ")]
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{'.'.join(sorted(set('.'.join(tags).split('.'))))}"
