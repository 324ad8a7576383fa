"""`isosne report`: maps with two kernels, or existing maps, measured and explained on one page."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from isosne.cli.comparison import write_maps
from isosne.cli.map_options import EmbeddingOptions, KernelOptions
from isosne.cli.messages import say
from isosne.cli.models import make_model
from isosne.cli.options import Force, MessageOptions, ResourceOptions, Source, TableOptions, option
from isosne.cli.outputs import check_output, print_json
from isosne.cli.paths import check_distinct
from isosne.cli.progress import Steps, make_progress
from isosne.cli.provenance import describe_origin
from isosne.cli.tables import named, note_spread, open_table, read_points
from isosne.errors import ParameterError, keyword


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
    n_seeds: Annotated[
        int | None,
        option(
            "Number of maps per kernel, with consecutive seeds; measures are averaged over them.",
            default="5; 3 above 5,000 rows, 1 above 20,000",
            min=1,
            metavar="N",
        ),
    ] = None,
    maps: Annotated[
        list[str] | None,
        option(
            "Map to compare instead of computing maps; repeat for several. Maps of any program, as "
            "for isosne measure.",
            "--map",
            metavar="MAP",
        ),
    ] = None,
    title: Annotated[
        str | None,
        option("Title of the page.", metavar="TEXT"),
    ] = None,
    force: Force = False,
) -> None:
    """Embed a table with two kernels, and compare the maps on a page.

    The kernels are the chosen one and gaussian (the default kernel if gaussian is chosen). Each is
    mapped with several seeds: the page says which map is better, or that they tie within the
    variation between seeds. It is interactive, explains the quality measures, and needs no network.
    With --map, existing maps are compared instead, and nothing is embedded.

    Example: isosne report wine.csv --label cultivar -o report.html
    """
    check_distinct({"source": source}, {"output": output})
    check_output(output, (".html", ".htm"), force=force)
    if maps:
        _check_unused(kernel, embedding, n_seeds)
        page: dict[str, Any] = {"title": title, "random_state": embedding.random_state}
        how = (table_options, resources, messages)
        page |= {"metric": kernel.metric, "force": force}
        n_points = write_maps(source, maps, output, *how, **page)
        _tell(output, n_points, messages)
        return
    from isosne.pages import write_report

    table = open_table(source, table_options, resources, quiet=messages.quiet)
    if not messages.quiet:
        note_spread(table)
    line = ["report", source, "-o", str(output)]
    line += [] if n_seeds is None else ["--n-seeds", str(n_seeds)]
    points = read_points(table, resources)
    model = make_model(kernel, embedding, resources)
    progress = make_progress(quiet=messages.quiet)
    if not messages.quiet:
        steps = Steps(progress, model, embedding.objective)
        _show_steps(model, _name_maps(kernel.kernel_name, n_seeds, table.rows.shape[0]), steps)
    try:
        write_report(
            output,
            points,
            named(table.labels, table_options.label),
            columns=None if table.ids is None else {table_options.id or "id": table.ids},
            model=model,
            title=title,
            origin=describe_origin(line, table, table_options, kernel, embedding),
            n_seeds=n_seeds,
            random_state=embedding.random_state,
            force=force,
        )
    finally:
        progress.end()
    _tell(output, table.rows.shape[0], messages)


def _tell(output: Path, n_points: int, messages: MessageOptions) -> None:
    if messages.json:
        print_json({"output": str(output), "n_points": n_points})
    elif not messages.quiet:
        say(f"Wrote {output}: {n_points:,} rows")


def _check_unused(kernel: KernelOptions, embedding: EmbeddingOptions, n_seeds: int | None) -> None:
    """Refuse options of maps to compute, if existing maps are compared."""
    given = {**asdict(kernel), **asdict(embedding), "n_seeds": n_seeds}
    plain = {**asdict(KernelOptions()), **asdict(EmbeddingOptions()), "n_seeds": None}
    for name, value in given.items():
        if name not in ("metric", "random_state") and value != plain[name]:
            rule = f"be left out if {keyword('maps')} is given, which embeds nothing"
            hint = f"Leave out {keyword(name)} or {keyword('maps')}."
            raise ParameterError(name, rule, value, hint)


def _name_maps(kernel: str, n_seeds: int | None, n_rows: int) -> Iterator[str]:
    """Yield the name of each map, in the order in which they are computed."""
    from isosne.studies.judged_maps import other_kernel
    from isosne.studies.seeds import resolve_n_seeds

    n_maps = resolve_n_seeds(n_seeds, n_rows)
    for name in (kernel, other_kernel(kernel)):
        for number in range(1, n_maps + 1):
            yield f"{name} map {number} of {n_maps}" if n_maps > 1 else f"{name} map"


def _show_steps(model: Any, names: Iterator[str], steps: Steps) -> None:
    """Have a model show the steps of all maps, each with its name."""

    def see(state: Any) -> None:
        if state.iteration == 1:
            steps.begin(f"{next(names)}, step")
        steps.show(state)
        if state.iteration == steps.n_iter:
            steps.progress.end()
            say("Measuring the map")

    model.set_params(callback=see)
