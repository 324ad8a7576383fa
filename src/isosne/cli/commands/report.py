"""`isosne report`: maps with two kernels, measured and explained, on one page."""

from pathlib import Path
from typing import Annotated, Any

from isosne.cli.messages import say
from isosne.cli.models import make_model
from isosne.cli.options import (
    EmbeddingOptions,
    Force,
    KernelOptions,
    MessageOptions,
    ResourceOptions,
    Source,
    TableOptions,
    option,
)
from isosne.cli.outputs import check_output, print_json
from isosne.cli.paths import check_distinct
from isosne.cli.progress import Steps, make_progress
from isosne.cli.provenance import describe_origin
from isosne.cli.tables import named, note_spread, open_table, read_points


def report(
    source: Source,
    output: Annotated[
        Path,
        option("Page to write (.html).", "--output", "-o", default=False, metavar="FILE"),
    ],
    table_options: TableOptions,
    kernel: KernelOptions,
    embedding: EmbeddingOptions,
    resources: ResourceOptions,
    messages: MessageOptions,
    title: Annotated[
        str | None,
        option("Title of the page.", metavar="TEXT"),
    ] = None,
    force: Force = False,
) -> None:
    """Embed a table with two kernels, and compare the maps on a page.

    The kernels are the chosen one and gaussian (isolation if gaussian is chosen). The page is
    interactive, explains the quality measures, and needs no network.

    Example: isosne report wine.csv --label cultivar -o report.html
    """
    check_distinct({"source": source}, {"output": output})
    check_output(output, (".html", ".htm"), force=force)
    from isosne.pages import write_report

    table = open_table(source, table_options, resources, quiet=messages.quiet)
    if not messages.quiet:
        note_spread(table)
    line = ["report", source, "-o", str(output)]
    points = read_points(table, resources)
    model = make_model(kernel, embedding, resources)
    progress = make_progress(quiet=messages.quiet)
    if not messages.quiet:
        _show_steps(model, kernel.kernel, Steps(progress, model, embedding.objective))
    try:
        write_report(
            output,
            points,
            named(table.labels, table_options.label),
            columns=None if table.ids is None else {table_options.id or "id": table.ids},
            model=model,
            title=title,
            origin=describe_origin(line, table, table_options, kernel, embedding),
            random_state=embedding.random_state,
            force=force,
        )
    finally:
        progress.end()
    if messages.json:
        print_json({"output": str(output), "n_points": table.rows.shape[0]})
    elif not messages.quiet:
        say(f"Wrote {output}: {table.rows.shape[0]:,} rows")


def _show_steps(model: Any, kernel: str, steps: Steps) -> None:
    """Have a model show the steps of both maps, each with the name of its kernel."""
    kernels = iter((kernel, "isolation" if kernel == "gaussian" else "gaussian"))

    def see(state: Any) -> None:
        if state.iteration == 1:
            steps.begin(f"{next(kernels)} map, step")
        steps.show(state)
        if state.iteration == steps.n_iter:
            steps.progress.end()
            say("Measuring the map")

    model.set_params(callback=see)
