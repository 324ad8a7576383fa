"""`isosne report`: maps with two kernels, or existing maps, measured and explained on one page."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from isosne.cli import options as o
from isosne.cli.files import PAGES, check_distinct, check_one_stdin, check_output
from isosne.cli.maps import (
    describe_origin,
    note_origin,
    read_map_file,
    recorded_metric,
    titles_of,
)
from isosne.cli.messages import say, tell
from isosne.cli.models import Structure, find_structure, make_model
from isosne.cli.options import KERNEL, MapOptions, Resources, TableOptions, option
from isosne.cli.progress import Steps, make_progress
from isosne.cli.tables import (
    find_labels,
    find_rows,
    named,
    open_table,
    open_table_of,
    read_points,
)
from isosne.errors import DataError, ParameterError, keyword


def report(
    source: o.Source,
    output: Annotated[Path, o.output_option("Page to write (.html).")],
    identifier: o.Id = None,
    label: o.Label = None,
    scale: o.Scaling = None,
    columns: o.Columns = None,
    exclude: o.Exclude = None,
    text_columns: o.TextColumns = None,
    missing: o.Missing = None,
    mixed: o.Mixed = None,
    categorical: o.Categorical = None,
    key: o.Key = None,
    kernel: o.Kernel = None,
    psi: o.Psi = None,
    cell_size: o.CellSize = None,
    perplexity: o.Perplexity = None,
    metric: o.Metric = None,
    random_state: o.Seed = 0,
    n_iter: o.NIter = None,
    n_seeds: Annotated[
        int | None,
        option(
            "Number of maps per kernel, with consecutive seeds; measures are averaged over them.",
            default="5; 3 above 5,000 rows, 1 above 20,000",
            min=1,
            metavar="N",
        ),
    ] = None,
    map_file: Annotated[
        list[str] | None,
        option(
            "Map to compare instead of computing maps; repeat for several. Maps of any program, as "
            "for isosne measure.",
            "--map",
            metavar="MAP",
        ),
    ] = None,
    clusters: o.Clusters = None,
    outliers: o.Outliers = False,
    null: Annotated[
        int | None,
        option(
            "Test whether the structure is real, against this many draws of data with the same "
            "columns and correlations but no other structure; 19 suffice for the 5 % level.",
            panel=KERNEL,
            min=1,
            metavar="N",
        ),
    ] = None,
    title: Annotated[str | None, option("Title.", metavar="TEXT")] = None,
    n_jobs: o.NJobs = None,
    memory_limit: o.MemoryLimit = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Embed a table with two kernels, and compare the maps on a page.

    The kernels are the chosen one and gaussian (the default kernel if gaussian is chosen). Each is
    mapped with several seeds: the page says which map is better, or that they tie within the
    variation between seeds. It is interactive, explains the quality measures, and needs no network.
    With --map, existing maps are compared instead, and nothing is embedded.

    Example: isosne report wine.csv --id id --label target --scale standard -o report.html
    """
    check_distinct({"source": source}, {"output": output})
    check_output(output, PAGES, force=force)
    table_options = TableOptions(
        *(identifier, label, scale, columns, exclude, text_columns, missing, mixed),
        *(categorical, key),
    )
    options = MapOptions(kernel, psi, cell_size, perplexity, metric, random_state, n_iter)
    resources = Resources(n_jobs, memory_limit)
    page = {"title": title, "random_state": random_state, "force": force}
    extras = {"n_seeds": n_seeds, "clusters": clusters, "outliers": outliers or None, "null": null}
    if map_file:
        _check_unused(options, **extras)
        n_points = _compare(
            source, map_file, output, table_options, resources, options, page, quiet=quiet
        )
    else:
        n_points = _embed(source, output, table_options, options, resources, extras, page, quiet)
    result = {"output": str(output), "n_points": n_points}
    tell(result, f"Wrote {output}: {n_points:,} rows", quiet=quiet, as_json=json)


def _embed(
    source: str,
    output: Path,
    table_options: TableOptions,
    options: MapOptions,
    resources: Resources,
    extras: dict[str, Any],
    page: dict[str, Any],
    quiet: bool,
) -> int:
    """Write a page about maps with two kernels; return the number of rows."""
    from isosne.pages import write_report

    table = open_table(source, table_options, resources, quiet=quiet).table
    line = ["report", source, "-o", str(output)]
    for name, value in extras.items():
        if value is not None:
            flag = f"--{name.replace('_', '-')}"
            line += [flag] if value is True else [flag, str(value)]
    is_mixed = hasattr(table.rows, "frame")
    if is_mixed and extras["null"] is not None:
        rule = f"be left out with {keyword('mixed')}: the test draws numeric columns"
        raise ParameterError("null", rule, extras["null"], f"Leave out {keyword('null')}.")
    points = table.rows.frame if is_mixed else read_points(table, resources)
    model = make_model(options, resources)
    structure = _find(model, points, extras, quiet=quiet)
    columns = {} if table.ids is None else {table_options.id or "id": table.ids}
    progress = make_progress(quiet=quiet)
    if not quiet:
        names = _name_maps(options.kernel_name, extras["n_seeds"], table.rows.shape[0])
        _show_steps(model, names, Steps(progress, model))
    try:
        write_report(
            output,
            points,
            named(table.labels, table_options.label),
            columns=columns | structure.columns,
            model=model,
            origin=describe_origin(line, table, table_options, options),
            findings=structure.sentences,
            n_seeds=extras["n_seeds"],
            **page,
        )
    finally:
        progress.end()
    return int(table.rows.shape[0])


