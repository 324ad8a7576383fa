"""`isosne report`: maps with either kernel, measured and explained, as one page."""

from pathlib import Path
from typing import Annotated, Any

import typer

from isosne.cli.models import make_model
from isosne.cli.naming import named
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
from isosne.cli.provenance import describe_origin
from isosne.cli.tables import note_spread, open_table, read_points
from isosne.cli.watching import Steps


def report(
    source: Source,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", show_default=False, help="The page, .html."),
    ],
    table_options: TableOptions,
    kernel: KernelOptions,
    drawing: MapOptions,
    resources: ResourceOptions,
    talk: TalkOptions,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    force: Force = False,
) -> None:
    """Map a table with both kernels and write what can be said of the maps as one page.

    The page opens in any browser, without a network: maps to explore, measures in plain words.

    Example: isosne report wine.csv --label cultivar --id bottle --scale minmax -o report.html
    """
    check_output(output, (".html", ".htm"), force=force)
    from isosne.pages import write_report

    table = open_table(source, table_options, resources, quiet=talk.quiet)
    if not talk.quiet:
        note_spread(table)
    line = ["report", source, "-o", str(output)]
    points = read_points(table, resources)
    model = make_model(kernel, drawing, resources)
    progress = make_progress(quiet=talk.quiet)
    if not talk.quiet:
        _show_phases(model, kernel.kernel, progress)
    try:
        write_report(
            output,
            points,
            named(table.labels, table_options.label),
            columns=None if table.ids is None else {table_options.id or "id": table.ids},
            model=model,
            title=title,
            origin=describe_origin(line, table, table_options, kernel, drawing),
            random_state=drawing.random_state,
            force=force,
        )
    finally:
        progress.end()
    if talk.json:
        print_json({"output": str(output), "n_points": table.rows.shape[0]})
    elif not talk.quiet:
        typer.echo(f"The report on {table.rows.shape[0]:,} rows is in {output}.", err=True)


def _show_phases(model: Any, kernel: str, progress: Progress) -> None:
    """Have a model show the steps of both maps, each by its kernel, and when it is measured."""
    steps = Steps(progress, model)
    kernels = iter((kernel, "isolation" if kernel == "gaussian" else "gaussian"))

    def see(state: Any) -> None:
        if state.iteration == 1:
            steps.begin(f"{next(kernels)} map, step")
        steps.show(state)
        if steps.is_last(state):
            progress.end()
            typer.echo("Measuring the map.", err=True)

    model.set_params(callback=see)
