"""Output files of a reproduction: Markdown pages and JSON values, written atomically."""

import json
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.paper.settings import Settings
from isosne._files import encode_json, whole_file

PACKAGES = ("isosne", "numpy", "scipy", "scikit-learn", "numba")


def write_markdown(settings: Settings, name: str, title: str, parts: Iterable[str]) -> None:
    """Write NAME.md: a title, the date and versions, and parts separated by empty lines."""
    blocks = [f"# {title}", _describe_environment(), *parts]
    _write(settings.out / f"{name}.md", "\n\n".join(blocks) + "\n")


def write_json(settings: Settings, name: str, values: Any) -> None:
    """Write NAME.json: the settings and the values of the tables."""
    content = {"name": name, "settings": settings.describe(), "values": values}
    text = encode_json(content, indent=1, allow_nan=False)
    _write(settings.out / f"{name}.json", text + "\n")


def is_finished(settings: Settings, name: str) -> bool:
    """Return whether NAME.json exists and was written with the same settings."""
    path = settings.out / f"{name}.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return bool(content["settings"] == settings.describe())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def format_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table; all columns but the first are right-aligned."""
    lines = ["| " + " | ".join(header) + " |"]
    lines.append("| --- |" + " ---: |" * (len(header) - 1))
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines)


def _describe_environment() -> str:
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    today = datetime.now(UTC).date().isoformat()
    return f"{today}, Python {platform.python_version()}, {versions}"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, force=True) as file:
        file.write(text.encode())
