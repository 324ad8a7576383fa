"""Run the scripts of the gallery block by block, as a notebook does."""

import ast
from pathlib import Path
from typing import Any

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"
EXAMPLES = sorted(GALLERY.glob("*/plot_*.py"))


def split_blocks(source: str) -> list[ast.Module]:
    """Return the statements between the lines that begin with ``# %%``."""
    lines = source.splitlines()
    ends = [number for number, line in enumerate(lines, 1) if line.startswith("# %%")]
    tree = ast.parse(source)
    blocks = []
    for low, high in zip([0, *ends], [*ends, len(lines) + 1], strict=True):
        inside = [statement for statement in tree.body if low < statement.lineno < high]
        blocks.append(ast.Module(inside, type_ignores=[]))
    return blocks


def run(path: Path) -> list[Any]:
    """Run a script; return the value of the last expression of each block that has one."""
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    shown = []
    for block in split_blocks(path.read_text("utf-8")):
        last = block.body.pop() if block.body and isinstance(block.body[-1], ast.Expr) else None
        exec(compile(block, path, "exec"), namespace)
        if last is not None:
            shown.append(eval(compile(ast.Expression(last.value), path, "eval"), namespace))
    return shown
