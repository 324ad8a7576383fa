"""`isosne report`: maps with two kernels, or existing maps, measured and explained on one page."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from isosne.cli.column_notes import note_columns
from isosne.cli.comparison import write_maps
from isosne.cli.map_files import refuse_map_as_table
from isosne.cli.map_options import EmbeddingOptions, KernelOptions
from isosne.cli.messages import say
from isosne.cli.models import make_model
from isosne.cli.options import (
    STRUCTURE,
    Force,
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
from isosne.cli.structure import StructureOptions, add_null_test, find_structure
from isosne.cli.tables import named, open_unscaled, read_points, scaled, suggesting_mixed
from isosne.errors import ParameterError, keyword


@suggesting_mixed()
def report(
    source: Source,
    output: Annotated[
        Path,
        option("Page to write (.html).", "--output", "-o", default=False, metavar="FILE"),
    ],
    table_options: TableOptions,
    kernel: KernelOptions,
    embedding: EmbeddingOptions,
    structure: StructureOptions,
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
    null: Annotated[
        int | None,
        option(
            "Test whether the structure is real, against this many draws of data with the same "
            "columns and correlations but no other structure; 19 suffice for the 5 % level.",
            panel=STRUCTURE,
            min=1,
            metavar="N",
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

    Example: isosne report wine.csv --label target -o report.html
    """
    check_distinct({"source": source}, {"output": output})
    check_output(output, (".html", ".htm"), force=force)
    if maps:
        _check_unused(kernel, embedding, structure, n_seeds=n_seeds, null=null)
        page: dict[str, Any] = {"title": title, "random_state": embedding.random_state}
        how = (table_options, resources, messages)
        page |= {"metric": kernel.metric, "force": force}
        n_points = write_maps(source, maps, output, *how, **page)
        _tell(output, n_points, messages)
        return
    from isosne.pages import write_report

    structure.check()
    refuse_map_as_table(source, table_options)
    unscaled = open_unscaled(source, table_options, resources, quiet=messages.quiet)
    table = scaled(unscaled, table_options)
    if not messages.quiet:
        note_columns(unscaled, table, table_options)
    line = ["report", source, "-o", str(output)]
    line += [] if n_seeds is None else ["--n-seeds", str(n_seeds)]
    line += [] if null is None else ["--null", str(null)]
    is_mixed = hasattr(table.rows, "frame")
    points = table.rows.frame if is_mixed else read_points(table, resources)
    model = make_model(kernel, embedding, resources)
    if is_mixed and null is not None:
        rule = f"be left out with {keyword('mixed')}: the test draws numeric columns"
        raise ParameterError("null", rule, null, f"Leave out {keyword('null')}.")
    found = _find(model, points, structure, null, messages)
    columns = {} if table.ids is None else {table_options.id or "id": table.ids}
    progress = make_progress(quiet=messages.quiet)
    if not messages.quiet:
        steps = Steps(progress, model, embedding.objective)
        _show_steps(model, _name_maps(kernel.kernel_name, n_seeds, table.rows.shape[0]), steps)
    try:
        write_report(
            output,
            points,
            named(table.labels, table_options.label),
            columns=columns | found.columns,
            model=model,
            title=title,
            origin=describe_origin(line, table, table_options, kernel, embedding, structure),
            findings=found.sentences,
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


def _find(
    model: Any, points: Any, structure: StructureOptions, null: int | None, messages: MessageOptions
) -> Any:
    """Return the clusters, the outliers and the null test of the points, as chosen."""
    import numpy as np
    from scipy.sparse import csr_array

    from isosne import TableForest
    from isosne._random import as_generator
    from isosne.kernels.registry import as_kernel, for_table

    seed = model.random_state
    kernel = as_kernel(model.kernel, points.shape[0], as_generator(seed))
    if not isinstance(points, np.ndarray | csr_array):  # a table with mixed columns
        points = TableForest(random_state=seed).fit_transform(points)
        kernel = for_table(kernel)
    found = find_structure(points, kernel, points, structure, seed)
    if null is not None:
        if not messages.quiet:
            say(f"Drawing null data {null} time{'s' if null > 1 else ''}")
        add_null_test(kernel, points, null, seed, found)
    return found


def _check_unused(*groups: Any, **others: Any) -> None:
    """Refuse options of maps to compute, if existing maps are compared."""
    for group in groups:
        plain = asdict(type(group)())
        others |= {name: v for name, v in asdict(group).items() if v != plain[name]}
    for name, value in others.items():
        if name not in ("metric", "random_state") and value is not None:
            rule = f"be left out if {keyword('maps')} is given, which embeds nothing"
            hint = f"Leave out {keyword(name)} or {keyword('maps')}."
            raise ParameterError(name, rule, value, hint)


def _name_maps(kernel: str, n_seeds: int | None, n_rows: int) -> Iterator[str]:
    """Yield the name of each map, in the order in which they are computed."""
    from isosne.studies.compared_models import other_kernel
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
