"""`isosne sweep`: a map for each value of a kernel parameter, each measured."""

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from isosne._progress import Progress
from isosne.cli.map_files import refuse_map_as_table
from isosne.cli.map_options import EmbeddingOptions, KernelOptions
from isosne.cli.messages import exit_interrupted
from isosne.cli.models import kernel_parameters, make_template
from isosne.cli.options import (
    KERNEL,
    Force,
    MessageOptions,
    ResourceOptions,
    Source,
    TableOptions,
    option,
)
from isosne.cli.outputs import check_output, print_json
from isosne.cli.paths import check_distinct
from isosne.cli.progress import make_progress
from isosne.cli.tables import open_table, read_points, refuse_mixed
from isosne.errors import ParameterError, keyword

SHOWN = (
    *("auc_rnx", "trustworthiness", "continuity"),
    *("davies_bouldin", "calinski_harabasz", "knn_accuracy"),
    *("n_isolated", "seconds"),
)
"""Columns that are printed; the file has all."""


@dataclass(frozen=True)
class GridOptions(KernelOptions):
    """The kernels to try: a map for each value of the main parameter."""

    psi: Annotated[
        str | None,
        option(
            "isolation: numbers of cells to try.", default="the paper's grid", metavar="N[,N...]"
        ),
    ] = None
    cell_size: Annotated[
        str | None,
        option(
            "owner: mean numbers of points per cell to try.",
            panel=KERNEL,
            default="the paper's grid",
            metavar="X[,X...]",
        ),
    ] = None
    perplexity: Annotated[
        str | None,
        option("gaussian: perplexities to try.", default="the paper's grid", metavar="X[,X...]"),
    ] = None
    k: Annotated[
        str | None,
        option(
            "adaptive, knn: numbers of neighbors to try.",
            panel=KERNEL,
            default="the paper's grid",
            metavar="N[,N...]",
        ),
    ] = None


def sweep(
    source: Source,
    output: Annotated[
        Path,
        option(
            "File for the results, one row per map: .csv, or .jsonl, to which sweeps append.",
            *("--output", "-o"),
            default=False,
            metavar="FILE",
        ),
    ],
    table_options: TableOptions,
    kernel: GridOptions,
    embedding: EmbeddingOptions,
    resources: ResourceOptions,
    messages: MessageOptions,
    measure: Annotated[
        Literal[
            "auc_rnx",
            "trustworthiness",
            "continuity",
            "kl_divergence",
            "auc_rnx_paper",
            "davies_bouldin",
            "calinski_harabasz",
            "knn_accuracy",
        ],
        option("Measure that selects the best map; the last three need --label."),
    ] = "auc_rnx",
    force: Force = False,
) -> None:
    """Embed a table for several parameter values; measure each map.

    The values are those of --psi, --cell-size, --perplexity or --k. Results are saved as they come,
    to a .jsonl file beside the output. Resumes after an interruption when the same command is
    given again.

    Example: isosne sweep wine.csv --label target --cell-size 4,12,40 -o sweep.csv
    """
    from isosne._files import completed_files, only_writer
    from isosne.studies.parameter_sweep import CLASS_MEASURES
    from isosne.studies.parameter_sweep import sweep as run_sweep

    is_csv = output.suffix.lower() != ".jsonl"
    kept = output.with_name(f"{output.name}.jsonl") if is_csv else output
    check_distinct({"source": source}, {"output": output})
    check_distinct({"source": source}, {"output": kept})
    check_output(output, (".csv", ".jsonl"), force=force or not is_csv)
    check_output(kept, (), force=True)
    hint = "Run isosne embed and isosne measure for each value."
    refuse_mixed(table_options, "isosne sweep", hint)
    template = make_template(embedding, resources)
    refuse_map_as_table(source, table_options)
    table = open_table(source, table_options, resources, quiet=messages.quiet)
    if measure in CLASS_MEASURES and table.labels is None:
        raise ParameterError(
            "measure",
            f"be used together with {keyword('label')}",
            measure,
            f"Add {keyword('label')} COLUMN, or choose a measure that needs no labels.",
        )
    grid = _grid(kernel, table.rows.shape[0])
    points = read_points(table, resources)
    with only_writer(kept):
        watch = _Watch(make_progress(quiet=messages.quiet), grid, measure, _count_kept(kept, grid))
        try:
            found = run_sweep(
                points,
                kernel.kernel_name,
                grid,
                labels=table.labels,
                estimator=template,
                measure=measure,
                results=kept,
                n_jobs=resources.n_jobs,
                callback=watch,
            )
            if is_csv:
                _write_csv(output, found.rows, force=force)
        except KeyboardInterrupt:
            watch.progress.end()
            if output in completed_files():
                raise
            raise exit_interrupted(
                f" after {watch.n_done} of {watch.n_maps} maps; their results are in {kept}. "
                "Run the same command again to resume."
            ) from None
        finally:
            watch.progress.end()
        if is_csv:
            kept.unlink()
    if messages.json:
        print_json({"output": str(output), "best": found.best, "rows": found.rows})
    else:
        parameters = ", ".join(f"{name} {found.best[name]}" for name in grid)
        typer.echo(f"{_as_table(found.rows, grid)}\nbest by {measure}: {parameters}")


def _grid(options: KernelOptions, n_rows: int) -> dict[str, list[Any]]:
    """Return the values of each given parameter, and of the main one in any case."""
    from isosne.kernels.registry import KERNELS, parse_numbers
    from isosne.studies.parameter_sweep import paper_grid

    given = kernel_parameters(options)
    main = KERNELS[options.kernel_name].main_parameter
    grid = {main: parse_numbers(main, given.pop(main)) if main in given else paper_grid(n_rows)}
    return grid | {name: [value] for name, value in given.items()}


def _count_kept(path: Path, grid: dict[str, list[Any]]) -> int:
    """Return how many maps of a grid are in a file already; the library checks the file."""
    content = path.read_bytes() if path.exists() else b""
    lines = content[: content.rfind(b"\n") + 1].splitlines()  # a killed sweep may end in a part
    try:
        rows = [json.loads(line) for line in lines[1:]]
        return sum(all(row[name] in grid[name] for name in grid) for row in rows)
    except (ValueError, KeyError, TypeError):
        return 0


class _Watch:
    """The callback of a sweep: shows each map when it is measured."""

    def __init__(
        self, progress: Progress, grid: dict[str, list[Any]], measure: str, n_kept: int
    ) -> None:
        self.progress, self.n_done = progress, n_kept
        self._grid, self._measure = grid, measure
        self.n_maps = math.prod(map(len, grid.values()))
        progress.begin("map", self.n_maps, first=n_kept)

    def __call__(self, row: dict[str, Any]) -> None:
        self.n_done += 1
        parameters = " ".join(f"{name} {row[name]}" for name in self._grid)
        measured = f"{self._measure} {row[self._measure]:.4f}"
        self.progress.advance(self.n_done, f"{parameters}  {measured}")


def _as_table(rows: Sequence[dict[str, Any]], grid: dict[str, list[Any]]) -> str:
    """Return the parameters that vary and the measures as aligned columns."""
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
