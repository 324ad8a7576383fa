"""`isosne plan`: the methods that a run would use, why, and the memory and time it takes."""

from pathlib import Path
from typing import Annotated, Any

import typer

from isosne.cli.alignment import AlignmentOptions, make_alignment
from isosne.cli.map_files import refuse_map_as_table
from isosne.cli.map_options import EmbeddingOptions, KernelOptions, LandmarkOptions
from isosne.cli.messages import note
from isosne.cli.models import make_model
from isosne.cli.options import (
    LANDMARKS,
    MessageOptions,
    ResourceOptions,
    Source,
    TableOptions,
    option,
)
from isosne.cli.outputs import print_json
from isosne.cli.tables import open_table, refuse_mixed
from isosne.errors import ParameterError, keyword


def plan(
    source: Source,
    table_options: TableOptions,
    kernel: KernelOptions,
    embedding: EmbeddingOptions,
    alignment: AlignmentOptions,
    landmarks: LandmarkOptions,
    resources: ResourceOptions,
    messages: MessageOptions,
    rows: Annotated[
        float | None,
        option(
            "Number of rows to place, such as 1e9; the table may be a part of them.",
            panel=LANDMARKS,
            default="all rows of the table if --workers is given",
            min=1,
            metavar="N",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        option(
            "Number of processes with one core each that place rows.",
            panel=LANDMARKS,
            default="1 if --rows is given",
            min=1,
            metavar="N",
        ),
    ] = None,
) -> None:
    """Show which methods isosne embed would use, and the memory.

    With --rows or --workers, rows of the table are placed for some seconds on this machine, and the
    time, memory and bytes of placing all rows are extrapolated.

    Example: isosne plan big.parquet --landmarks 10000 --rows 1e9 --workers 16
    """
    is_placed = rows is not None or workers is not None
    if is_placed and landmarks.landmarks is None:
        name, value = ("rows", rows) if rows is not None else ("workers", workers)
        raise ParameterError(
            name,
            f"be used together with {keyword('landmarks')}",
            value,
            f"Add for example {keyword('landmarks', 10000)}.",
        )
    if is_placed:
        hint = "Leave out --rows and --workers."
        refuse_mixed(table_options, "an estimate of placing", hint)
    refuse_map_as_table(source, table_options)
    table = open_table(source, table_options, resources, quiet=messages.quiet)
    model = make_model(kernel, embedding, resources, landmarks)
    model.set_params(align_to=make_alignment(alignment, table, quiet=messages.quiet))
    found = model.plan(table.rows)
    placing = None
    if is_placed:
        if not messages.quiet:
            note("Placing rows on this machine for some seconds, to measure.")
        placing = _plan_placing(source, model, table.rows, int(rows or 0), workers or 1)
    if messages.json:
        more = {} if placing is None else {"placing": placing.as_dict()}
        print_json(found.as_dict() | more)
    else:
        typer.echo("\n".join(str(part) for part in (found, placing) if part is not None))


def _plan_placing(source: str, model: Any, rows: Any, n_rows: int, n_workers: int) -> Any:
    """Return the cost of placing; 0 rows: all of the table."""
    from isosne.jobs.estimate import plan_placing

    path = Path(source)
    files = [path] if path.is_file() else list(path.rglob("*.parquet"))
    # A data set by name and standard input have no file.
    stored = sum(file.stat().st_size for file in files) or rows.shape[0] * rows.row_bytes
    return plan_placing(model, rows, n_rows or rows.shape[0], n_workers, stored_bytes=stored)
