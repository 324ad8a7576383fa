"""`isosne sweep`: a map for each value of a kernel parameter, each measured."""

import csv
import io
import json as json_format
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from isosne.cli import options as o
from isosne.cli.files import check_distinct, check_output
from isosne.cli.messages import exit_interrupted, make_progress, print_json
from isosne.cli.models import kernel_parameters, make_template
from isosne.cli.options import Args, MapOptions, TableOptions, option
from isosne.cli.tables import open_table, read_points
from isosne.errors import ParameterError, keyword

SHOWN = (
    *("auc_rnx", "trustworthiness", "continuity"),
    *("davies_bouldin", "calinski_harabasz", "knn_accuracy"),
    *("n_isolated", "seconds"),
)
"""Columns that are printed; the file has all."""
MEASURES = (
    *("auc_rnx", "trustworthiness", "continuity", "kl_divergence", "auc_rnx_paper"),
    *("davies_bouldin", "calinski_harabasz", "knn_accuracy"),
)


@o.command(
    o.SOURCE,
    o.output_option(
        "File for the results, one row per map: .csv, or .jsonl, to which sweeps append."
    ),
    *(*o.NUMERIC, o.KEY, *o.MAP),
    option(
        f"--measure {'|'.join(MEASURES)}",
        "Measure that selects the best map; the last three need --label.",
        default="auc_rnx",
    ),
    *o.LAST,
)
def sweep(args: Args) -> None:
    """Embed a table for several parameter values; measure each map.

    A map is made for each value of --psi, --cell-size or --perplexity; without values, for the
    paper's grid. Results are saved as they come, to a .jsonl file beside the output. Resumes after
    an interruption when the same command is given again.

    Example: isosne sweep wine.csv --id id --label target --scale standard --cell-size 4,12,40 -o
    sweep.csv
    """
    from isosne._files import completed_files, only_user
    from isosne.studies.judged_maps import CLASS_MEASURES
    from isosne.studies.parameter_sweep import sweep as run_sweep

    is_csv = args.output.suffix.lower() != ".jsonl"
    kept = args.output.with_name(f"{args.output.name}.jsonl") if is_csv else args.output
    for path in (args.output, kept):
        check_distinct(args.pick("source"), {"output": path})
    check_output(args.output, (".csv", ".jsonl"), force=args.force or not is_csv)
    check_output(kept, (), force=True)
    table_options, options = TableOptions.of(args), MapOptions.of(args)
    template = make_template(options, memory_limit=args.memory_limit)
    _, table = open_table(args.source, table_options, args.memory_limit)
    if args.measure in CLASS_MEASURES and table.labels is None:
        rule = f"be used together with {keyword('label')}"
        hint = f"Add {keyword('label')} COLUMN, or choose a measure that needs no labels."
        raise ParameterError("measure", rule, args.measure, hint)
    grid = _grid(options, table.rows.shape[0])
    points = read_points(table, args.memory_limit)
    progress, n_maps = make_progress(), math.prod(map(len, grid.values()))
    with only_user(kept):
        n_done = _count_kept(kept, grid)
        progress.begin("map", n_maps, first=n_done)

        def show(row: dict[str, Any]) -> None:
            nonlocal n_done
            n_done += 1
            parameters = " ".join(f"{name} {row[name]}" for name in grid)
            progress.advance(n_done, f"{parameters}  {args.measure} {row[args.measure]:.4f}")

        how = {"labels": table.labels, "estimator": template, "measure": args.measure}
        how |= {"results": kept, "n_jobs": args.n_jobs, "callback": show}
        try:
            swept = run_sweep(points, options.kernel_name, grid, **how)
            if is_csv:
                _write_csv(args.output, swept.rows, force=args.force)
        except KeyboardInterrupt:
            progress.end()
            if is_csv and args.output in completed_files():
                raise
            raise exit_interrupted(
                f" after {n_done} of {n_maps} maps; their results are in {kept}. "
                "Run the same command again to resume."
            ) from None
        finally:
            progress.end()
        if is_csv:
            kept.unlink()
    if args.json:
        print_json({"output": str(args.output), "best": swept.best, "rows": swept.rows})
    else:
        parameters = ", ".join(f"{name} {swept.best[name]}" for name in grid)
        click.echo(f"{_as_table(swept.rows, grid)}\nbest by {args.measure}: {parameters}")


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