def _find(model: Any, points: Any, extras: dict[str, Any], *, quiet: bool) -> Structure:
    """Return the clusters, the outliers and the null test of the points, as chosen."""
    import numpy as np
    from scipy.sparse import csr_array

    from isosne import TableForest
    from isosne._random import as_generator
    from isosne.kernels.registry import as_kernel, for_table
    from isosne.structure import null_test

    seed, n_draws = model.random_state, extras["null"]
    kernel = as_kernel(model.kernel, points.shape[0], as_generator(seed))
    if not isinstance(points, np.ndarray | csr_array):  # a table with mixed columns
        points = TableForest(random_state=seed).fit_transform(points)
        kernel = for_table(kernel)
    asked = extras["clusters"], bool(extras["outliers"])
    structure = find_structure(points, kernel, points, *asked, seed)
    if n_draws is not None:
        if not quiet:
            say(f"Drawing null data {n_draws} time{'s' if n_draws > 1 else ''}")
        test = null_test(points, kernel, n_draws=n_draws, random_state=seed)
        structure.columns["null_p"] = test.point_p_values
        structure.sentences["null test"] = str(test)
    return structure


def _name_maps(kernel: str, n_seeds: int | None, n_rows: int) -> Iterator[str]:
    """Yield the name of each map, in the order in which they are computed."""
    from isosne.studies.judged_maps import other_kernel, resolve_n_seeds

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


def _check_unused(options: MapOptions, **others: Any) -> None:
    """Refuse options of maps to compute, if existing maps are compared."""
    plain = MapOptions(metric=options.metric, random_state=options.random_state)
    given = {k: v for k, v in vars(options).items() if v != getattr(plain, k)}
    for name, value in {**given, **others}.items():
        if value is not None:
            rule = f"be left out if {keyword('map_file')} is given, which embeds nothing"
            hint = f"Leave out {keyword(name)} or {keyword('map_file')}."
            raise ParameterError(name, rule, value, hint)


def _compare(
    source: str,
    maps: Sequence[str],
    output: Path,
    table_options: TableOptions,
    resources: Resources,
    options: MapOptions,
    page: dict[str, Any],
    *,
    quiet: bool,
) -> int:
    """Write a page that compares maps, the first with the others; return the number of points.

    The table is read as the first map records, unless options say otherwise.
    """
    from isosne.pages import write_comparison

    for path in maps:
        check_one_stdin(source=source, map_file=path)
    read = [read_map_file(path, "map_file", quiet=quiet) for path in maps]
    drawn = dict(zip(titles_of(maps), read, strict=True))
    first = read[0]
    if not quiet:
        note_origin(maps[0], first)
    table_options = table_options.completed(first.provenance, maps[0])
    table = open_table_of(first, source, table_options, resources, quiet=quiet, force=page["force"])
    chosen = find_rows(table, first)
    embeddings = {title: _in_order(table, each, first, title) for title, each in drawn.items()}
    if not quiet:
        say(f"Measuring {len(maps)} map{'s' if len(maps) > 1 else ''}")
    recorded = recorded_metric(first, table)
    words = [word for path in maps for word in ("--map", path)]
    line = ["report", source, *words, "-o", str(output)]
    write_comparison(
        output,
        read_points(table, resources, chosen),
        embeddings,
        named(find_labels(table, first, chosen), table_options.label),
        columns={"id": first.ids} if first.has_ids else None,
        **(recorded if options.metric is None else {"metric": options.metric}),
        origin=describe_origin(line, table, table_options),
        **page,
    )
    return len(first.embedding)


def _in_order(table: Any, drawn: Any, first: Any, title: str) -> Any:
    """Return the coordinates of a map in the order of the points of the first map."""
    import numpy as np

    every = np.arange(table.rows.shape[0])
    own, wanted = (
        every if rows is None else rows for rows in (find_rows(table, m) for m in (drawn, first))
    )
    order = np.argsort(own)
    if not np.array_equal(own[order], np.sort(wanted)):
        raise DataError(
            f"Maps that are compared must have the same points; {title} has {len(own):,} points, "
            f"which are not the {len(wanted):,} of the first map. Compare maps of the same rows."
        )
    return drawn.embedding[order[np.searchsorted(own[order], wanted)]]
