"""`isosne sweep`: a map for every value of a kernel's parameter, each measured."""

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from isosne.cli.errors import STOPPED
from isosne.cli.models import check_names, kernel_parameters, map_parameters, parse_numbers
from isosne.cli.options import (
    Force,
    KernelOptions,
    MapOptions,
    ResourceOptions,
    Source,
    TableOptions,
    TalkOptions,
)
from isosne.cli.outputs import check_output, print_json
from isosne.cli.progress import Progress, make_progress
from isosne.cli.tables import open_table, read_points
from isosne.errors import ParameterError

MEASURES = ("auc_rnx", "trustworthiness", "continuity", "kl_divergence", "auc_rnx_paper")
CLASS_MEASURES = ("davies_bouldin", "calinski_harabasz", "knn_accuracy")
SHOWN = (*MEASURES[:3], *CLASS_MEASURES, "n_isolated", "seconds")
"""Columns that are printed; the file has all."""


@dataclass(frozen=True)
class GridOptions(KernelOptions):
    """Kernels to try: the main parameter has several values, each of which makes a map."""

    TITLE: ClassVar = "The kernels"

    psi: Annotated[
        str | None, typer.Option(metavar="N[,N...]", help="isolation: numbers of cells to try.")
    ] = None
    perplexity: Annotated[
        str | None, typer.Option(metavar="X[,X...]", help="gaussian: perplexities to try.")
    ] = None
    k: Annotated[
        str | None, typer.Option(metavar="N[,N...]", help="adaptive, knn: neighbors to try.")
    ] = None


def sweep(
    source: Source,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            show_default=False,
            help="A row for each map: .csv, or .jsonl, to which later sweeps add.",
        ),
    ],
    table_options: TableOptions,
    kernel: GridOptions,
    drawing: MapOptions,
    resources: ResourceOptions,
    talk: TalkOptions,
    measure: Annotated[str, typer.Option(help="Column that the best map goes by.")] = "auc_rnx",
    force: Force = False,
) -> None:
    """Map a table with each of several values of --psi, --perplexity or --k, and measure each map.

    Without values: the paper's grid. Rows are kept as they come in a file beside the output, which
    ends in .jsonl; a sweep that was stopped goes on when the same command is given again.

    Example: isosne sweep wine.csv --label cultivar --psi 4,8,16,32 -o sweep.csv
    """
    from isosne import TSNE
    from isosne.studies.parameter_sweep import sweep as run_sweep

    is_csv = output.suffix.lower() != ".jsonl"
    check_output(output, (".csv", ".jsonl"), force=force or not is_csv)
    kept = output.with_name(f"{output.name}.jsonl") if is_csv else output
    check_names(drawing)
    table = open_table(source, table_options, resources, quiet=talk.quiet)
    _check_measure(measure, has_labels=table.labels is not None)
    grid = _grid(kernel, table.rows.shape[0])
    watch = _Watch(make_progress(quiet=talk.quiet), grid, measure, _count_kept(kept, grid))
    try:
        found = run_sweep(
            read_points(table, resources),
            kernel.kernel,
            grid,
            labels=table.labels,
            estimator=TSNE(**map_parameters(drawing), memory_limit=resources.memory_limit),
            measure=measure,
            results=kept,
            n_jobs=resources.n_jobs,
            callback=watch,
        )
    except KeyboardInterrupt:
        watch.progress.end()
        typer.echo(
            f"isosne: Stopped from the keyboard after {watch.n_done} map(s), which are in {kept}. "
            "Give the same command again to go on.",
            err=True,
        )
        raise typer.Exit(STOPPED) from None
    finally:
        watch.progress.end()
    if is_csv:
        _write_csv(output, found.rows, force=force)
        kept.unlink()
    if talk.json:
        print_json({"output": str(output), "best": found.best, "rows": found.rows})
    else:
        parameters = ", ".join(f"{name} {found.best[name]}" for name in grid)
        typer.echo(f"{_as_table(found.rows, grid)}\nbest by {measure}: {parameters}")


def _grid(options: KernelOptions, n_rows: int) -> dict[str, list[Any]]:
    """Return the values of each parameter that was given, and of the main one by rule."""
    from isosne.kernels.registry import KERNELS
    from isosne.studies.parameter_sweep import paper_grid

    given = kernel_parameters(options)
    main = KERNELS[options.kernel].main_parameter
    grid = {main: parse_numbers(main, given.pop(main)) if main in given else paper_grid(n_rows)}
    return grid | {name: [value] for name, value in given.items()}


def _check_measure(measure: str, *, has_labels: bool) -> None:
    known = [*MEASURES, *(CLASS_MEASURES if has_labels else ())]
    if measure not in known:
        more = "" if has_labels else " With --label there are more."
        raise ParameterError(
            f"measure must be one of {', '.join(known)}; got {measure!r}. "
            f"Choose one of these.{more}"
        )


def _count_kept(path: Path, grid: dict[str, list[Any]]) -> int:
    """Return how many maps of a grid are in a file already; the library refuses a foreign one."""
    lines = path.read_text().splitlines() if path.exists() else []
    try:
        rows = [json.loads(line) for line in lines[1:]]
        return sum(all(row[name] in grid[name] for name in grid) for row in rows)
    except (ValueError, KeyError, TypeError):
        return 0


class _Watch:
    """Shows each map of a sweep when it is measured."""

    def __init__(
        self, progress: Progress, grid: dict[str, list[Any]], measure: str, n_kept: int
    ) -> None:
        self.progress, self.n_done = progress, n_kept
        self._grid, self._measure = grid, measure
        progress.begin("map", math.prod(map(len, grid.values())), first=n_kept)

    def __call__(self, row: dict[str, Any]) -> None:
        self.n_done += 1
        parameters = " ".join(f"{name} {row[name]}" for name in self._grid)
        measured = f"{self._measure} {row[self._measure]:.4f}"
        self.progress.advance(self.n_done, f"{parameters}   {measured}")


def _as_table(rows: Sequence[dict[str, Any]], grid: dict[str, list[Any]]) -> str:
    """Return the parameters that vary and the measures as columns of text."""
    names = [name for name in grid if len(grid[name]) > 1] or list(grid)[:1]
    names += [name for name in SHOWN if name in rows[0]]
    cells = [names, *([_as_cell(row[name]) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(map(str.rjust, line, widths)) for line in cells)
    return "\n".join(lines)


def _as_cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _write_csv(path: Path, rows: Sequence[dict[str, Any]], *, force: bool) -> None:
    from isosne._files import whole_file

    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with whole_file(path, force=force) as file:
        file.write(text.getvalue().encode())
