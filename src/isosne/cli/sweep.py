"""`isosne sweep`: a map for each value of a kernel parameter, each measured."""

import csv
import io
import json as json_format
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from isosne._progress import Progress
from isosne.cli import options as o
from isosne.cli.files import check_distinct, check_output
from isosne.cli.messages import exit_interrupted, print_json
from isosne.cli.models import kernel_parameters, make_template
from isosne.cli.options import MapOptions, Resources, TableOptions, option
from isosne.cli.progress import make_progress
from isosne.cli.tables import open_table, read_points
from isosne.errors import ParameterError, keyword

SHOWN = (
    *("auc_rnx", "trustworthiness", "continuity"),
    *("davies_bouldin", "calinski_harabasz", "knn_accuracy"),
    *("n_isolated", "seconds"),
)
"""Columns that are printed; the file has all."""
Measure = Literal[
    "auc_rnx",
    "trustworthiness",
    "continuity",
    "kl_divergence",
    "auc_rnx_paper",
    "davies_bouldin",
    "calinski_harabasz",
    "knn_accuracy",
]


def sweep(
    source: o.Source,
    output: Annotated[
        Path,
        o.output_option(
            "File for the results, one row per map: .csv, or .jsonl, to which sweeps append."
        ),
    ],
    identifier: o.Id = None,
    label: o.Label = None,
    scale: o.Scaling = None,
    columns: o.Columns = None,
    exclude: o.Exclude = None,
    text_columns: o.TextColumns = None,
    missing: o.Missing = None,
    key: o.Key = None,
    kernel: o.Kernel = None,
    psi: o.Psi = None,
    cell_size: o.CellSize = None,
    perplexity: o.Perplexity = None,
    metric: o.Metric = None,
    random_state: o.Seed = 0,
    n_iter: o.NIter = None,
    measure: Annotated[
        Measure, option("Measure that selects the best map; the last three need --label.")
    ] = "auc_rnx",
    n_jobs: o.NJobs = None,
    memory_limit: o.MemoryLimit = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Embed a table for several parameter values; measure each map.

    A map is made for each value of --psi, --cell-size or --perplexity; without values, for the
    paper's grid. Results are saved as they come, to a .jsonl file beside the output. Resumes after
    an interruption when the same command is given again.

    Example: isosne sweep wine.csv --id id --label target --scale standard --cell-size 4,12,40 -o
    sweep.csv
    """
    from isosne._files import completed_files, only_user
    from isosne.studies.parameter_sweep import CLASS_MEASURES
    from isosne.studies.parameter_sweep import sweep as run_sweep

    is_csv = output.suffix.lower() != ".jsonl"
    kept = output.with_name(f"{output.name}.jsonl") if is_csv else output
    for path in (output, kept):
        check_distinct({"source": source}, {"output": path})
    check_output(output, (".csv", ".jsonl"), force=force or not is_csv)
    check_output(kept, (), force=True)
    table_options = TableOptions(
        *(identifier, label, scale, columns, exclude, text_columns, missing), key=key
    )
    options = MapOptions(kernel, psi, cell_size, perplexity, metric, random_state, n_iter)
    resources = Resources(n_jobs, memory_limit)
    template = make_template(options, resources)
    table = open_table(source, table_options, resources, quiet=quiet).table
    if measure in CLASS_MEASURES and table.labels is None:
        raise ParameterError(
            "measure",
            f"be used together with {keyword('label')}",
            measure,
            f"Add {keyword('label')} COLUMN, or choose a measure that needs no labels.",
        )
    grid = _grid(options, table.rows.shape[0])
    points = read_points(table, resources)
    with only_user(kept):
        watch = _Watch(make_progress(quiet=quiet), grid, measure, _count_kept(kept, grid))
        try:
            swept = run_sweep(
                points,
                options.kernel_name,
                grid,
                labels=table.labels,
                estimator=template,
                measure=measure,
                results=kept,
                n_jobs=n_jobs,
                callback=watch,
            )
            if is_csv:
                _write_csv(output, swept.rows, force=force)
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
    if json:
        print_json({"output": str(output), "best": swept.best, "rows": swept.rows})
    else:
        parameters = ", ".join(f"{name} {swept.best[name]}" for name in grid)
        typer.echo(f"{_as_table(swept.rows, grid)}\nbest by {measure}: {parameters}")


def _grid(options: MapOptions, n_rows: int) -> dict[str, list[Any]]:
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
        rows = [json_format.loads(line) for line in lines[1:]]
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
