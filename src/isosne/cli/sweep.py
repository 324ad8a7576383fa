"""`isosne sweep`: a map for each value of a kernel parameter, each measured."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from isosne.cli import options as o
from isosne.cli.files import check_distinct, check_output
from isosne.cli.messages import exit_interrupted, print_json, tell
from isosne.cli.models import kernel_parameters, make_template
from isosne.cli.options import Args, map_options, option
from isosne.cli.tables import open_table, read_points
from isosne.errors import ParameterError, keyword

RANKS = ("auc_rnx", "trustworthiness", "continuity")
CLASSES = ("davies_bouldin", "calinski_harabasz", "knn_accuracy")
MEASURES = (*RANKS, "kl_divergence", "auc_rnx_paper", *CLASSES)
SHOWN = (*RANKS, *CLASSES, "n_isolated", "seconds")  # columns that are printed; the file has all


@o.command(
    o.SOURCE,
    o.output_option("File for the results, one row per map (.csv)."),
    *(*o.NUMERIC, o.KEY, *o.MAP),
    option(
        f"--measure {'|'.join(MEASURES)}",
        "Measure that selects the best map; the last three need --label.",
        default="auc_rnx",
    ),
    *o.LAST,
)
def sweep(args: Args) -> None:
    """Make and measure a map for each of several parameter values.

    One map is made for each value of --psi, --cell-size or --perplexity; without values, for 5, 9,
    ..., 97 and for 1, 5, ..., 97 % of the rows. Results are saved beside the output as they come;
    after an interruption, the same command resumes.

    Example: isosne sweep wine.csv --id id --label target --scale standard --cell-size 4,12,40 -o
    sweep.csv
    """
    from isosne._files import completed_files, only_user
    from isosne.studies.parameter_sweep import sweep as run_sweep

    check_output(args.output, (".csv",), force=args.force)
    kept = args.output.with_name(f"{args.output.name}.jsonl")
    for path in (args.output, kept):
        check_distinct(args.pick("source"), {"output": path})
    check_output(kept, (), force=True)
    options = map_options(args)
    template = make_template(options, memory_limit=args.memory_limit)
    _, table = open_table(args.source, args.given(o.TABLE), args.memory_limit)
    if args.measure in CLASSES and table.labels is None:
        rule = f"be used together with {keyword('label')}"
        hint = f"Add {keyword('label')} COLUMN, or choose a measure that needs no labels."
        raise ParameterError("measure", rule, args.measure, hint)
    grid = _grid(options, table.rows.shape[0])
    # Refuses a table that is too large before it is read.
    template.set_params(kernel=options["kernel"]).plan(table.rows)

    def show(row: dict[str, Any]) -> None:
        parameters = " ".join(f"{name} {row[name]}" for name in grid)
        tell(f"{parameters}  {args.measure} {row[args.measure]:.4f}")

    how = {"labels": table.labels, "estimator": template, "measure": args.measure}
    how |= {"results": kept, "n_jobs": args.n_jobs, "callback": show}
    with only_user(kept):
        try:
            points = read_points(table, args.memory_limit)
            swept = run_sweep(points, options["kernel"], grid, **how)
            _write_csv(args.output, swept.rows, force=args.force)
        except KeyboardInterrupt:
            if args.output in completed_files():
                raise
            raise exit_interrupted(
                f"; the results so far are in {kept}. Run the same command again to resume."
            ) from None
        kept.unlink()
    if args.json:
        print_json({"output": str(args.output), "best": swept.best, "rows": swept.rows})
    else:
        parameters = ", ".join(f"{name} {swept.best[name]}" for name in grid)
        click.echo(f"{_as_table(swept.rows, grid)}\nbest by {args.measure}: {parameters}")


def _grid(options: dict[str, Any], n_rows: int) -> dict[str, list[Any]]:
    """Return the values of each given parameter, and of the main one in any case."""
    from isosne.kernels.registry import KERNELS, parse_numbers
    from isosne.studies.parameter_sweep import paper_grid

    given = kernel_parameters(options)
    main = KERNELS[options["kernel"]].main_parameter
    grid = {main: parse_numbers(main, given.pop(main)) if main in given else paper_grid(n_rows)}
    return grid | {name: [value] for name, value in given.items()}


def _as_table(rows: Sequence[dict[str, Any]], grid: dict[str, list[Any]]) -> str:
    """Return the parameters that vary and the measures as aligned columns."""
    from isosne.studies.parameter_sweep import aligned

    names = [name for name in grid if len(grid[name]) > 1] or list(grid)[:1]
    return aligned(rows, [*names, *(name for name in SHOWN if name in rows[0])])


def _write_csv(path: Path, rows: Sequence[dict[str, Any]], *, force: bool) -> None:
    from isosne._files import whole_file

    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with whole_file(path, force=force) as file:
        file.write(text.getvalue().encode())
